/* SPDX-License-Identifier: MIT */
/* The way of one frame and its templates through the device. */
#ifndef TMATCH_CUDA_RUN_CUH
#define TMATCH_CUDA_RUN_CUH

#include "cuda/plugin.h"
#include "lcc/cuda/memory.cuh"

/* What scored says until it is known: windows are left out; they were, but too many were left, and
 * best is wrong; or they were by tm_may_leave_out, and it is wrong or not there. */
#define TM_LEFT_OUT (-1)
#define TM_TOO_MANY (-2)
#define TM_NOT_KNOWN (-3)

/* Runs the jobs: writes each one's best, map and peaks. */
cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count);

/* Whether there is a match to replay; and its device's part again, as tm_backend says. */
bool tm_can_replay(const tm_cuda *cuda);
cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms);

#endif
