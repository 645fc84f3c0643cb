/* SPDX-License-Identifier: MIT */
/* Frames, maps and best matches in the caller's device memory, in the order of the caller's stream. */
#ifndef TMATCH_CUDA_ON_DEVICE_CUH
#define TMATCH_CUDA_ON_DEVICE_CUH

#include "cuda/plugin.h"
#include "lcc/cuda/memory.cuh"

/* tm_backend's accept, hand_over and fetch in the device's context. Where the caller is to blame they
 * write why to refusal, and return cudaSuccess. */
cudaError_t tm_accept(tm_cuda *cuda, tm_job *jobs, size_t count, tm_message *refusal);
cudaError_t tm_hand_over(tm_cuda *cuda, const tm_on_device *frame);
cudaError_t tm_fetch_picture(tm_cuda *cuda, const tm_image *image, const tm_on_device *place,
                             uint8_t *samples, uint8_t *mask, tm_message *refusal);

/* Whether the memory is the device's; where it lies elsewhere, refusal begins with name. */
bool tm_lies_here(const tm_cuda *cuda, const char *name, const void *memory, tm_message *refusal);

/* Whether nobody waits for the jobs, all of one call. */
static inline bool tm_is_async(const tm_job *jobs)
{
    return jobs->on_device && jobs->on_device->async;
}

/* At a match's beginning: what nobody waited for is done before memory is written anew. */
cudaError_t tm_begin_on_device(tm_cuda *cuda, const tm_job *jobs);

/* Copies rows [first, first + rows) of the job's frame, or of its mask, to rows of a pitch. */
cudaError_t tm_gather_samples(tm_cuda *cuda, uint8_t *to, size_t pitch, const tm_job *job, int64_t first,
                              int64_t rows);
cudaError_t tm_gather_mask(tm_cuda *cuda, uint8_t *to, const tm_job *job, int64_t first, int64_t rows);

/* Looks for samples that are not finite in packed floats, the frame's rows from first on. */
cudaError_t tm_check_floats(tm_cuda *cuda, const float *samples, const tm_job *job, int64_t first,
                            int64_t rows);

/* Copies what was found to page-locked memory; and says, when it is there, what is wrong, if anything:
 * false where a sample is not finite. */
cudaError_t tm_ask_floats(tm_cuda *cuda, const tm_job *jobs, uint64_t *pinned);
bool tm_are_finite(const tm_job *jobs, uint64_t answer, tm_message *refusal);

/* Writes the best match of each job, of which found has a candidate each, where the caller wants it. */
cudaError_t tm_deliver(tm_cuda *cuda, const tm_job *jobs, size_t count, const tm_candidate *found);

#endif
