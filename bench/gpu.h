/* SPDX-License-Identifier: MIT */
/* A CUDA device through the plugin's interface, which has what the public API has
 * not: the kernels alone, resident, back to back. */
#ifndef TMATCH_BENCH_GPU_H
#define TMATCH_BENCH_GPU_H

#include "bench.h"
#include "match/cuda_loader.h"
#include "match/plan.h"

struct bench_gpu {
    tm_cuda_library library;
    const tm_backend *plugin;
    tm_device *cuda;
    tm_message message; /* of the last call that failed */
    int index;
};

/* Returns the fault, or NULL. */
const char *bench_gpu_open(bench_gpu *gpu, int index);
void bench_gpu_close(bench_gpu *gpu);

/* Makes a job for the best match and sets its geometry. */
tm_status bench_job(tm_job *job, const tm_image *frame, const tm_template *tmpl, tm_metric metric,
                    tm_domain domain);

/* Plans as the matcher does for a frame that is on the device already. */
tm_plan bench_gpu_plan(const bench_gpu *gpu, const tm_job *job, tm_algorithm algorithm,
                       tm_strategy strategy);

tm_status bench_gpu_match(bench_gpu *gpu, tm_job *jobs, size_t count, tm_work *work);

/* Repeats the last match: writes to ms the means of *samples batches of launches, or
 * of fewer, at least 3, where those take long beside the budget. */
tm_status bench_gpu_replay(bench_gpu *gpu, double budget_ms, int *samples, double *ms);

#endif
