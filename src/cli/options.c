/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ending.h"
#include "hash.h"
#include "io/io.h"
#include "message.h"
#include "options_intervals.h"
#include "options_poses.h"
#include "options_set.h"
#include "suggest.h"

/* What getopt_long returns for an operand in the mode that keeps the order. */
enum { OPERAND = 1 };

/* Room for a suggestion, which names a few options. */
enum { HINT_SIZE = 256 };

/* The code of a long option is its row's index plus this, so that none is a letter. */
enum { FIRST_CODE = UCHAR_MAX + 1 };

typedef struct parser {
    cli_options *o;
    char **argv;
    struct option names[OPTION_COUNT + 1];
    char letters[2 * OPTION_COUNT + 8];
    uint64_t hashes[OPTION_COUNT]; /* what each option given has added to the fingerprint */
    bool given[OPTION_COUNT];
    const char *min_score;         /* as it was given */
} parser;

/* Tells getopt_long the options. The leading "-" keeps the order, and ":" makes it distinguish a
 * missing argument from an unknown option. */
static void describe_options(parser *p)
{
    char *letter = stpcpy(p->letters, "-:[:");
    for (int i = 0; i < OPTION_COUNT; i++) {
        const option_row *row = &option_table[i];
        const bool takes = row->takes != TAKES_NOTHING;
        p->names[i] = (struct option){row->name, takes ? required_argument : no_argument, NULL,
                                      FIRST_CODE + i};
        if (row->letter)
            *letter++ = row->letter;
        if (row->letter && takes)
            *letter++ = ':';
    }
    *letter = '\0';
}

/* The row that a code of getopt_long is for, or NULL. */
static const option_row *find_row(int code)
{
    if (code >= FIRST_CODE)
        return &option_table[code - FIRST_CODE];
    for (int i = 0; i < OPTION_COUNT; i++)
        if (code && option_table[i].letter == code)
            return &option_table[i];
    return NULL;
}

/* Whether given is the option's name after the dashes. */
static bool is_spelt_out(const option_row *row, const char *given)
{
    return strcspn(given, "=") == strlen(row->name) &&
           strncmp(given, row->name, strlen(row->name)) == 0;
}

/* Whether a long name was given with one dash: "-output" must not be read as "-o utput". */
static bool is_long_name(const char *given)
{
    for (int i = 0; i < OPTION_COUNT; i++)
        if (given[0] == '-' && is_spelt_out(&option_table[i], given + 1))
            return true;
    return false;
}

/* Says how a file is named that looks like an option, if there is one. */
static bool refuse_file(const char *given)
{
    if (access(given, F_OK) != 0)
        return false;
    message_usage("unknown option '%s'; the file is './%s'", given, given);
    return true;
}

static bool refuse_unknown(const char *given)
{
    char hint[HINT_SIZE];
    if (refuse_file(given))
        return false;
    suggest_option(given, hint, sizeof hint);
    message_usage("unknown option '%.*s'%s", (int)strcspn(given, "="), given, hint);
    return false;
}

static bool refuse_letter(int letter, const char *given)
{
    char hint[HINT_SIZE];
    if (refuse_file(given))
        return false;
    suggest_letter(letter, hint, sizeof hint);
    message_usage("unknown option '-%c'%s", letter, hint);
    return false;
}

static bool refuse_argument(const option_row *row, bool missing)
{
    message_usage(missing ? "--%s needs an argument" : "--%s takes no argument", row->name);
    return false;
}

/* The fingerprint is a sum, so that the order of the options does not count. Of an option that is
 * given twice only the last counts. */
static void add_to_fingerprint(parser *p, const option_row *row)
{
    uint64_t hash = hash_bytes(0, row->name, strlen(row->name));
    if (optarg)
        hash = hash_bytes(hash, optarg, strlen(optarg));
    p->o->fingerprint += hash - p->hashes[row - option_table];
    p->hashes[row - option_table] = hash;
}

/* given is the element of argv that the code was made from. */
static bool take_option(parser *p, int code, const char *given)
{
    /* "-[4x4+0+0]", a crop of standard input, is an operand, though getopt_long sees an option
     * "[" with an argument. */
    const bool cropped_input = code == '[' && optarg == given + 2;
    if (code == OPERAND || cropped_input) {
        p->o->frames[p->o->frame_count++] = given;
        return true;
    }
    if (is_long_name(given))
        return refuse_unknown(given);
    const bool failed = code == '?' || code == ':';
    const option_row *row = find_row(failed ? optopt : code);
    if (!row && (failed ? optopt : code))
        return refuse_letter(failed ? optopt : code, given);
    /* getopt_long takes unique abbreviations. They are refused, as they would stop being unique
     * when options are added, and scripts would break. */
    if (!row || (given[1] == '-' && !is_spelt_out(row, given + 2)))
        return refuse_unknown(given);
    if (failed)
        return refuse_argument(row, code == ':');
    const cli_option option = (cli_option)(row - option_table);
    if (!row->same_results || (option == OPT_SEARCH && strcmp(optarg, "pyramid") == 0))
        add_to_fingerprint(p, row);
    p->given[option] = true;
    if (option == OPT_MIN_SCORE)
        p->min_score = optarg;
    return cli_options_set(p->o, option, optarg);
}

static bool parse_options(parser *p, int argc)
{
    cli_options *o = p->o;

    describe_options(p);
    opterr = 0;
    for (;;) {
        /* The element that the call looks at; within "-vx" optind stays at it. */
        const char *given = p->argv[optind];
        const int code = getopt_long(argc, p->argv, p->letters, p->names, NULL);
        if (code == -1)
            break;
        if (!take_option(p, code, given))
            return false;
        /* These do not look at the rest of the line. */
        if (o->action == CLI_HELP || o->action == CLI_VERSION)
            return true;
    }
    for (; optind < argc; optind++) /* after "--" */
        o->frames[o->frame_count++] = p->argv[optind];
    return true;
}

static bool check_times(const cli_options *o)
{
    if (!o->movie.has_from || !o->movie.has_to || o->movie.from < o->movie.to)
        return true;
    message_usage("--from is not before --to");
    return false;
}

static bool check_heatmap(const cli_options *o)
{
    if (!o->heatmap_overlay || o->heatmap)
        return true;
    message_usage("--heatmap-style overlay, but no --heatmap FILE.png");
    return false;
}

static bool check_endings(const cli_options *o)
{
    const char *const files[] = {o->output, o->map, o->heatmap, o->report};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        if (files[i] && strcmp(files[i], "-") == 0) {
            message_usage("- is no file's name, and pictures, maps and reports are not written to standard output");
            return false;
        }
    }
    if (o->map && !has_ending(o->map, ".npy")) {
        message(o->map, "a score map is written as .npy");
        return false;
    }
    if (o->report && !has_ending(o->report, ".html")) {
        message(o->report, "a report is written as .html");
        return false;
    }
    if (o->dump_template && !has_ending(o->dump_template, ".txt") &&
        !has_ending(o->dump_template, ".png")) {
        message(o->dump_template, "a template is dumped as .png or .txt");
        return false;
    }
    return true;
}

/* A score that was printed must reach itself as --min-score: so it is read as a float, too. */
static bool check_score(cli_options *o, const char *text)
{
    if (o->only_matches && !o->has_min_score && (o->most_matches || o->settings.metric != TM_METRIC_LCC)) {
        message_usage("--only-matches needs a threshold: --min-score%s", o->most_matches ? ", or -n 0" : "");
        return false;
    }
    if (!o->has_min_score || tm_metric_is_integer(o->settings.metric))
        return true;
    if (o->settings.metric == TM_METRIC_LCC && (o->min_score < -1 || o->min_score > 1)) {
        message_usage("--min-score: '%s' is not from -1 to 1, as an lcc score is", text);
        return false;
    }
    o->min_score = strtof(text, NULL);
    return true;
}

/* All operands were taken as frames; without -t the second is the template. */
static bool check_operands(cli_options *o)
{
    const bool listed = o->files_from || o->watch;

    if (o->template_count == 0 && o->frame_count == 2 && !listed)
        o->templates[o->template_count++] = o->frames[--o->frame_count];
    if ((o->frame_count > 0 || listed) && o->template_count > 0)
        return true;
    if (o->template_count > 0)
        message_usage("no frame given");
    else if (o->frame_count == 0 && !listed)
        message_usage("no frame and no template given");
    else if (o->frame_count == 1 || listed)
        message_usage("no template given");
    else
        message_usage("%d operands given, not FRAME TEMPLATE; name templates with -t",
                      o->frame_count);
    return false;
}

/* The library says so too, but only when a device is opened. */
static bool check_device(cli_options *o)
{
    tm_settings *s = &o->settings;
    if (s->device == TM_DEVICE_CUDA && s->algorithm == TM_ALGORITHM_REFERENCE) {
        message(NULL, "the reference algorithm runs on the CPU only");
        return false;
    }
    if ((s->strategy == TM_STRATEGY_CERTIFIED || s->strategy == TM_STRATEGY_PYRAMID) &&
        s->algorithm != TM_ALGORITHM_AUTO && s->algorithm != TM_ALGORITHM_DIRECT) {
        message(NULL, "%s search is of the direct algorithm",
                s->strategy == TM_STRATEGY_CERTIFIED ? "certified" : "pyramid");
        return false;
    }
    if (s->strategy == TM_STRATEGY_PYRAMID && s->device == TM_DEVICE_CUDA) {
        message(NULL, "pyramid search runs on the CPU only");
        return false;
    }
    if (s->algorithm != TM_ALGORITHM_CUFFT)
        return true;
    if (s->device == TM_DEVICE_CPU) {
        message(NULL, "the cufft algorithm runs on CUDA devices only");
        return false;
    }
    s->device = TM_DEVICE_CUDA;
    return true;
}

/* The shards' logs say what was matched and how. */
static bool check_merge(const parser *p)
{
    static const bool allowed[OPTION_COUNT] = {[OPT_MERGE] = true, [OPT_FORMAT] = true, [OPT_REPORT] = true,
                                               [OPT_RESUME] = true, [OPT_INTERVALS] = true, [OPT_GAP] = true,
                                               [OPT_CHAPTERS] = true, [OPT_EDL] = true,
                                               [OPT_THREADS] = true, [OPT_VERBOSE] = true,
                                               [OPT_QUIET] = true};
    for (int i = 0; i < OPTION_COUNT; i++)
        if (p->given[i] && !allowed[i]) {
            message_usage("--merge takes the settings from the logs, and no --%s", option_table[i].name);
            return false;
        }
    if (p->o->frame_count > 0)
        return check_endings(p->o);
    message_usage("--merge: no log given");
    return false;
}

static bool check_shard(const cli_options *o)
{
    const char *fault = !o->shards  ? NULL
                        : o->watch  ? "--shard shares out a list of frames, which --watch does not have"
                        : o->verify ? "--shard cannot be combined with --verify, whose outcome no log has"
                                    : NULL;
    if (fault)
        message_usage("%s", fault);
    return !fault;
}

/* These need the whole frame, or say themselves which part of it, or of all frames, is matched. */
static bool check_rows(cli_options *o)
{
    const char *other = !o->has_rows    ? NULL
                        : o->shards     ? "--shard"
                        : o->watch      ? "--watch"
                        : o->has_roi    ? "--roi"
                        : o->posed      ? "--angle and --scale"
                        : o->only_matches ? "--only-matches"
                        : o->depth == 32 ? "--depth float"
                        : o->output     ? "--output"
                        : o->crops      ? "--crops"
                        : o->report     ? "--report"
                        : o->map        ? "--map"
                        : o->heatmap    ? "--heatmap"
                        : o->verify     ? "--verify"
                                        : NULL;
    if (other)
        message_usage("--rows cannot be combined with %s", other);
    if (o->has_rows && o->resume) /* --merge has to know the list of frames, all of which this run takes */
        o->shard = o->shards = 1;
    return !other;
}

static bool check_watch(const cli_options *o)
{
    if (!o->watch || !o->recursive || o->frame_count > 0)
        return true;
    message_usage("--recursive is for folders that are frames: --watch does not look into its folder's subfolders");
    return false;
}

/* What can be judged only when all options are known. score is the argument of --min-score as it was
 * given. */
static bool check(cli_options *o, const char *score)
{
    return check_device(o) && check_operands(o) && check_score(o, score) && check_endings(o) &&
           check_heatmap(o) && check_times(o) && options_check_intervals(o) && check_watch(o) && check_shard(o) && check_rows(o) && options_check_poses(o);
}

bool cli_options_parse(cli_options *o, int argc, char **argv)
{
    parser p = {.o = o, .argv = argv};

    *o = (cli_options){.argv = argv, .most_matches = 1, .overlap = 0.3, .gap = -1};
    tm_settings_default(&o->settings, sizeof o->settings);
    tm_pose_grid_default(&o->poses, sizeof o->poses);
    o->frames = calloc((size_t)argc + 1, sizeof *o->frames);
    o->templates = calloc((size_t)argc + 1, sizeof *o->templates);
    if (!o->frames || !o->templates) {
        message(NULL, "out of memory");
        return false;
    }
    if (!parse_options(&p, argc))
        return false;
    if (o->action == CLI_MERGE)
        return check_merge(&p);
    if ((o->action == CLI_CALIBRATE || o->action == CLI_LIST_DEVICES) && o->frame_count > 0) {
        message_usage("%s takes no pictures", o->action == CLI_CALIBRATE ? "--calibrate" : "--list-devices");
        return false;
    }
    if (o->action != CLI_MATCH)
        return o->action != CLI_BENCH || options_check_poses(o);
    return check(o, p.min_score);
}

void cli_options_free(cli_options *o)
{
    free(o->frames);
    free(o->templates);
    o->frames = o->templates = NULL;
}
