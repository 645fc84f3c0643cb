/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "io/io.h"
#include "message.h"
#include "options_check.h"
#include "options_set.h"

static const struct option long_options[] = {
    {"template", required_argument, NULL, 't'},
    {"recursive", no_argument, NULL, 'r'},
    {"files-from", required_argument, NULL, OPT_FILES_FROM},
    {"null", no_argument, NULL, '0'},
    {"in-flight", required_argument, NULL, OPT_IN_FLIGHT},
    {"output", required_argument, NULL, 'o'},
    {"watch", required_argument, NULL, OPT_WATCH},
    {"report", required_argument, NULL, OPT_REPORT},
    {"resume", required_argument, NULL, OPT_RESUME},
    {"crops", required_argument, NULL, OPT_CROPS},
    {"map", required_argument, NULL, OPT_MAP},
    {"heatmap", required_argument, NULL, OPT_HEATMAP},
    {"domain", required_argument, NULL, OPT_DOMAIN},
    {"metric", required_argument, NULL, OPT_METRIC},
    {"device", required_argument, NULL, OPT_DEVICE},
    {"threads", required_argument, NULL, OPT_THREADS},
    {"cpu-features", required_argument, NULL, OPT_CPU_FEATURES},
    {"algorithm", required_argument, NULL, OPT_ALGORITHM},
    {"number", required_argument, NULL, 'n'},
    {"min-score", required_argument, NULL, OPT_MIN_SCORE},
    {"overlap", required_argument, NULL, OPT_OVERLAP},
    {"subpixel", no_argument, NULL, OPT_SUBPIXEL},
    {"roi", required_argument, NULL, OPT_ROI},
    {"format", required_argument, NULL, OPT_FORMAT},
    {"list-devices", no_argument, NULL, OPT_LIST_DEVICES},
    {"bench", no_argument, NULL, OPT_BENCH},
    {"verify", no_argument, NULL, OPT_VERIFY},
    {"time", no_argument, NULL, OPT_TIME},
    {"dump-template", required_argument, NULL, OPT_DUMP_TEMPLATE},
    {"max-pixels", required_argument, NULL, OPT_MAX_PIXELS},
    {"max-memory", required_argument, NULL, OPT_MAX_MEMORY},
    {"max-gpu-memory", required_argument, NULL, OPT_MAX_GPU_MEMORY},
    {"color", no_argument, NULL, OPT_COLOR},
    {"depth", required_argument, NULL, OPT_DEPTH},
    {"mask", required_argument, NULL, OPT_MASK},
    {"frame-mask", required_argument, NULL, OPT_FRAME_MASK},
    {"verbose", no_argument, NULL, 'v'},
    {"quiet", no_argument, NULL, 'q'},
    {"help", no_argument, NULL, 'h'},
    {"version", no_argument, NULL, OPT_VERSION},
    {NULL, 0, NULL, 0},
};

/* getopt_long takes unique abbreviations of long options, which stop being
 * unique when options are added; scripts are to be spared that. */
static bool spelt_out(const char *name, const char *given)
{
    return strcspn(given, "=") == 2 + strlen(name);
}

/* The element of argv that getopt_long took last, without its argument. */
static const char *given_option(char **argv)
{
    const char *given = argv[optind - 1];
    return given == optarg ? argv[optind - 2] : given;
}

static const char *long_name(int value)
{
    for (const struct option *option = long_options; option->name; option++)
        if (option->val == value)
            return option->name;
    return NULL;
}

static bool refuse_option(int problem, char **argv)
{
    const char *name = long_name(optopt);
    if (problem == ':' && name)
        message_usage("--%s needs an argument", name);
    else if (name)
        message_usage("--%s takes no argument", name);
    else if (optopt)
        message_usage("unknown option '-%c'", optopt);
    else
        message_usage("unknown option '%s'", argv[optind - 1]);
    return false;
}

/* "-[4x4+0+0]", a crop of standard input, is an operand, though getopt sees an
 * option "[" with an argument. */
static bool is_cropped_input(int option, char **argv)
{
    return option == '[' && optarg == argv[optind - 1] + 2;
}

/* Options that say where, how fast and how to tell, not what. An unknown one counts:
 * then frames are matched once more, instead of not at all. */
static bool changes_results(int option)
{
    static const int others[] = {
        't', 'r', '0', 'v', 'q', OPT_FILES_FROM, OPT_WATCH, OPT_RESUME, OPT_REPORT, OPT_IN_FLIGHT, OPT_DEVICE, OPT_THREADS,
        OPT_CPU_FEATURES, OPT_ALGORITHM, OPT_FORMAT, OPT_VERIFY, OPT_TIME, OPT_DUMP_TEMPLATE,
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (option == others[i])
            return false;
    return true;
}

/* A sum, so that the order of the options does not count; of one that is given twice the
 * last is meant. */
static void add_to_fingerprint(cli_options *o, uint64_t *given, int option)
{
    const char *name = option > UCHAR_MAX ? long_name(option) : (char[]){(char)option, '\0'};
    uint64_t hash = hash_bytes(0, name, strlen(name));
    if (optarg)
        hash = hash_bytes(hash, optarg, strlen(optarg));
    if (changes_results(option)) {
        o->fingerprint += hash - given[option];
        given[option] = hash;
    }
}

static bool take_option(cli_options *o, uint64_t *given, int option, int index, char **argv)
{
    if (option == OPERAND || is_cropped_input(option, argv)) {
        o->frames[o->frame_count++] = option == OPERAND ? optarg : argv[optind - 1];
        return true;
    }
    if (option == '[') {
        message_usage("unknown option '-['");
        return false;
    }
    if (option == '?' || option == ':')
        return refuse_option(option, argv);
    if (index >= 0 && !spelt_out(long_options[index].name, given_option(argv))) {
        message_usage("unknown option '%s'; --%s cannot be abbreviated", given_option(argv),
                      long_options[index].name);
        return false;
    }
    add_to_fingerprint(o, given, option);
    if (optarg)
        return cli_options_set(o, option, optarg);
    cli_options_set_flag(o, option);
    return true;
}

static bool parse_options(cli_options *o, int argc, char **argv, const char **score)
{
    uint64_t given[OPT_LAST + 1] = {0}; /* hashes, by option */

    opterr = 0;
    for (;;) {
        int index = -1;
        const int option = getopt_long(argc, argv, "-:t:o:n:r0vqh[:", long_options, &index);
        if (option == -1)
            break;
        if (!take_option(o, given, option, index, argv))
            return false;
        if (option == OPT_MIN_SCORE)
            *score = optarg;
        /* These do not look at the rest of the line. */
        if (o->action == CLI_HELP || o->action == CLI_VERSION)
            return true;
    }
    for (; optind < argc; optind++) /* after "--" */
        o->frames[o->frame_count++] = argv[optind];
    return true;
}

bool cli_options_parse(cli_options *o, int argc, char **argv)
{
    const char *score = NULL;

    *o = (cli_options){.max_pixels = IO_DEFAULT_MAX_PIXELS, .most_matches = 1, .overlap = 0.3};
    tm_settings_default(&o->settings, sizeof o->settings);
    o->frames = calloc((size_t)argc + 1, sizeof *o->frames);
    o->templates = calloc((size_t)argc + 1, sizeof *o->templates);
    if (!o->frames || !o->templates) {
        message(NULL, "out of memory");
        return false;
    }
    if (!parse_options(o, argc, argv, &score))
        return false;
    if (o->action != CLI_MATCH)
        return true;
    return cli_options_check(o, score);
}

void cli_options_free(cli_options *o)
{
    free(o->frames);
    free(o->templates);
    o->frames = o->templates = NULL;
}
