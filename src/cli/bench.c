/* SPDX-License-Identifier: MIT */
#include "bench.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "message.h"

static const char usual_sizes[] = "640x480,32 1920x1080,64x48 2048,21 5020,21";

/* A time is the median of calls for about this long, at least three of them; a
 * call longer than LONG_MS is its own measurement. */
#define SPEND_MS 400.0
#define LONG_MS 2000.0
enum { MOST_SAMPLES = 51, MOST_DEVICES = 16, MOST_VARIANTS = 2 + 4 * MOST_DEVICES };

/* A device, or a number of CPU threads, to be measured. */
typedef struct variant {
    tm_matcher *matcher;
    char name[32]; /* "cpu, 16 threads", "cuda:0", "cuda:0, fft" */
    double open_ms;
    bool by_name;  /* to compare with: where it cannot run, its line says why */
    bool is_open;
} variant;

typedef struct workload {
    tm_image frame, tmpl;
    uint8_t *samples;
} workload;

static bool fail(const char *what, const char *why)
{
    message(what, "%s", why);
    return false;
}

static bool parse_size(const char *text, char end, int64_t *width, int64_t *height)
{
    char *after;
    *width = *height = strtoll(text, &after, 10);
    if (after != text && *after == 'x')
        *height = strtoll(after + 1, &after, 10);
    return after != text && *after == end && *width > 0 && *height > 0 && *width <= INT32_MAX &&
           *height <= INT32_MAX;
}

static bool read_size(workload *w, const char *size)
{
    const char *comma = strchr(size, ',');

    *w = (workload){0};
    if (!comma || !parse_size(size, ',', &w->frame.width, &w->frame.height) ||
        !parse_size(comma + 1, '\0', &w->tmpl.width, &w->tmpl.height))
        return fail(size, "not a size, such as 1920x1080,64x48 or 2048,21");
    if (w->tmpl.width > w->frame.width || w->tmpl.height > w->frame.height)
        return fail(size, "the template is larger than the frame");
    return true;
}

/* Makes a frame of noise, and a template that is cut out of it two thirds of the way across and
 * down. */
static bool make_workload(workload *w, const char *size)
{
    uint64_t state = 1;

    if (!read_size(w, size))
        return false;
    const size_t count = (size_t)w->frame.width * (size_t)w->frame.height;
    w->samples = malloc(count);
    if (!w->samples)
        return fail(size, "out of memory");
    for (size_t i = 0; i < count; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
        w->samples[i] = (uint8_t)(state >> 56);
    }
    w->frame.samples = w->samples;
    w->frame.stride = w->tmpl.stride = w->frame.width;
    w->tmpl.samples = w->samples +
                      (w->frame.height - w->tmpl.height) * 2 / 3 * w->frame.stride +
                      (w->frame.width - w->tmpl.width) * 2 / 3;
    return true;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Measures the medians of whole calls and of the kernels' share of them. */
static tm_status measure(const variant *v, const workload *w, const tm_template *tmpl,
                         tm_peak *best, double *call_ms, double *kernel_ms)
{
    double call[MOST_SAMPLES], kernel[MOST_SAMPLES];
    int count = 0;

    tm_status status = tm_match(v->matcher, &w->frame, tmpl, best, NULL);
    call[0] = tm_matcher_times(v->matcher).total;
    kernel[0] = tm_matcher_times(v->matcher).kernel;
    if (call[0] >= LONG_MS)
        count = 1;
    const double start = clock_ms();
    while (status == TM_OK && call[0] < LONG_MS && count < MOST_SAMPLES &&
           (count < 3 || clock_ms() - start < SPEND_MS)) {
        status = tm_match(v->matcher, &w->frame, tmpl, best, NULL);
        call[count] = tm_matcher_times(v->matcher).total;
        kernel[count++] = tm_matcher_times(v->matcher).kernel;
    }
    if (status != TM_OK)
        return status;
    *call_ms = median(call, count);
    *kernel_ms = median(kernel, count);
    return TM_OK;
}

static bool same(const tm_peak *a, const tm_peak *b)
{
    return a->x == b->x && a->y == b->y && memcmp(&a->score, &b->score, sizeof a->score) == 0;
}

/* The frame's and template's sizes begin the first line, and the names of variants each. */
static void begin_line(const variant *v, const char *size)
{
    printf("%-20s %-16s ", size, v->name);
}

static bool run_size(const variant *variants, int count, const char *size)
{
    workload w;
    tm_peak first = {0}, best;
    double slowest = 0;
    bool good = make_workload(&w, size);

    for (int i = 0; good && i < count; i++) {
        const variant *v = &variants[i];
        tm_template *tmpl = NULL;
        double call = 0, kernel = 0;
        tm_status status = v->is_open ? tm_template_create(&tmpl, v->matcher, &w.tmpl)
                                      : TM_ERR_INVALID;
        if (status == TM_OK)
            status = measure(v, &w, tmpl, &best, &call, &kernel);
        tm_template_destroy(&tmpl);
        if (status == TM_ERR_INVALID && v->by_name) {
            begin_line(v, "");
            printf("%s\n", tm_matcher_message(v->matcher));
            continue;
        }
        if (status != TM_OK) {
            good = fail(v->name, tm_matcher_message(v->matcher));
            break;
        }
        if (i == 0) {
            first = best;
            slowest = call;
        }
        begin_line(v, i ? "" : size);
        printf("%12.3f %12.3f %9.1f  %s\n", call, kernel, call > 0 ? slowest / call : 0,
               same(&best, &first) ? "same bits" : "DIFFERS");
        fflush(stdout);
        if (!same(&best, &first))
            good = fail(v->name, "its result is not that of the first device; please report this");
    }
    free(w.samples);
    return good;
}

static bool add_variant(variant *variants, int *count, tm_settings settings, const char *name,
                        bool by_name)
{
    variant *v = &variants[(*count)++];
    snprintf(v->name, sizeof v->name, "%s", name);
    v->by_name = by_name;
    const double start = clock_ms();
    const tm_status status = tm_matcher_create(&v->matcher, &settings);
    v->open_ms = clock_ms() - start;
    v->is_open = status == TM_OK;
    if (!v->is_open && !(by_name && status == TM_ERR_INVALID))
        return fail(name, tm_matcher_message(v->matcher));
    return true;
}

static bool add_cpu(variant *variants, int *count, tm_settings settings, int processors)
{
    const int all = settings.threads ? settings.threads : processors;
    char name[32];

    settings.device = TM_DEVICE_CPU;
    settings.threads = 1;
    if (!add_variant(variants, count, settings, "cpu, 1 thread", false))
        return false;
    settings.threads = all;
    snprintf(name, sizeof name, "cpu, %d threads", all);
    return all == 1 || add_variant(variants, count, settings, name, false);
}

/* What auto chooses, and beside it each algorithm by name. */
static bool add_cuda(variant *variants, int *count, tm_settings settings, int index)
{
    static const struct {
        tm_algorithm algorithm;
        const char *name;
    } by_name[] = {{TM_ALGORITHM_DIRECT, "direct"}, {TM_ALGORITHM_FFT, "fft"}, {TM_ALGORITHM_CUFFT, "cufft"}};
    const bool all = settings.algorithm == TM_ALGORITHM_AUTO;
    char name[32];

    settings.device = TM_DEVICE_CUDA;
    settings.device_mask = 0;
    settings.device_index = index;
    snprintf(name, sizeof name, "cuda:%d", index);
    bool good = add_variant(variants, count, settings, name, false);
    for (size_t i = 0; good && all && i < sizeof by_name / sizeof *by_name; i++) {
        settings.algorithm = by_name[i].algorithm;
        settings.strategy = TM_STRATEGY_EXHAUSTIVE;
        snprintf(name, sizeof name, "cuda:%d, %s", index, by_name[i].name);
        good = add_variant(variants, count, settings, name, true);
    }
    return good;
}

static bool wanted(const tm_settings *settings, int index)
{
    const uint64_t mask = settings->device_mask;
    return settings->device == TM_DEVICE_AUTO ||
           (settings->device == TM_DEVICE_CUDA &&
            (mask == TM_ALL_DEVICES || (index < 64 && mask >> index & 1)));
}

/* Opens what is to be measured and says what that is. */
static bool open_variants(variant *variants, int *count, const tm_settings *settings)
{
    tm_device_info devices[MOST_DEVICES + 1]; /* and the CPU */
    char why[256] = "";
    size_t found = 0;

    if (tm_list_devices(devices, sizeof devices / sizeof *devices, &found, why, sizeof why) != TM_OK)
        return fail("devices", "cannot be listed");
    if (found > sizeof devices / sizeof *devices)
        found = sizeof devices / sizeof *devices;
    printf("cpu: %s\n", devices[0].name);
    if (settings->device != TM_DEVICE_CUDA &&
        !add_cpu(variants, count, *settings, devices[0].units))
        return false;
    for (size_t i = 1; i < found; i++) {
        if (wanted(settings, devices[i].index) &&
            !add_cuda(variants, count, *settings, devices[i].index))
            return false;
        printf("cuda:%d: %s\n", devices[i].index, devices[i].name);
    }
    if (found < 2)
        printf("cuda: %s\n", why);
    for (int i = 0; i < *count; i++) {
        if (strncmp(variants[i].name, "cuda", 4) == 0 && !variants[i].by_name)
            printf("%s was opened in %.0f ms\n", variants[i].name, variants[i].open_ms);
    }
    return true;
}

/* Whether each of a list's is a size; the list is cut apart. */
static bool are_sizes(char *list)
{
    workload w;
    char *rest = NULL;

    for (char *size = strtok_r(list, " ", &rest); size; size = strtok_r(NULL, " ", &rest))
        if (!read_size(&w, size))
            return false;
    return true;
}

int cli_bench(const char *sizes, const tm_settings *settings)
{
    variant variants[MOST_VARIANTS] = {{0}};
    int count = 0;
    char *list = strdup(sizes ? sizes : usual_sizes), *checked = list ? strdup(list) : NULL, *rest = NULL;

    bool good = checked || fail("--bench", "out of memory");
    good = good && are_sizes(checked) && open_variants(variants, &count, settings);
    free(checked);
    if (good)
        printf("\nmedians of whole calls, frame in the caller's memory, best match only\n"
               "%-20s %-16s %12s %12s %9s\n",
               "frame,template", "device", "call, ms", "kernel, ms", "speed-up");
    for (char *size = good ? strtok_r(list, " ", &rest) : NULL; good && size;
         size = strtok_r(NULL, " ", &rest))
        good = run_size(variants, count, size);
    for (int i = 0; i < count; i++)
        tm_matcher_destroy(&variants[i].matcher);
    free(list);
    return good ? 0 : 2;
}
