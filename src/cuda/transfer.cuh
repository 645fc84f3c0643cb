/* SPDX-License-Identifier: MIT */
/* Rows of the caller's memory to the device and back. */
#ifndef TMATCH_CUDA_TRANSFER_CUH
#define TMATCH_CUDA_TRANSFER_CUH

#include "cuda/plugin.h"
#include "lcc/cuda/memory.cuh"

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

/* Copies rows to the device, and rows of a dense map to the host. The second returns when
 * they have arrived, unless the host's memory is pinned. */
cudaError_t tm_upload(tm_cuda *cuda, uint8_t *to, size_t pitch, const uint8_t *from,
                      ptrdiff_t stride, size_t row_bytes, int64_t rows);
cudaError_t tm_download(tm_cuda *cuda, uint8_t *to, ptrdiff_t stride, const uint8_t *from,
                        size_t row_bytes, int64_t rows);

/* Lets kernels that are launched from now on wait for the uploads so far. */
cudaError_t tm_await_upload(tm_cuda *cuda);

/* Takes the time at which the launches so far are done. Asked for before a download, which
 * may block. */
cudaError_t tm_note_matched(tm_cuda *cuda);

#endif
