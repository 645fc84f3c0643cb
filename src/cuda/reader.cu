/* SPDX-License-Identifier: MIT */
#include "cuda/reader.cuh"

#include <stdio.h>
#include <stdlib.h>

#include "cuda/on_device.cuh"

static cudaError_t make(tm_cuda *cuda, tm_reader **reader, size_t size)
{
    tm_reader *r = (tm_reader *)calloc(1, sizeof *r);
    if (!r)
        return cudaErrorMemoryAllocation;
    *reader = r;
    r->index = cuda->index;
    r->driver = cuda->driver;
    TRY_CUDA(cudaHostAlloc(&r->pinned, size, cudaHostAllocPortable));
    return TM_CALL(cudaEventCreateWithFlags(&r->copied, cudaEventDisableTiming));
}

cudaError_t tm_reader_start(tm_cuda *cuda, tm_reader **reader, cudaStream_t stream, const void *memory, size_t most,
                            size_t size, tm_message *refusal)
{
    if (!tm_lies_here(cuda, "what is to be read lies", memory, refusal) ||
        !tm_lies_here(cuda, "what is to be read lies", (const uint8_t *)memory + size - 1, refusal))
        return cudaSuccess;
    if (!*reader)
        TRY(make(cuda, reader, most));
    tm_reader *r = *reader;
    const cudaError_t error = TM_CALL(cudaMemcpyAsync(r->pinned, memory, size, cudaMemcpyDeviceToHost, stream));
    if (error == cudaErrorInvalidResourceHandle || error == cudaErrorContextIsDestroyed) {
        cudaGetLastError();
        snprintf(refusal->text, sizeof refusal->text, "the stream is not one of cuda:%d's", cuda->index);
        return cudaSuccess;
    }
    TRY(error);
    const cudaError_t recorded = TM_CALL(cudaEventRecord(r->copied, stream));
    if (recorded != cudaSuccess)
        (void)TM_CALL(cudaStreamSynchronize(stream)); /* the copy is under way */
    return recorded;
}

cudaError_t tm_reader_bytes(tm_reader *reader, bool wait, const void **bytes)
{
    const cudaError_t error = wait ? cudaEventSynchronize(reader->copied) : cudaEventQuery(reader->copied);
    *bytes = error == cudaSuccess ? reader->pinned : NULL;
    if (error == cudaErrorNotReady)
        cudaGetLastError();
    return error == cudaErrorNotReady ? cudaSuccess : error;
}

void tm_reader_free(tm_reader *reader)
{
    if (reader->copied) {
        cudaEventSynchronize(reader->copied);
        cudaEventDestroy(reader->copied);
    }
    cudaFreeHost(reader->pinned);
    free(reader);
}
