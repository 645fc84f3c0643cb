/* SPDX-License-Identifier: MIT */
#include "gpu.h"

#include <stdio.h>

#include "cuda/estimate.h"

/* A batch of launches lasts about this long, so that an event's resolution and
 * the first launch's latency do not show. */
#define BATCH_MS 4.0
enum { MOST_LAUNCHES = 2000 };

const char *bench_gpu_open(bench_gpu *gpu, int index)
{
    const tm_device_settings settings = {.index = index};
    *gpu = (bench_gpu){.index = index};
    tm_status status = tm_cuda_load(&gpu->library, &gpu->message);
    if (status == TM_OK) {
        gpu->plugin = gpu->library.plugin;
        const int count = gpu->plugin->count(&gpu->message);
        if (count > index) {
            status = gpu->plugin->open(&gpu->cuda, &settings, &gpu->message);
        } else {
            status = TM_ERR_NO_DEVICE;
            if (count)
                snprintf(gpu->message.text, sizeof gpu->message.text, "only %d CUDA devices", count);
        }
    }
    if (status == TM_OK)
        return NULL;
    bench_gpu_close(gpu);
    return gpu->message.text;
}

void bench_gpu_close(bench_gpu *gpu)
{
    if (gpu->cuda)
        gpu->plugin->close(gpu->cuda);
    gpu->cuda = NULL;
    tm_cuda_unload(&gpu->library);
}

tm_status bench_job(tm_job *job, const tm_image *frame, const tm_template *tmpl, tm_metric metric,
                    tm_domain domain)
{
    *job = (tm_job){.metric = metric, .frame = *frame, .tmpl = tmpl};
    return tm_geometry_init(&job->geometry, domain, frame->width, frame->height, tmpl->width,
                            tmpl->height);
}

tm_plan bench_gpu_plan(const bench_gpu *gpu, const tm_job *job, tm_algorithm algorithm,
                       tm_strategy strategy)
{
    const tm_cuda_conditions resident = {.traits = gpu->plugin->traits(gpu->cuda)};
    tm_estimate estimate;
    tm_cuda_estimate(&estimate, &resident, job, algorithm, strategy);
    return tm_plan_choose(&estimate, algorithm, strategy);
}

tm_status bench_gpu_match(bench_gpu *gpu, tm_job *jobs, size_t count, tm_work *work)
{
    return gpu->plugin->match(gpu->cuda, jobs, count, work, &gpu->message);
}

static int launches_for(double one_ms)
{
    const double wanted = BATCH_MS / (one_ms > 1e-4 ? one_ms : 1e-4);
    return wanted < 1 ? 1 : wanted > MOST_LAUNCHES ? MOST_LAUNCHES : (int)wanted;
}

tm_status bench_gpu_replay(bench_gpu *gpu, double budget_ms, int *samples, double *ms)
{
    double one;

    /* The first gives the clocks time to rise, the second says how long one is. */
    tm_status status = gpu->plugin->replay(gpu->cuda, 1, 10, &one, &gpu->message);
    if (status == TM_OK)
        status = gpu->plugin->replay(gpu->cuda, 1, launches_for(one), &one, &gpu->message);
    while (status == TM_OK && *samples > 3 && *samples * one > 4 * budget_ms)
        --*samples;
    if (status == TM_OK)
        status = gpu->plugin->replay(gpu->cuda, *samples, launches_for(one), ms, &gpu->message);
    return status;
}
