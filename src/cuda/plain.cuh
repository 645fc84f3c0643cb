/* SPDX-License-Identifier: MIT */
/* Matches of 8-bit gray frames: the kernels take the frame as it lies on the device. */
#ifndef TMATCH_CUDA_PLAIN_CUH
#define TMATCH_CUDA_PLAIN_CUH

#include "cuda/launch.cuh"

/* How many best candidates a group of jobs writes: one of each job for each chunk. */
size_t tm_plain_bests(const tm_cuda *cuda, const tm_job *jobs, size_t count);

/* Runs a group of jobs, whose best candidates go to bests in device memory, and with the last
 * chunk the context's search for peaks. *launch becomes what tm_launch_start repeats for the
 * whole map. */
cudaError_t tm_plain_run(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_candidate *bests,
                         tm_launch *launch);

/* Sets the jobs' best from what tm_plain_run has written. */
void tm_plain_merge(const tm_cuda *cuda, tm_job *jobs, size_t count, const tm_candidate *bests);

#endif
