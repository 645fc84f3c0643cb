/* SPDX-License-Identifier: MIT */
#include "options_set.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "message.h"
#include "parse.h"

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

bool cli_options_set(cli_options *o, int option, const char *text)
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

void cli_options_set_flag(cli_options *o, int option)
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
