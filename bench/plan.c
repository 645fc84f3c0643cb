/* SPDX-License-Identifier: MIT */
/* Times direct, fft and auto at each size, as whole calls for the best match alone.
 * bench/tables.py says what auto's choice loses against the better one. Runs that are
 * estimated above --limit are left out. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "noise.h"
#include "options.h"

static const tm_algorithm algorithms[] = {TM_ALGORITHM_AUTO, TM_ALGORITHM_DIRECT, TM_ALGORITHM_FFT};
static const char *const names[] = {"auto", "direct", "fft"};
enum { ALGORITHMS = 3, LEAST_SAMPLES = 3 };

/* What one algorithm may take at one size; one call may be longer. */
#define CUDA_MS 150.0
#define CPU_MS 500.0
#define LONG_MS 3000.0 /* a call that is its own warm-up, and measured once */

typedef struct grid {
    bench_report *report;
    const bench_options *options;
    bench_device device;
    tm_matcher *matchers[ALGORITHMS];
    bool pinned;
    char costs[1 << 14]; /* or "" */
} grid;

typedef struct series {
    bench_result result;
    double ms[BENCH_MAX_SAMPLES], spent;
    int count;
    bool done;
} series;

static double call_ms(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl)
{
    tm_peak best;
    const double start = clock_ms();
    return tm_match(matcher, frame, tmpl, &best, NULL) ? -1 : clock_ms() - start;
}

static void add(const grid *g, series *s, tm_matcher *matcher, double ms)
{
    const double budget = g->device.kind == TM_DEVICE_CUDA ? CUDA_MS : CPU_MS;
    if (ms < 0) {
        s->result.status = BENCH_FAILED;
        snprintf(s->result.note, sizeof s->result.note, "%.255s", tm_matcher_message(matcher));
    } else {
        s->ms[s->count++] = ms;
        s->spent += ms;
    }
    s->done = ms < 0 || ms > LONG_MS || s->count == g->options->effort.samples ||
              (s->spent > budget && s->count >= LEAST_SAMPLES);
}

static double estimate_of(const char *plan, const char *name)
{
    const char *at = strstr(plan, "estimates: ");
    at = at ? strstr(at, name) : NULL;
    return at ? strtod(at + strlen(name) + 1, NULL) : 0;
}

/* Leaves out what the plan of auto estimates to take too long. */
static void skip_long(const grid *g, series *s, const char *plan)
{
    if (estimate_of(plan, s->result.algorithm) <= g->options->limit_ms)
        return;
    s->result.status = BENCH_SKIPPED;
    snprintf(s->result.note, sizeof s->result.note, "would take too long");
    s->done = true;
}

/* The first calls plan, and on the CPU auto may wait with FFT until it pays. */
static void warm_up(const grid *g, series *s, tm_matcher *matcher, const tm_image *frame,
                    const tm_template *tmpl)
{
    const int calls = g->device.kind == TM_DEVICE_CUDA ? 3 : 60;
    double spent = 0, last = 0;
    for (int i = 0; i < calls && spent < 60 && last >= 0; i++)
        spent += last = call_ms(matcher, frame, tmpl);
    if (last < 0 || last > LONG_MS)
        add(g, s, matcher, last);
}

/* Takes the algorithms in turns, so that what disturbs the machine disturbs all. */
static void measure(const grid *g, series *all, const tm_image *frame, tm_template *const *tmpls)
{
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
                add(g, &all[i], g->matchers[i], call_ms(g->matchers[i], frame, tmpls[i]));
            done &= all[i].done;
        }
    }
}

static bool measure_case(grid *g, const bench_case *c, const uint8_t *samples)
{
    static series all[ALGORITHMS];
    const tm_image frame = {.samples = samples, .width = c->frame_width,
                            .height = c->frame_height, .stride = (ptrdiff_t)c->frame_width};
    const tm_image picture = {.samples = samples + (c->frame_width - c->template_width) / 3,
                              .width = c->template_width, .height = c->template_height,
                              .stride = frame.stride};
    tm_template *tmpls[ALGORITHMS] = {0};
    bool good = true;

    for (int i = 0; i < ALGORITHMS; i++) {
        bench_result *r = &all[i].result;
        all[i] = (series){.result = {.of = *c, .exact = true}};
        r->of.map = false;
        if (g->pinned)
            snprintf(r->of.suite, sizeof r->of.suite, "grid-pinned");
        snprintf(r->device, sizeof r->device, "%s", bench_device_name(&g->device).text);
        snprintf(r->algorithm, sizeof r->algorithm, "%s", names[i]);
        if (g->device.kind == TM_DEVICE_CPU)
            r->threads = g->device.threads ? g->device.threads : g->report->machine.devices[0].units;
        if (tm_template_create(&tmpls[i], g->matchers[i], &picture) != TM_OK)
            add(g, &all[i], g->matchers[i], -1);
    }
    measure(g, all, &frame, tmpls);
    for (int i = 0; i < ALGORITHMS; i++) {
        bench_result *r = &all[i].result;
        if (r->status == BENCH_OK) {
            snprintf(r->plan, sizeof r->plan, "%.199s", tm_matcher_plan(g->matchers[i]));
            r->call = bench_spread_of(all[i].ms, all[i].count);
        }
        good &= report_result(g->report, r);
        tm_template_destroy(&tmpls[i]);
    }
    return good;
}

static bool open_matchers(grid *g)
{
    for (int i = 0; i < ALGORITHMS; i++) {
        tm_settings settings = bench_settings(&g->device, algorithms[i]);
        settings.costs = g->costs;
        if (tm_matcher_create(&g->matchers[i], &settings))
            return bench_fail(bench_device_name(&g->device).text, tm_matcher_message(g->matchers[i]));
    }
    return true;
}

static bool measure_all(grid *g, bool pinned)
{
    const bench_cases *cases = &g->options->cases;
    tm_host_memory memory = {0};
    size_t most = 0;

    for (int i = 0; i < cases->count; i++) {
        const size_t size = (size_t)(cases->items[i].frame_width * cases->items[i].frame_height);
        most = size > most ? size : most;
    }
    if (!pinned)
        memory.data = malloc(most);
    else if (tm_host_alloc(g->matchers[0], most, &memory) != TM_OK || !memory.pinned)
        return bench_fail("frames", "no pinned memory");
    if (!memory.data)
        return bench_fail("frames", "out of memory");
    noise_bytes(memory.data, most, g->options->seed);
    g->pinned = pinned;
    bool good = true;
    for (int i = 0; good && i < cases->count; i++) {
        report_case(&cases->items[i]);
        good = measure_case(g, &cases->items[i], memory.data);
    }
    if (pinned)
        tm_host_free(g->matchers[0], &memory);
    else
        free(memory.data);
    return good;
}

static bool read_costs(grid *g, const char *path)
{
    FILE *file = fopen(path, "r");
    const size_t size = file ? fread(g->costs, 1, sizeof g->costs - 1, file) : 0;
    g->costs[size] = '\0';
    if (file)
        fclose(file);
    return size || bench_fail(path, "cannot be read");
}

bool bench_plan(bench_options *o, bench_report *report)
{
    grid g = {.report = report, .options = o};
    bool good = !o->costs || read_costs(&g, o->costs);

    for (int i = 0; good && i < o->device_count; i++) {
        g.device = o->devices[i];
        good = open_matchers(&g) && measure_all(&g, false) &&
               (g.device.kind == TM_DEVICE_CPU || measure_all(&g, true));
        for (int k = 0; k < ALGORITHMS; k++)
            tm_matcher_destroy(&g.matchers[k]);
    }
    return good;
}
