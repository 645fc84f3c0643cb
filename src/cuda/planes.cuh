/* SPDX-License-Identifier: MIT */
/* Matches of integers other than 8-bit gray: the frame is split into planes of 8 bits, whose
 * products with the template's are made and scored band by band. */
#ifndef TMATCH_CUDA_PLANES_CUH
#define TMATCH_CUDA_PLANES_CUH

#include "cuda/chunks.cuh"

/* There is room for the frame and the map. *best is device memory. */
cudaError_t tm_planes_run(tm_cuda *cuda, const tm_job *job, const tm_walk *walk,
                          tm_candidate *best);

/* Runs jobs of 8-bit gray whose templates share a mask, of which its window sums are made once.
 * cudaErrorNotSupported: nothing was done. */
cudaError_t tm_planes_run_masked(tm_cuda *cuda, const tm_job *jobs, size_t count, const tm_walk *walk,
                                 tm_candidate *bests);

/* After a failure: nothing has been found by a rounded template. */
cudaError_t tm_rounded_reset(tm_cuda *cuda);

#endif
