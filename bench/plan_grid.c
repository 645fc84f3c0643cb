/* SPDX-License-Identifier: MIT */
/* How good the plan's choice is: plan_grid cpu|cuda FILE.json [LIMIT_MS]. For each
 * size the times of direct, fft and auto, as whole calls: on a GPU, the frame comes
 * from the caller's memory, pageable (suite grid) and pinned (grid-pinned). The best
 * match alone is asked for. bench/tables.py makes the tables and says what auto's
 * choice loses against the better one. Runs that are estimated above LIMIT_MS
 * (default 20,000) are left out. A minute on an H200. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "report.h"

static const tm_algorithm algorithms[] = {TM_ALGORITHM_AUTO, TM_ALGORITHM_DIRECT, TM_ALGORITHM_FFT};
static const char *const names[] = {"auto", "direct", "fft"};
enum { ALGORITHMS = 3, SAMPLES = 101, LEAST_SAMPLES = 3 };

/* What one algorithm may take at one size; one call may be longer. */
#define CUDA_MS 150.0
#define CPU_MS 500.0
#define LONG_MS 3000.0 /* a call that is its own warm-up, and measured once */

typedef struct grid {
    report report;
    tm_matcher *matchers[ALGORITHMS];
    tm_device_kind device;
    double limit;
    const char *suite;
} grid;

typedef struct series {
    bench_result result;
    double ms[SAMPLES], spent;
    int count;
    bool done;
} series;

static double call_ms(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl)
{
    tm_peak best;
    const double start = clock_ms();
    return tm_match(matcher, frame, tmpl, &best, NULL) ? -1 : clock_ms() - start;
}

static void add(series *s, tm_matcher *matcher, double ms, double budget)
{
    if (ms < 0) {
        s->result.status = BENCH_FAILED;
        snprintf(s->result.note, sizeof s->result.note, "%.255s", tm_matcher_message(matcher));
    } else {
        s->ms[s->count++] = ms;
        s->spent += ms;
    }
    s->done = ms < 0 || ms > LONG_MS || s->count == SAMPLES ||
              (s->spent > budget && s->count >= LEAST_SAMPLES);
}

static double estimate_of(const char *plan, const char *name)
{
    const char *at = strstr(plan, "estimates: ");
    at = at ? strstr(at, name) : NULL;
    return at ? strtod(at + strlen(name) + 1, NULL) : 0;
}

/* What the plan, auto's, estimates to take too long. */
static void skip_long(const grid *g, series *s, const char *plan)
{
    if (estimate_of(plan, s->result.algorithm) <= g->limit)
        return;
    s->result.status = BENCH_SKIPPED;
    snprintf(s->result.note, sizeof s->result.note, "would take too long");
    s->done = true;
}

/* The first calls plan, and on the CPU auto may wait with FFT until it pays. */
static void warm_up(const grid *g, series *s, tm_matcher *matcher, const tm_image *frame,
                    const tm_template *tmpl)
{
    double spent = 0, last = 0;
    for (int i = 0; i < (g->device == TM_DEVICE_CUDA ? 3 : 60) && spent < 60 && last >= 0; i++)
        spent += last = call_ms(matcher, frame, tmpl);
    if (last < 0 || last > LONG_MS)
        add(s, matcher, last, 0);
}

/* In turns, so that what disturbs the machine disturbs all. */
static void measure(const grid *g, series *all, const tm_image *frame, tm_template *const *tmpls)
{
    const double budget = g->device == TM_DEVICE_CUDA ? CUDA_MS : CPU_MS;
    bool done = false;

    for (int i = 0; i < ALGORITHMS; i++) {
        if (i > 0)
            skip_long(g, &all[i], tm_matcher_plan(g->matchers[0]));
        if (!all[i].done)
            warm_up(g, &all[i], g->matchers[i], frame, tmpls[i]);
    }
    for (int turn = 0; !done; turn++) {
        done = true;
        for (int k = 0; k < ALGORITHMS; k++) {
            const int i = (turn + k) % ALGORITHMS;
            if (!all[i].done)
                add(&all[i], g->matchers[i], call_ms(g->matchers[i], frame, tmpls[i]), budget);
            done &= all[i].done;
        }
    }
}

static bool measure_size(grid *g, const tm_image *frame, int64_t size)
{
    static series all[ALGORITHMS];
    const tm_image picture = {.samples = frame->samples + frame->width / 3, .width = size,
                              .height = size, .stride = frame->stride};
    tm_template *tmpls[ALGORITHMS] = {0};
    bool good = true;

    for (int i = 0; i < ALGORITHMS; i++) {
        bench_result *r = &all[i].result;
        all[i] = (series){.result = {.of = {"", frame->width, frame->height, size, size,
                                            TM_METRIC_LCC, TM_DOMAIN_VALID, false, 1, 0},
                                     .exact = true}};
        snprintf(r->of.suite, sizeof r->of.suite, "%s", g->suite);
        snprintf(r->device, sizeof r->device, g->device == TM_DEVICE_CUDA ? "cuda:0" : "cpu");
        snprintf(r->algorithm, sizeof r->algorithm, "%s", names[i]);
        if (g->device == TM_DEVICE_CPU)
            r->threads = g->report.machine.devices[0].units;
        if (tm_template_create(&tmpls[i], g->matchers[i], &picture) != TM_OK)
            add(&all[i], g->matchers[i], -1, 0);
    }
    measure(g, all, frame, tmpls);
    for (int i = 0; i < ALGORITHMS; i++) {
        bench_result *r = &all[i].result;
        if (r->status == BENCH_OK) {
            snprintf(r->plan, sizeof r->plan, "%.199s", tm_matcher_plan(g->matchers[i]));
            r->call = bench_spread_of(all[i].ms, all[i].count);
        }
        report_line(r);
        good &= report_add(&g->report, r);
        tm_template_destroy(&tmpls[i]);
    }
    return good;
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

static bool measure_frame(grid *g, int64_t size, uint8_t *samples)
{
    static const int templates[] = {3, 8, 16, 24, 32, 48, 64, 96, 128, 200, 300, 600};
    const tm_image frame = {.samples = samples, .width = size, .height = size,
                            .stride = (ptrdiff_t)size};
    bool good = true;

    for (int64_t i = 0; i < size * size; i++)
        samples[i] = (uint8_t)(rand() >> 8);
    for (size_t t = 0; good && t < sizeof templates / sizeof *templates; t++) {
        if (2 * templates[t] <= size && (size <= 4096 || t % 2 == 0))
            good = measure_size(g, &frame, templates[t]);
    }
    return good;
}

static bool measure_frames(grid *g, const char *suite, bool pinned)
{
    enum { LEAST = 256, MOST = 8192 };
    tm_host_memory memory = {0};
    bool good = true;

    if (pinned)
        good = tm_host_alloc(g->matchers[0], MOST * MOST, &memory) == TM_OK && memory.pinned;
    else
        good = (memory.data = malloc(MOST * MOST)) != NULL;
    g->suite = suite;
    for (int64_t size = LEAST; good && size <= MOST; size *= 2)
        good = measure_frame(g, size, memory.data);
    if (pinned)
        tm_host_free(g->matchers[0], &memory);
    else
        free(memory.data);
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
    good = open_matchers(&g) && measure_frames(&g, "grid", false);
    if (good && g.device == TM_DEVICE_CUDA)
        good = measure_frames(&g, "grid-pinned", true);
    const char *fault = good ? report_write(&g.report, argv[2]) : "failed";
    if (fault)
        fprintf(stderr, "%s: %s\n", argv[2], fault);
    for (int i = 0; i < ALGORITHMS; i++)
        tm_matcher_destroy(&g.matchers[i]);
    free(g.report.results);
    return fault ? 1 : 0;
}
