/* SPDX-License-Identifier: MIT */
/* Copies of device memory to the host that nobody waits for. */
#ifndef TMATCH_CUDA_READER_CUH
#define TMATCH_CUDA_READER_CUH

#include "cuda/context.cuh"
#include "cuda/plugin.h"
#include "lcc/cuda/memory.cuh"

struct tm_reader {
    int index;
    tm_driver driver;
    void *pinned;
    cudaEvent_t copied;
};

/* tm_backend's read_start, read_bytes and read_free in the device's context. A reader that could not be made
 * is *reader all the same, to be freed. Where the caller is to blame, start writes why to refusal, and returns cudaSuccess. */
cudaError_t tm_reader_start(tm_cuda *cuda, tm_reader **reader, cudaStream_t stream, const void *memory, size_t most,
                            size_t size, tm_message *refusal);
cudaError_t tm_reader_bytes(tm_reader *reader, bool wait, const void **bytes);
void tm_reader_free(tm_reader *reader);

#endif
