/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "io/io.h"
#include "message.h"
#include "options_check.h"
#include "parse.h"

enum {
    OPERAND = 1, /* getopt_long's own code, in the mode that keeps the order */
    OPT_MAP = UCHAR_MAX + 1,
    OPT_HEATMAP,
    OPT_DOMAIN,
    OPT_METRIC,
    OPT_DEVICE,
    OPT_THREADS,
    OPT_CPU_FEATURES,
    OPT_ALGORITHM,
    OPT_MIN_SCORE,
    OPT_OVERLAP,
    OPT_SUBPIXEL,
    OPT_ROI,
    OPT_FORMAT,
    OPT_LIST_DEVICES,
    OPT_BENCH,
    OPT_VERIFY,
    OPT_TIME,
    OPT_DUMP_TEMPLATE,
    OPT_MAX_PIXELS,
    OPT_MAX_MEMORY,
    OPT_MAX_GPU_MEMORY,
    OPT_COLOR,
    OPT_DEPTH,
    OPT_MASK,
    OPT_FRAME_MASK,
    OPT_FILES_FROM,
    OPT_IN_FLIGHT,
    OPT_CROPS,
    OPT_RESUME,
    OPT_WATCH,
    OPT_REPORT,
    OPT_VERSION
};

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

/* More than any machine has; a typing error must not start a million. */
enum { MAX_THREADS = 4096, MAX_IN_FLIGHT = 65536 };

/* The library takes them as a mask. */
enum { MAX_DEVICE = 63 };

static const choice domains[] = {
    {"valid", TM_DOMAIN_VALID}, {"same", TM_DOMAIN_SAME}, {"full", TM_DOMAIN_FULL}, {NULL, 0}};
static const choice metrics[] = {
    {"lcc", TM_METRIC_LCC},
    {"ccorr", TM_METRIC_CCORR},
    {"ccorr_normed", TM_METRIC_CCORR_NORMED},
    {"ccoeff", TM_METRIC_CCOEFF},
    {"sqdiff", TM_METRIC_SQDIFF},
    {"sqdiff_normed", TM_METRIC_SQDIFF_NORMED},
    {NULL, 0}};
static const choice algorithms[] = {{"auto", TM_ALGORITHM_AUTO},
                                    {"reference", TM_ALGORITHM_REFERENCE},
                                    {"direct", TM_ALGORITHM_DIRECT},
                                    {"fft", TM_ALGORITHM_FFT},
                                    {NULL, 0}};
static const choice depths[] = {{"auto", 0}, {"8", 8}, {"16", 16}, {"float", 32}, {NULL, 0}};
static const choice formats[] = {
    {"text", CLI_TEXT}, {"json", CLI_JSON}, {"csv", CLI_CSV}, {NULL, 0}};
static const choice devices[] = {{"auto", TM_DEVICE_AUTO},
                                 {"cpu", TM_DEVICE_CPU},
                                 {"cuda", TM_DEVICE_CUDA},
                                 {"cuda:N,M", TM_DEVICE_CUDA}, /* for the error only */
                                 {NULL, 0}};

/* "0,2" */
static bool parse_device_list(const char *text, uint64_t *mask)
{
    char number[16];
    int64_t index;

    for (*mask = 0;; text++) {
        const size_t length = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)length, text);
        if (!parse_integer("--device cuda:N", number, 0, MAX_DEVICE, &index))
            return false;
        *mask |= UINT64_C(1) << index;
        text += length;
        if (!*text)
            return true;
    }
}

static bool parse_device(const char *text, tm_settings *settings)
{
    int kind = TM_DEVICE_CUDA;
    settings->device_mask = 0;
    if (strncmp(text, "cuda:", 5) == 0) {
        if (!parse_device_list(text + 5, &settings->device_mask))
            return false;
    } else if (!parse_choice("--device", text, devices, &kind)) {
        return false;
    } else if (kind == TM_DEVICE_CUDA) {
        settings->device_mask = TM_ALL_DEVICES;
    }
    settings->device = (tm_device_kind)kind;
    return true;
}

static bool parse_overlap(const char *text, double *overlap)
{
    if (!parse_number("--overlap", text, overlap))
        return false;
    if (*overlap >= 0 && *overlap <= 1)
        return true;
    message_usage("--overlap: '%s' is not from 0 to 1", text);
    return false;
}

static bool parse_roi(const char *text, cli_options *o)
{
    io_crop *roi = &o->roi;
    int length = 0;
    o->has_roi = true;
    if (sscanf(text, "%" SCNd64 ",%" SCNd64 ",%" SCNd64 ",%" SCNd64 "%n", &roi->x, &roi->y,
               &roi->width, &roi->height, &length) == 4 &&
        !text[length] && roi->x >= 0 && roi->y >= 0 && roi->width > 0 && roi->height > 0)
        return true;
    message_usage("--roi: '%s' is not X,Y,WIDTH,HEIGHT", text);
    return false;
}

static bool parse_cpu_features(const char *text, tm_settings *settings)
{
    char names[128] = "none, all";

    if (tm_cpu_features_parse(text, &settings->cpu_features) == TM_OK)
        return true;
    for (uint32_t bit = 1; bit && tm_cpu_feature_name(bit); bit <<= 1) {
        const size_t used = strlen(names);
        snprintf(names + used, sizeof names - used, ", %s", tm_cpu_feature_name(bit));
    }
    message_usage("--cpu-features: '%s' is not a list of %s", text, names);
    return false;
}

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

static bool set_choice(cli_options *o, int option, const char *text)
{
    int value = 0;
    bool good = false;
    switch (option) {
    case OPT_DOMAIN:
        good = parse_choice("--domain", text, domains, &value);
        o->settings.domain = (tm_domain)value;
        break;
    case OPT_METRIC:
        good = parse_choice("--metric", text, metrics, &value);
        o->settings.metric = (tm_metric)value;
        break;
    case OPT_ALGORITHM:
        good = parse_choice("--algorithm", text, algorithms, &value);
        o->settings.algorithm = (tm_algorithm)value;
        break;
    case OPT_DEPTH:
        good = parse_choice("--depth", text, depths, &value);
        o->depth = value;
        break;
    case OPT_FORMAT:
        good = parse_choice("--format", text, formats, &value);
        o->format = (cli_format)value;
        break;
    }
    return good;
}

static bool set_value(cli_options *o, int option, const char *text)
{
    int64_t threads;
    switch (option) {
    case 't': o->templates[o->template_count++] = text; return true;
    case 'o': o->output = text; return true;
    case OPT_REPORT: o->report = text; return true;
    case OPT_WATCH: o->watch = text; return true;
    case OPT_RESUME: o->resume = text; return true;
    case OPT_CROPS: o->crops = text; return true;
    case OPT_MAP: o->map = text; return true;
    case OPT_HEATMAP: o->heatmap = text; return true;
    case OPT_MASK: o->mask = text; return true;
    case OPT_FRAME_MASK: o->frame_mask = text; return true;
    case OPT_DUMP_TEMPLATE: o->dump_template = text; return true;
    case OPT_FILES_FROM: o->files_from = text; return true;
    case OPT_IN_FLIGHT: return parse_integer("--in-flight", text, 1, MAX_IN_FLIGHT, &o->in_flight);
    case OPT_DEVICE: return parse_device(text, &o->settings);
    case OPT_CPU_FEATURES: return parse_cpu_features(text, &o->settings);
    case OPT_MAX_MEMORY: return parse_bytes("--max-memory", text, &o->max_memory);
    case OPT_MAX_GPU_MEMORY:
        return parse_bytes("--max-gpu-memory", text, &o->settings.device_memory);
    case OPT_MAX_PIXELS: return parse_integer("--max-pixels", text, 1, INT64_MAX, &o->max_pixels);
    case 'n': return parse_integer("-n", text, 0, INT64_MAX, &o->most_matches);
    case OPT_OVERLAP: return parse_overlap(text, &o->overlap);
    case OPT_ROI: return parse_roi(text, o);
    case OPT_MIN_SCORE:
        o->has_min_score = true;
        return parse_number("--min-score", text, &o->min_score);
    case OPT_THREADS:
        if (!parse_integer("--threads", text, 0, MAX_THREADS, &threads))
            return false;
        o->settings.threads = (int)threads;
        return true;
    default: return set_choice(o, option, text);
    }
}

static void set_flag(cli_options *o, int option)
{
    switch (option) {
    case OPT_LIST_DEVICES: o->action = CLI_LIST_DEVICES; break;
    case OPT_BENCH: o->action = CLI_BENCH; break;
    case OPT_VERSION: o->action = CLI_VERSION; break;
    case 'h': o->action = CLI_HELP; break;
    case OPT_SUBPIXEL: o->subpixel = true; break;
    case OPT_COLOR: o->color = true; break;
    case OPT_VERIFY: o->verify = true; break;
    case OPT_TIME: o->time = true; break;
    case 'r': o->recursive = true; break;
    case '0': o->null_names = true; break;
    case 'v': o->verbose = true; o->quiet = false; break;
    case 'q': o->quiet = true; o->verbose = false; break;
    }
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

/* A sum, so that the order of the options does not count. */
static void add_to_fingerprint(cli_options *o, int option)
{
    const char *name = option > UCHAR_MAX ? long_name(option) : (char[]){(char)option, '\0'};
    uint64_t hash = hash_bytes(0, name, strlen(name));
    if (optarg)
        hash = hash_bytes(hash, optarg, strlen(optarg));
    if (changes_results(option))
        o->fingerprint += hash;
}

static bool take_option(cli_options *o, int option, int index, char **argv)
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
    add_to_fingerprint(o, option);
    if (optarg)
        return set_value(o, option, optarg);
    set_flag(o, option);
    return true;
}

static bool parse_options(cli_options *o, int argc, char **argv, const char **score)
{
    opterr = 0;
    for (;;) {
        int index = -1;
        const int option = getopt_long(argc, argv, "-:t:o:n:r0vqh[:", long_options, &index);
        if (option == -1)
            break;
        if (!take_option(o, option, index, argv))
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
