/* SPDX-License-Identifier: MIT */
/* Matches of float pictures: one kernel makes all sums of a window and its score. */
#ifndef TMATCH_CUDA_F32_CUH
#define TMATCH_CUDA_F32_CUH

#include "cuda/chunks.cuh"

/* Brings the template to the device. */
cudaError_t tm_f32_bring_taps(tm_cuda *cuda, const tm_job *job);

/* The template is there, and room for the frame and the map. *best is device memory. */
cudaError_t tm_f32_run(tm_cuda *cuda, const tm_job *job, const tm_walk *walk, tm_candidate *best);

#endif
