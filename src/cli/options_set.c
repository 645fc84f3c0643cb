/* SPDX-License-Identifier: MIT */
#include "options_set.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "message.h"
#include "options_poses.h"
#include "suggest.h"

/* More than any machine has: a typing error must not start a million threads. */
enum { MAX_THREADS = 4096, MAX_IN_FLIGHT = 65536 };

/* The library takes devices as a mask of 64 bits. */
enum { MAX_DEVICE = 63 };

/* Each of these prints the usage error that it returns false for. option is its name without the dashes. */
static bool parse_choice(const char *option, const char *text, const choice *choices, int *value)
{
    char names[128] = "", hint[64];
    for (const choice *c = choices; c->name; c++) {
        if (strcmp(text, c->name) == 0) {
            *value = c->value;
            return true;
        }
        const size_t used = strlen(names);
        const char *separator = c == choices ? "" : c[1].name ? ", " : " or ";
        snprintf(names + used, sizeof names - used, "%s%s", separator, c->name);
    }
    suggest_choice(choices, text, hint, sizeof hint);
    message_usage("--%s: '%s' is not any of %s%s", option, text, names, hint);
    return false;
}

static bool parse_integer(const char *option, const char *text, int64_t low, int64_t high,
                          int64_t *value)
{
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    if (strspn(text, "0123456789") == 0 || *end || errno || number < low || number > high) {
        message_usage("--%s: '%s' is not an integer from %lld to %lld", option, text,
                      (long long)low, (long long)high);
        return false;
    }
    *value = number;
    return true;
}

/* Reads "512M", "512m" or "512MiB": bytes, or with K, M, G, T so many times 1024, 1024^2, ...; at least 1. Not "512MB", which
 * is 1000^2 to some. */
static bool parse_bytes(const char *option, const char *text, int64_t *value)
{
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    const long long number = strtoll(text, &end, 10);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    const int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    const char *rest = unit ? end + 1 : end;
    if (unit && strcmp(rest, "iB") == 0)
        rest += 2;
    if (strspn(text, "0123456789") == 0 || errno || number < 1 || *rest || number > INT64_MAX >> shift) {
        message_usage("--%s: '%s' is not a number of bytes, such as 512M or 4G", option, text);
        return false;
    }
    *value = (int64_t)number << shift;
    return true;
}

static bool parse_number(const char *option, const char *text, double *value)
{
    char *end;
    *value = strtod(text, &end);
    if (end == text || *end || !isfinite(*value)) {
        message_usage("--%s: '%s' is not a number", option, text);
        return false;
    }
    return true;
}

static bool parse_seconds(const char *option, const char *text, double *ms)
{
    if (!parse_number(option, text, ms))
        return false;
    if (*ms > 0 && isfinite(*ms *= 1000))
        return true;
    message_usage("--%s: '%s' is not a number of seconds above 0", option, text);
    return false;
}

/* Reads "0,2". */
static bool parse_device_list(const char *text, uint64_t *mask)
{
    char number[16];
    int64_t index;

    for (*mask = 0;; text++) {
        const size_t length = strcspn(text, ",");
        snprintf(number, sizeof number, "%.*s", (int)length, text);
        if (length >= sizeof number) {
            message_usage("--device: '%.*s' is not the number of a device", (int)length, text);
            return false;
        }
        if (!parse_integer("device cuda:N", number, 0, MAX_DEVICE, &index))
            return false;
        *mask |= UINT64_C(1) << index;
        text += length;
        if (!*text)
            return true;
    }
}

static bool parse_device(const option_row *row, const char *text, tm_settings *settings)
{
    int kind = TM_DEVICE_CUDA;
    settings->device_mask = 0;
    if (strncmp(text, "cuda:", 5) == 0) {
        if (!parse_device_list(text + 5, &settings->device_mask))
            return false;
    } else if (!parse_choice(row->name, text, row->choices, &kind)) {
        return false;
    } else if (kind == TM_DEVICE_CUDA) {
        settings->device_mask = TM_ALL_DEVICES;
    }
    settings->device = (tm_device_kind)kind;
    return true;
}

static bool parse_overlap(const char *text, double *overlap)
{
    if (!parse_number("overlap", text, overlap))
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
    if (strspn(text, "0123456789,") == strlen(text) &&
        sscanf(text, "%18" SCNd64 ",%18" SCNd64 ",%18" SCNd64 ",%18" SCNd64 "%n", &roi->x, &roi->y, &roi->width, &roi->height,
               &length) == 4 &&
        !text[length] && roi->width > 0 && roi->height > 0)
        return true;
    message_usage("--roi: '%s' is not X,Y,WIDTH,HEIGHT", text);
    return false;
}

/* Reads "3/8". */
static bool parse_shard(const char *text, cli_options *o)
{
    int length = 0;
    if (strspn(text, "0123456789/") == strlen(text) &&
        sscanf(text, "%9" SCNd64 "/%9" SCNd64 "%n", &o->shard, &o->shards, &length) == 2 &&
        !text[length] && o->shard >= 1 && o->shard <= o->shards)
        return true;
    message_usage("--shard: '%s' is not I/N, the part I, from 1 to N, of N parts; such as 1/8 to 8/8", text);
    return false;
}

/* Reads "A:B", or "A:", whose end is that of any map. */
static bool parse_rows(const char *text, cli_options *o)
{
    char *end;
    o->has_rows = true;
    o->rows_end = INT64_MAX;
    errno = 0;
    o->rows_first = strtoll(text, &end, 10);
    bool good = strspn(text, "0123456789:") == strlen(text) && *text != ':' && *end++ == ':' && !errno;
    if (good && *end) {
        o->rows_end = strtoll(end, &end, 10);
        good = !*end && !errno;
    }
    if (good && o->rows_first < o->rows_end)
        return true;
    message_usage("--rows: '%s' is not A:B, rows A to B-1, nor A:, all from A on; such as 0:5000 or 5000:", text);
    return false;
}

/* Reads "75.5", "1:15.5" or "0:01:15.5". */
static bool parse_time(const char *name, const char *text, double *seconds)
{
    const char *s = text;
    char *end;
    *seconds = 0;
    for (int parts = 1; parts <= 3; parts++) {
        const size_t digits = strspn(s, "0123456789");
        const bool last = s[digits] != ':';
        const double part = strtod(s, &end);
        const size_t fraction = s[digits] == '.' ? 1 + strspn(s + digits + 1, "0123456789") : 0;
        if (digits == 0 || digits > 12 || (parts > 1 && part >= 60) || (size_t)(end - s) != digits + (last ? fraction : 0))
            break;
        *seconds = *seconds * 60 + part;
        if (last && !*end)
            return true;
        if (last)
            break;
        s = end + 1;
    }
    message_usage("--%s: '%s' is not a time, such as 75.5, 1:15.5 or 0:01:15.5", name, text);
    return false;
}

static bool parse_gap(const char *name, const char *text, double *seconds)
{
    if (!parse_number(name, text, seconds))
        return false;
    if (*seconds >= 0)
        return true;
    message_usage("--%s: '%s' is not a number of seconds, 0 or more", name, text);
    return false;
}

static bool parse_timeout(const char *name, const char *text, double *seconds)
{
    double ms;
    const bool good = parse_seconds(name, text, &ms);
    if (good)
        *seconds = ms * 1e-3;
    return good;
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

static bool parse_threads(const char *name, const char *text, int *threads)
{
    int64_t number = 0;
    if (!parse_integer(name, text, 0, MAX_THREADS, &number))
        return false;
    *threads = (int)number;
    return true;
}

bool cli_options_set(cli_options *o, cli_option option, const char *text)
{
    const option_row *row = &option_table[option];
    tm_settings *settings = &o->settings;
    int chosen = 0;

    if (row->takes == TAKES_CHOICE && !parse_choice(row->name, text, row->choices, &chosen))
        return false;
    switch (option) { /* no default: the compiler names an option that is left out */
    case OPT_TEMPLATE: o->templates[o->template_count++] = text; return true;
    case OPT_RECURSIVE: o->recursive = true; return true;
    case OPT_FILES_FROM: o->files_from = text; return true;
    case OPT_NULL: o->null_names = true; return true;
    case OPT_WATCH: o->watch = text; return true;
    case OPT_SHARD: return parse_shard(text, o);
    case OPT_ROWS: return parse_rows(text, o);
    case OPT_EVERY: return parse_integer(row->name, text, 1, INT64_MAX, &o->movie.every);
    case OPT_FROM: o->movie.has_from = true; return parse_time(row->name, text, &o->movie.from);
    case OPT_TO: o->movie.has_to = true; return parse_time(row->name, text, &o->movie.to);
    case OPT_KEY_FRAMES: o->movie.key_frames = true; return true;
    case OPT_ROI: return parse_roi(text, o);
    case OPT_MASK: o->mask = text; return true;
    case OPT_FRAME_MASK: o->frame_mask = text; return true;
    case OPT_IGNORE_ORIENTATION: o->ignore_orientation = true; return true;
    case OPT_COLOR: o->color = true; return true;
    case OPT_DEPTH: o->depth = chosen; return true;
    case OPT_MAX_PIXELS: return parse_integer(row->name, text, 1, INT64_MAX, &o->max_pixels);
    case OPT_NUMBER: return parse_integer(row->name, text, 0, INT64_MAX, &o->most_matches);
    case OPT_MIN_SCORE: o->has_min_score = true; return parse_number(row->name, text, &o->min_score);
    case OPT_ONLY_MATCHES: o->only_matches = true; return true;
    case OPT_OVERLAP: return parse_overlap(text, &o->overlap);
    case OPT_SUBPIXEL: o->subpixel = true; return true;
    case OPT_ANGLE: o->posed = true; return options_angle(text, &o->poses);
    case OPT_SCALE: o->posed = true; return options_scale(text, &o->poses);
    case OPT_SUPPORT: o->poses.support = (tm_support)chosen; return true;
    case OPT_METRIC: settings->metric = (tm_metric)chosen; return true;
    case OPT_DOMAIN: settings->domain = (tm_domain)chosen; return true;
    case OPT_INTERVALS: o->intervals = true; return true;
    case OPT_CHAPTERS: o->chapters = text; return true;
    case OPT_EDL: o->edl = text; return true;
    case OPT_GAP: return parse_gap(row->name, text, &o->gap);
    case OPT_FORMAT: o->format = (cli_format)chosen; return true;
    case OPT_OUTPUT: o->output = text; return true;
    case OPT_CROPS: o->crops = text; return true;
    case OPT_UPRIGHT: o->upright = true; return true;
    case OPT_REPORT: o->report = text; return true;
    case OPT_RESUME: o->resume = text; return true;
    case OPT_MERGE: o->action = CLI_MERGE; return true;
    case OPT_MAP: o->map = text; return true;
    case OPT_HEATMAP: o->heatmap = text; return true;
    case OPT_HEATMAP_STYLE: o->heatmap_overlay = chosen; return true;
    case OPT_DUMP_TEMPLATE: o->dump_template = text; return true;
    case OPT_DEVICE: return parse_device(row, text, settings);
    case OPT_LIST_DEVICES: o->action = CLI_LIST_DEVICES; return true;
    case OPT_DECODER: o->decoder = (cli_decoder)chosen; return true;
    case OPT_ALGORITHM: settings->algorithm = (tm_algorithm)chosen; return true;
    case OPT_SEARCH: settings->strategy = (tm_strategy)chosen; return true;
    case OPT_THREADS: return parse_threads(row->name, text, &settings->threads);
    case OPT_CPU_FEATURES: return parse_cpu_features(text, settings);
    case OPT_IN_FLIGHT: return parse_integer(row->name, text, 1, MAX_IN_FLIGHT, &o->in_flight);
    case OPT_MAX_MEMORY: return parse_bytes(row->name, text, &o->max_memory);
    case OPT_MAX_TIME_PER_FRAME: return parse_seconds(row->name, text, &o->max_frame_ms);
    case OPT_SANDBOX: o->sandbox = true; return true;
    case OPT_MAX_GPU_MEMORY: return parse_bytes(row->name, text, &settings->device_memory);
    case OPT_DEVICE_TIMEOUT: return parse_timeout(row->name, text, &settings->device_timeout);
    case OPT_CALIBRATE: o->action = CLI_CALIBRATE; return true;
    case OPT_BENCH: o->action = CLI_BENCH; return true;
    case OPT_VERIFY: o->verify = true; return true;
    case OPT_TIME: o->time = true; return true;
    case OPT_VERBOSE: o->verbose = true; o->quiet = false; return true;
    case OPT_QUIET: o->quiet = true; o->verbose = false; return true;
    case OPT_HELP: o->action = CLI_HELP; return true;
    case OPT_VERSION: o->action = CLI_VERSION; return true;
    }
    return false;
}
