/* SPDX-License-Identifier: MIT */
/* Checks the library on a CUDA device, and times the whole call and the kernels alone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "gpu.h"
#include "modules.h"

enum { MOST_CALLS = 15, COLD_SAMPLES = 21 };

/* The prepared templates, and how many of them one call takes: 1, or all. */
typedef struct bench_templates {
    tm_template **items;
    int step;
    tm_plan plan; /* of each */
} bench_templates;

/* Matches templates first .. first + step - 1 as the matcher would, with the map of the
 * first only. *right becomes false if a best match is not the exact one. */
static tm_status match(bench_gpu *gpu, const problem *p, const bench_templates *t, int first,
                       bool map, tm_times *times, bool *right)
{
    const bench_case *c = p->of;
    tm_job *jobs = calloc((size_t)t->step, sizeof *jobs);
    tm_status status = jobs ? TM_OK : TM_ERR_MEMORY;

    for (int i = 0; status == TM_OK && i < t->step; i++) {
        status = bench_job(&jobs[i], &p->frame, t->items[first + i], c->metric, c->domain);
        if (t->plan.algorithm == TM_ALGORITHM_FFT)
            jobs[i].tiling = &t->plan.estimate.tiling;
    }
    if (map && jobs)
        jobs[0].map = (tm_map){p->got, p->map_width * (ptrdiff_t)tm_map_element_size(c->metric)};
    const double start = clock_ms();
    tm_work work = {0};
    if (status == TM_OK)
        status = bench_gpu_match(gpu, jobs, (size_t)t->step, &work);
    *times = work.times;
    times->total = clock_ms() - start;

    for (int i = 0; status == TM_OK && i < t->step; i++) {
        const tm_candidate *found = &jobs[i].best;
        const tm_peak best = {.x = found->position % p->map_width - jobs[i].geometry.pad_x,
                              .y = found->position / p->map_width - jobs[i].geometry.pad_y,
                              .score = c->metric == TM_METRIC_LCC
                                           ? (double)tm_score_of_order((int32_t)found->value)
                                           : (double)found->value};
        *right = *right && problem_best_equal(p, first + i, best);
    }
    free(jobs);
    return status;
}

/* A kernel may have two forms, so it is checked with and without the map. */
static tm_status check(bench_gpu *gpu, const problem *p, const bench_templates *t, bool *right)
{
    tm_times times;
    tm_status status = TM_OK;
    const size_t bytes =
        (size_t)(p->map_width * p->map_height) * tm_map_element_size(p->of->metric);

    memset(p->got, 0xcd, bytes);
    for (int i = 0; status == TM_OK && i < p->of->templates; i += t->step)
        status = match(gpu, p, t, i, false, &times, right);
    if (status == TM_OK)
        status = match(gpu, p, t, 0, true, &times, right);
    if (status == TM_OK)
        *right = *right && problem_map_equal(p);
    return status;
}

static tm_status time_calls(bench_gpu *gpu, const problem *p, const bench_templates *t,
                            bench_result *result, const bench_effort *effort, bool *right)
{
    double call[MOST_CALLS] = {0}, in[MOST_CALLS] = {0}, out[MOST_CALLS] = {0};
    int taken = 0;
    const double start = clock_ms();

    do {
        for (int i = 0; i < p->of->templates; i += t->step) {
            tm_times times = {0};
            tm_status status = match(gpu, p, t, i, p->of->map && i == 0, &times, right);
            if (status != TM_OK)
                return status;
            call[taken] += times.total;
            in[taken] += times.to_device;
            out[taken] += times.from_device;
        }
        taken++;
    } while (taken < MOST_CALLS && taken < effort->samples &&
             (taken < 3 || clock_ms() - start < effort->budget_ms));
    result->call = bench_spread_of(call, taken);
    result->to_device = bench_spread_of(in, taken);
    result->from_device = bench_spread_of(out, taken);
    return TM_OK;
}

static tm_status time_cold(bench_gpu *gpu, bench_result *result)
{
    double ms[COLD_SAMPLES];
    for (int i = 0; i < COLD_SAMPLES; i++) {
        if (!modules_flush(gpu->index))
            return TM_OK;
        tm_status status = gpu->plugin->replay(gpu->cuda, 1, 1, &ms[i], &gpu->message);
        if (status != TM_OK)
            return status;
    }
    result->cold = bench_spread_of(ms, COLD_SAMPLES);
    return TM_OK;
}

static tm_status time_kernels(bench_gpu *gpu, const problem *p, const bench_templates *t,
                              bench_result *result, const bench_effort *effort, bool *right)
{
    double ms[BENCH_MAX_SAMPLES] = {0}, batch[BENCH_MAX_SAMPLES];
    const bool apart = p->of->templates > t->step;
    int samples = apart && effort->samples > 5 ? 5 : effort->samples;
    tm_times times;

    for (int i = 0; i < p->of->templates; i += t->step) {
        tm_status status = match(gpu, p, t, i, p->of->map && i == 0, &times, right);
        if (status == TM_OK)
            status = bench_gpu_replay(gpu, effort->budget_ms, &samples, batch);
        if (status != TM_OK)
            return status;
        for (int k = 0; k < samples; k++)
            ms[k] += batch[k];
    }
    result->kernel = bench_spread_of(ms, samples);
    return apart ? TM_OK : time_cold(gpu, result);
}

/* Plans as the matcher does, with the algorithm given. */
static tm_plan plan_of(const bench_gpu *gpu, const problem *p, const tm_template *tmpl,
                       tm_algorithm algorithm)
{
    tm_job job;
    const tm_status status = bench_job(&job, &p->frame, tmpl, p->of->metric, p->of->domain);
    return status == TM_OK ? bench_gpu_plan(gpu, &job, algorithm, TM_STRATEGY_EXHAUSTIVE) : (tm_plan){0};
}

void bench_cuda(bench_result *result, problem *p, bench_gpu *gpu, tm_algorithm algorithm,
                bool many, const bench_effort *effort)
{
    const int count = p->of->templates;
    tm_template **templates = calloc((size_t)count, sizeof *templates);
    bench_templates t = {.items = templates, .step = many ? count : 1};
    tm_status status = templates ? TM_OK : TM_ERR_MEMORY;
    bool right = true;

    snprintf(gpu->message.text, sizeof gpu->message.text, "out of memory");
    for (int i = 0; status == TM_OK && i < count; i++)
        status = tm_template_prepare(&templates[i], &p->templates[i]);
    if (status == TM_OK)
        t.plan = plan_of(gpu, p, templates[0], algorithm);
    if (t.plan.algorithm == TM_ALGORITHM_FFT && !t.plan.estimate.fault)
        snprintf(result->plan, sizeof result->plan, "%lld x %lld pairs of tiles, transforms of %d x %d",
                 (long long)t.plan.estimate.tiling.across, (long long)t.plan.estimate.tiling.down,
                 t.plan.estimate.tiling.length_x, t.plan.estimate.tiling.length_y);
    if (t.plan.estimate.fault && algorithm == TM_ALGORITHM_FFT) {
        snprintf(gpu->message.text, sizeof gpu->message.text, "%s", t.plan.estimate.fault);
        status = TM_ERR_INVALID;
    }
    if (status == TM_OK)
        status = check(gpu, p, &t, &right);
    result->device_memory = modules_memory_used(gpu->index);
    if (status == TM_OK && right)
        status = time_calls(gpu, p, &t, result, effort, &right);
    if (status == TM_OK && right)
        status = time_kernels(gpu, p, &t, result, effort, &right);

    result->exact = true;
    snprintf(result->check, sizeof result->check, "%s", p->proof);
    if (status != TM_OK) {
        result->status = BENCH_FAILED;
        snprintf(result->note, sizeof result->note, "%s", gpu->message.text);
    } else if (!right) {
        result->status = BENCH_WRONG;
    }
    for (int i = 0; templates && i < count; i++)
        tm_template_destroy(&templates[i]);
    free(templates);
}
