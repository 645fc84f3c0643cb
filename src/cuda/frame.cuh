/* SPDX-License-Identifier: MIT */
/* The frame and the map on the device: where they lie, and how their rows come and go. */
#ifndef TMATCH_CUDA_FRAME_CUH
#define TMATCH_CUDA_FRAME_CUH

#include "cuda/plugin.h"
#include "cuda/schedule.h"
#include "lcc/cuda/planes/planes.cuh"

/* A frame's memory on the device. */
typedef struct tm_device_frame {
    tm_buffer memory;
    tm_frame_place place; /* all zero: none */
    int64_t rows;         /* that the running match has brought there */
} tm_device_frame;

/* At a match's beginning: the device has no rows of its frame. */
void tm_forget_frame(tm_cuda *cuda);

/* Makes the place for a job's frame. Rows that a job before has brought there stay if the
 * place is the same. */
cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job);

/* Brings the frame's first rows to their place, as far as they are not there yet. Kernels
 * that are launched from then on see them. */
cudaError_t tm_bring_frame(tm_cuda *cuda, const tm_job *job, int64_t rows);

/* Rows [first, end) of a frame that is not 8-bit gray. */
tm_raw_frame tm_raw_rows(const tm_cuda *cuda, const tm_image *frame, int64_t first, int64_t end);

/* Whether the job makes a map on the device; and the place for it, which kernels launched
 * from then on may write. */
bool tm_job_has_map(const tm_job *job);
cudaError_t tm_place_map(tm_cuda *cuda, const tm_job *job);

/* Whether the map comes back through staging, for which the caller's memory is not pinned. */
bool tm_map_is_staged(const tm_job *job);

/* Copies rows [first, end) of the map to the caller's, as tm_download does, when the kernels
 * launched so far are done. Rows of another slice are left out. */
cudaError_t tm_bring_map_back(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end);

#endif
