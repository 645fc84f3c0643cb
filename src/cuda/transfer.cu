/* SPDX-License-Identifier: MIT */
#include "cuda/transfer.cuh"

#include <string.h>

#include "cuda/context.cuh"
#include "integers.h"

/* From 256 KiB to 8 MiB, sizes of 1 and 2 MiB were the quickest: they stay in a core's cache. */
#define STAGING_BYTES ((size_t)2 << 20)

void tm_staging_free(tm_staging *staging)
{
    for (int i = 0; i < 2; i++) {
        if (staging->done[i])
            cudaEventDestroy(staging->done[i]);
        cudaFreeHost(staging->memory[i]);
    }
    *staging = (tm_staging){};
}

static cudaError_t fit_staging(tm_staging *staging, size_t row_bytes, cudaStream_t stream)
{
    if (staging->size >= row_bytes)
        return cudaSuccess;
    TRY(cudaStreamSynchronize(stream));
    tm_staging_free(staging);
    const size_t size = row_bytes > STAGING_BYTES ? row_bytes : STAGING_BYTES;
    for (int i = 0; i < 2; i++) {
        TRY(cudaMallocHost((void **)&staging->memory[i], size));
        TRY(cudaEventCreateWithFlags(&staging->done[i], cudaEventDisableTiming));
    }
    staging->size = size;
    return cudaSuccess;
}

static bool is_pinned_at(const void *data)
{
    cudaPointerAttributes attributes;
    const bool known = cudaPointerGetAttributes(&attributes, data) == cudaSuccess;
    cudaGetLastError();
    return known && attributes.type == cudaMemoryTypeHost;
}

bool tm_is_pinned(const void *rows, ptrdiff_t stride, int64_t count, size_t row_bytes)
{
    return stride >= (ptrdiff_t)row_bytes && is_pinned_at(rows) &&
           is_pinned_at((const uint8_t *)rows + (count - 1) * stride + row_bytes - 1);
}

cudaError_t tm_wait_for(tm_cuda *cuda, cudaStream_t waiting, cudaStream_t other)
{
    TRY(cudaEventRecord(cuda->reached, other));
    return cudaStreamWaitEvent(waiting, cuda->reached, 0);
}

cudaError_t tm_upload(tm_cuda *cuda, uint8_t *to, size_t pitch, const uint8_t *from,
                      ptrdiff_t stride, size_t row_bytes, int64_t height)
{
    tm_staging *staging = &cuda->staging_in;

    cuda->bytes_in += height * (int64_t)row_bytes;
    if (tm_is_pinned(from, stride, height, row_bytes))
        return cudaMemcpy2DAsync(to, pitch, from, (size_t)stride, row_bytes, (size_t)height,
                                 cudaMemcpyHostToDevice, cuda->in);
    TRY(fit_staging(staging, row_bytes, cuda->in));
    const int64_t step = (int64_t)(staging->size / row_bytes);
    for (int64_t y = 0; y < height; y += step) {
        const int64_t rows = smaller(step, height - y);
        const int turn = staging->turn = !staging->turn;
        uint8_t *memory = staging->memory[turn];
        TRY(cudaEventSynchronize(staging->done[turn]));
        for (int64_t row = 0; row < rows; row++)
            memcpy(memory + (size_t)row * row_bytes, from + (y + row) * stride, row_bytes);
        TRY(cudaMemcpy2DAsync(to + y * (int64_t)pitch, pitch, memory, row_bytes, row_bytes,
                              (size_t)rows, cudaMemcpyHostToDevice, cuda->in));
        TRY(cudaEventRecord(staging->done[turn], cuda->in));
    }
    return cudaSuccess;
}

cudaError_t tm_download(tm_cuda *cuda, uint8_t *to, ptrdiff_t stride, const uint8_t *from,
                        size_t row_bytes, int64_t height)
{
    tm_staging *staging = &cuda->staging_out;

    cuda->bytes_out += height * (int64_t)row_bytes;
    if (tm_is_pinned(to, stride, height, row_bytes))
        return cudaMemcpy2DAsync(to, (size_t)stride, from, row_bytes, row_bytes, (size_t)height,
                                 cudaMemcpyDeviceToHost, cuda->out);
    TRY(fit_staging(staging, row_bytes, cuda->out));
    const int64_t step = (int64_t)(staging->size / row_bytes);
    const int64_t steps = (height + step - 1) / step;
    for (int64_t i = 0; i <= steps; i++) {
        if (i < steps) {
            const int64_t y = i * step, rows = smaller(step, height - y);
            TRY(cudaMemcpyAsync(staging->memory[i % 2], from + (size_t)y * row_bytes,
                                (size_t)rows * row_bytes, cudaMemcpyDeviceToHost, cuda->out));
            TRY(cudaEventRecord(staging->done[i % 2], cuda->out));
        }
        if (i == 0)
            continue;
        const int64_t y = (i - 1) * step, rows = smaller(step, height - y);
        TRY(cudaEventSynchronize(staging->done[(i - 1) % 2]));
        for (int64_t row = 0; row < rows; row++)
            memcpy(to + (y + row) * stride, staging->memory[(i - 1) % 2] + (size_t)row * row_bytes,
                   row_bytes);
    }
    return cudaSuccess;
}

cudaError_t tm_await_upload(tm_cuda *cuda)
{
    TRY(cudaEventRecord(cuda->events[TM_EVENT_ON_DEVICE], cuda->in));
    return cudaStreamWaitEvent(cuda->stream, cuda->events[TM_EVENT_ON_DEVICE], 0);
}

cudaError_t tm_note_matched(tm_cuda *cuda)
{
    return cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream);
}
