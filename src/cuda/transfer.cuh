/* SPDX-License-Identifier: MIT */
/* Frames to the device and maps back: where they lie there, and how their rows come and go. */
#ifndef TMATCH_CUDA_TRANSFER_CUH
#define TMATCH_CUDA_TRANSFER_CUH

#include "cuda/plugin.h"
#include "cuda/schedule.h"
#include "lcc/cuda/planes/planes.cuh"

/* Pinned host memory in two halves: the host fills one while the bus copies the other. */
typedef struct tm_staging {
    uint8_t *memory[2];
    cudaEvent_t done[2]; /* the bus's last copy of each */
    int turn;            /* the half that was used last on the way in */
    size_t size;         /* of each */
} tm_staging;

void tm_staging_free(tm_staging *staging);

/* Whether the device can copy from and to these rows without staging. */
bool tm_is_pinned(const void *rows, ptrdiff_t stride, int64_t count, size_t row_bytes);

/* Lets whatever is launched on one stream from now on wait for the other so far. */
cudaError_t tm_wait_for(tm_cuda *cuda, cudaStream_t waiting, cudaStream_t other);

/* Copies rows to the device. */
cudaError_t tm_upload(tm_cuda *cuda, uint8_t *to, size_t pitch, const uint8_t *from,
                      ptrdiff_t stride, size_t row_bytes, int64_t rows);

/* Lets kernels that are launched from now on wait for the uploads so far. */
cudaError_t tm_await_upload(tm_cuda *cuda);

/* Takes the time at which the launches so far are done. It has to be asked for before
 * the map is brought back, which may block. */
cudaError_t tm_note_matched(tm_cuda *cuda);

/* A frame's memory on the device. */
typedef struct tm_device_frame {
    tm_buffer memory;
    tm_frame_copy copy; /* which it holds; all zero: none */
    int64_t rows;       /* that the running match has brought there */
} tm_device_frame;

/* At a match's beginning: the device has no rows of its frame. */
void tm_forget_frame(tm_cuda *cuda);

/* Makes room for the copy of the frame that a job takes. Rows that a job before has brought stay
 * if it took the same copy. */
cudaError_t tm_prepare_frame(tm_cuda *cuda, const tm_job *job);

/* Brings the frame's first rows from wherever they lie, as far as they are not there yet. Kernels that are launched from
 * then on see them. */
cudaError_t tm_bring_frame(tm_cuda *cuda, const tm_job *job, int64_t rows);

/* Rows [first, end) of a frame that is not 8-bit gray. */
tm_raw_frame tm_raw_rows(const tm_cuda *cuda, const tm_image *frame, int64_t first, int64_t end);

/* Whether the job makes a map on the device; and room for it, which kernels that are launched from
 * then on may write. */
bool tm_job_has_map(const tm_job *job);
cudaError_t tm_prepare_map(tm_cuda *cuda, const tm_job *job);

/* Sets map_staged, if the caller's memory is not pinned. */
cudaError_t tm_find_staging(tm_job *job);

/* Copies rows [first, end) of the map to the caller's when the kernels launched so far are done.
 * They have arrived when it returns, unless the caller's memory is pinned or the device's. Rows of another slice
 * are left out. */
cudaError_t tm_bring_map_back(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end);

#endif
