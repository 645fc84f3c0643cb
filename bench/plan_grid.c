/* SPDX-License-Identifier: MIT */
/* How good the plan's choice is: plan_grid cpu|cuda FILE.json [LIMIT_MS]. For each
 * size the times of direct, fft and auto; bench/tables.py makes the table and says
 * what auto's choice loses against the better one. Runs that are estimated above
 * LIMIT_MS (default 20,000) are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"

static const tm_algorithm algorithms[] = {TM_ALGORITHM_AUTO, TM_ALGORITHM_DIRECT, TM_ALGORITHM_FFT};
static const char *const names[] = {"auto", "direct", "fft"};
enum { ALGORITHMS = 3, SAMPLES = 15 };

typedef struct grid {
    report report;
    tm_matcher *matchers[ALGORITHMS];
    tm_device_kind device;
    double limit;
} grid;

static double match_ms(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl)
{
    tm_peak best;
    if (tm_match(matcher, frame, tmpl, &best, NULL))
        return -1;
    return tm_matcher_times(matcher).kernel;
}

/* The first matches plan, and on the CPU auto may wait with FFT until it pays. A run
 * that takes seconds is its own warm-up. */
static void measure(bench_result *result, tm_matcher *matcher, const tm_image *frame,
                    const tm_template *tmpl)
{
    const bool cuda = strncmp(result->device, "cuda", 4) == 0;
    double ms[SAMPLES], spent = 0, last = 0;
    int runs = 0;

    for (int i = 0; i < (cuda ? 2 : 60) && spent < 60 && last >= 0; i++)
        spent += last = match_ms(matcher, frame, tmpl);
    if (spent > 3000)
        ms[runs++] = spent;
    for (spent = 0; last >= 0 && runs < SAMPLES && (runs == 0 || (spent < 1500 && ms[0] < 3000));)
        spent += ms[runs++] = last = match_ms(matcher, frame, tmpl);
    snprintf(result->plan, sizeof result->plan, "%.199s", tm_matcher_plan(matcher));
    if (last < 0) {
        result->status = BENCH_FAILED;
        snprintf(result->note, sizeof result->note, "%.255s", tm_matcher_message(matcher));
        return;
    }
    result->kernel = bench_spread_of(ms, runs);
}

static double estimate_of(const char *plan, const char *name)
{
    const char *at = strstr(plan, "estimates: ");
    at = at ? strstr(at, name) : NULL;
    return at ? strtod(at + strlen(name) + 1, NULL) : 0;
}

static bool measure_size(grid *g, const tm_image *frame, int64_t size)
{
    const tm_image picture = {.samples = frame->samples + frame->width / 3, .width = size,
                              .height = size, .stride = frame->stride};
    char plan[200] = "";

    for (int i = 0; i < ALGORITHMS; i++) {
        tm_template *tmpl;
        bench_result result = {.of = {"grid", frame->width, frame->height, size, size,
                                      TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
                               .exact = true};
        snprintf(result.device, sizeof result.device, g->device == TM_DEVICE_CUDA ? "cuda:0" : "cpu");
        snprintf(result.algorithm, sizeof result.algorithm, "%s", names[i]);
        if (g->device == TM_DEVICE_CPU)
            result.threads = g->report.machine.devices[0].units;
        if (i > 0 && estimate_of(plan, names[i]) > g->limit) {
            result.status = BENCH_SKIPPED;
            snprintf(result.note, sizeof result.note, "would take too long");
        } else if (tm_template_create(&tmpl, g->matchers[i], &picture) == TM_OK) {
            measure(&result, g->matchers[i], frame, tmpl);
            tm_template_destroy(&tmpl);
        }
        if (i == 0)
            memcpy(plan, result.plan, sizeof plan);
        report_line(&result);
        if (!report_add(&g->report, &result))
            return false;
    }
    return true;
}

static bool open_matchers(grid *g)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        tm_settings settings;
        tm_settings_default(&settings, sizeof settings);
        settings.device = g->device;
        settings.algorithm = algorithms[i];
        if (tm_matcher_create(&g->matchers[i], &settings)) {
            fprintf(stderr, "%s\n", tm_matcher_message(g->matchers[i]));
            return false;
        }
    }
    return true;
}

static bool measure_frame(grid *g, int64_t size)
{
    static const int templates[] = {3, 8, 16, 24, 32, 48, 64, 96, 128, 200, 300, 600};
    uint8_t *samples = malloc((size_t)(size * size));
    tm_image frame = {.samples = samples, .width = size, .height = size, .stride = (ptrdiff_t)size};
    bool good = samples != NULL;

    for (int64_t i = 0; good && i < size * size; i++)
        samples[i] = (uint8_t)(rand() >> 8);
    for (size_t t = 0; good && t < sizeof templates / sizeof *templates; t++) {
        if (2 * templates[t] <= size && (size <= 4096 || t % 2 == 0))
            good = measure_size(g, &frame, templates[t]);
    }
    free(samples);
    return good;
}

int main(int argc, char **argv)
{
    static grid g;
    bool good = argc == 3 || argc == 4;

    if (!good || (strcmp(argv[1], "cpu") != 0 && strcmp(argv[1], "cuda") != 0)) {
        fprintf(stderr, "plan_grid cpu|cuda FILE.json [LIMIT_MS]\n");
        return 2;
    }
    g.device = strcmp(argv[1], "cuda") == 0 ? TM_DEVICE_CUDA : TM_DEVICE_CPU;
    g.limit = argc > 3 ? strtod(argv[3], NULL) : 20000;
    g.report.command = g.device == TM_DEVICE_CUDA ? "plan_grid cuda" : "plan_grid cpu";
    machine_describe(&g.report.machine);
    good = open_matchers(&g);
    for (int64_t size = 256; good && size <= 8192; size *= 2)
        good = measure_frame(&g, size);
    const char *fault = good ? report_write(&g.report, argv[2]) : "failed";
    if (fault)
        fprintf(stderr, "%s: %s\n", argv[2], fault);
    for (int i = 0; i < ALGORITHMS; i++)
        tm_matcher_destroy(&g.matchers[i]);
    free(g.report.results);
    return fault ? 1 : 0;
}
