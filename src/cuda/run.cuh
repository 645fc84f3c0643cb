/* SPDX-License-Identifier: MIT */
/* The way of one frame and its templates through the device. */
#ifndef TMATCH_CUDA_RUN_CUH
#define TMATCH_CUDA_RUN_CUH

#include "cuda/plugin.h"
#include "lcc/cuda/memory.cuh"

/* Runs the jobs: writes each one's best, map and peaks. */
cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count);

/* Whether there is a match to replay; and its device's part again, as tm_backend says. */
bool tm_can_replay(const tm_cuda *cuda);
cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms);

#endif
