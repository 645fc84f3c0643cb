/* SPDX-License-Identifier: MIT */
/* Checks and times the library on the CPU, through its public API. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"

typedef struct cpu_run {
    problem *p;
    tm_matcher *matcher;
    tm_template **templates;
    tm_peak *best;
    tm_map map;
    bool many; /* all templates in one call */
} cpu_run;

static tm_status open_run(cpu_run *run, const tm_settings *settings)
{
    const bench_case *c = run->p->of;
    run->map = (tm_map){run->p->got,
                        run->p->map_width * (ptrdiff_t)tm_map_element_size(c->metric)};
    run->templates = calloc((size_t)c->templates, sizeof *run->templates);
    run->best = calloc((size_t)c->templates, sizeof *run->best);
    if (!run->templates || !run->best)
        return TM_ERR_MEMORY;
    tm_status status = tm_matcher_create(&run->matcher, settings);
    for (int i = 0; status == TM_OK && i < c->templates; i++)
        status = tm_template_create(&run->templates[i], run->matcher, &run->p->templates[i]);
    return status;
}

static void close_run(cpu_run *run)
{
    for (int i = 0; run->templates && i < run->p->of->templates; i++)
        tm_template_destroy(&run->templates[i]);
    free(run->templates);
    free(run->best);
    tm_matcher_destroy(&run->matcher);
}

/* Matches the templates one after the other, or all in one call, which makes no map. */
static tm_status match_all(cpu_run *run, bool map, bool *right)
{
    const int count = run->p->of->templates;
    tm_status status = TM_OK;
    if (run->many && !map)
        status = tm_match_many(run->matcher, &run->p->frame,
                               (const tm_template *const *)run->templates, (size_t)count,
                               run->best, NULL);
    else
        for (int i = 0; status == TM_OK && i < count; i++)
            status = tm_match(run->matcher, &run->p->frame, run->templates[i], &run->best[i],
                              map && i == 0 ? &run->map : NULL);
    for (int i = 0; status == TM_OK && i < count; i++)
        *right = *right && problem_best_equal(run->p, i, run->best[i]);
    return status;
}

static tm_status check(cpu_run *run, bool *right, double *ms)
{
    const size_t bytes = (size_t)(run->p->map_width * run->p->map_height) *
                         tm_map_element_size(run->p->of->metric);
    memset(run->p->got, 0xcd, bytes);
    double start = clock_ms();
    tm_status status = match_all(run, true, right);
    *ms = clock_ms() - start;
    if (status == TM_OK)
        *right = *right && problem_map_equal(run->p);
    if (status != TM_OK || !run->many)
        return status;
    start = clock_ms();
    status = match_all(run, false, right);
    *ms = clock_ms() - start;
    return status;
}

static tm_status measure(cpu_run *run, bench_result *result, const bench_effort *effort,
                         bool *right, double checked_ms)
{
    double ms[BENCH_MAX_SAMPLES] = {checked_ms};
    int samples = 0;
    tm_status status = TM_OK;

    /* A run that takes the whole budget was long enough to be its own warm-up. */
    if (checked_ms >= effort->budget_ms) {
        samples = 1;
        snprintf(result->note, sizeof result->note, "one sample, the checked run");
    }
    const double start = clock_ms();
    while (status == TM_OK && samples < effort->samples &&
           (samples < 3 || clock_ms() - start < effort->budget_ms) &&
           checked_ms < effort->budget_ms) {
        const double before = clock_ms();
        status = match_all(run, run->p->of->map && !run->many, right);
        ms[samples++] = clock_ms() - before;
    }
    result->call = result->kernel = bench_spread_of(ms, samples);
    return status;
}

void bench_cpu(bench_result *result, problem *p, tm_algorithm algorithm, int threads,
               bool many, const bench_effort *effort)
{
    cpu_run run = {.p = p, .many = many};
    tm_settings settings;
    bool right = true;
    double checked_ms = 0;

    tm_settings_default(&settings, sizeof settings);
    settings.metric = p->of->metric;
    settings.domain = p->of->domain;
    settings.algorithm = algorithm;
    settings.device = TM_DEVICE_CPU;
    settings.threads = threads;
    tm_status status = open_run(&run, &settings);
    if (status == TM_OK)
        status = check(&run, &right, &checked_ms);
    if (status == TM_OK && right)
        status = measure(&run, result, effort, &right, checked_ms);

    result->exact = true;
    snprintf(result->check, sizeof result->check, "%s", p->proof);
    snprintf(result->plan, sizeof result->plan, "%s", tm_matcher_plan(run.matcher));
    if (status != TM_OK) {
        result->status = BENCH_FAILED;
        snprintf(result->note, sizeof result->note, "%s", tm_matcher_message(run.matcher));
    } else if (!right) {
        result->status = BENCH_WRONG;
    }
    close_run(&run);
}
