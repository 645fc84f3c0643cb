/* SPDX-License-Identifier: MIT */
/* Frames in and maps out. */
#include <string.h>

#include "integers.h"
#include "lcc/cuda/context.cuh"

/* Of 256 KiB to 8 MiB, 1 and 2 were the quickest: they stay in a core's cache. */
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

tm_layout tm_layout_of(const tm_geometry *g)
{
    tm_layout l = {g->frame_width, g->frame_height, g->pad_x, g->pad_y, 0, 0};
    l.rows = g->map_height + g->template_height - 1 + TM_SLACK_ROWS;
    l.pitch = (size_t)round_up(g->map_width + g->template_width - 1 + TM_SLACK_COLUMNS, 256);
    return l;
}

bool tm_layout_equal(const tm_layout *a, const tm_layout *b)
{
    return a->frame_width == b->frame_width && a->frame_height == b->frame_height &&
           a->pad_x == b->pad_x && a->pad_y == b->pad_y && a->rows == b->rows &&
           a->pitch == b->pitch;
}

cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job, bool *copied)
{
    const tm_layout l = tm_layout_of(&job->geometry);

    if (tm_layout_equal(&l, &cuda->layout))
        return cudaSuccess;
    *copied = false;
    cuda->layout = (tm_layout){};
    TRY(tm_buffer_fit(&cuda->frame, (size_t)l.rows * l.pitch));
    /* kernels of another template may still read the frame's old place */
    TRY(cudaEventRecord(cuda->computed[0], cuda->stream));
    TRY(cudaStreamWaitEvent(cuda->in, cuda->computed[0], 0));
    TRY(cudaMemsetAsync(cuda->frame.data, 0, (size_t)l.rows * l.pitch, cuda->in));
    cuda->layout = l;
    return cudaSuccess;
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

cudaError_t tm_await_upload(tm_cuda *cuda)
{
    TRY(cudaEventRecord(cuda->events[TM_EVENT_ON_DEVICE], cuda->in));
    return cudaStreamWaitEvent(cuda->stream, cuda->events[TM_EVENT_ON_DEVICE], 0);
}

cudaError_t tm_note_matched(tm_cuda *cuda)
{
    return cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream);
}

cudaError_t tm_upload_rows(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end)
{
    const tm_image *frame = &job->frame;
    const tm_layout *l = &cuda->layout;
    uint8_t *to = (uint8_t *)cuda->frame.data + (l->pad_y + first) * (int64_t)l->pitch + l->pad_x;

    if (first >= end)
        return cudaSuccess;
    return tm_upload(cuda, to, l->pitch, frame->samples + first * frame->stride, frame->stride,
                     (size_t)frame->width, end - first);
}

bool tm_job_has_map(const tm_job *job)
{
    return job->map.data || job->peaks;
}

cudaError_t tm_place_map(tm_cuda *cuda, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;

    if (!tm_job_has_map(job))
        return cudaSuccess;
    TRY(tm_buffer_fit(&cuda->map, (size_t)(g->map_width * g->map_height) * tm_job_element(job)));
    /* the map before it may still be on its way */
    TRY(cudaEventRecord(cuda->computed[1], cuda->out));
    return cudaStreamWaitEvent(cuda->stream, cuda->computed[1], 0);
}

cudaError_t tm_download_rows(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end)
{
    /* rows that were only made for their neighbours' peaks are another slice's */
    if (job->peaks) {
        first = first > job->first_row ? first : job->first_row;
        end = smaller(end, job->last_row);
    }
    const size_t row_bytes = (size_t)job->geometry.map_width * tm_job_element(job);
    const uint8_t *from = (const uint8_t *)cuda->map.data + (size_t)first * row_bytes;
    uint8_t *to = (uint8_t *)job->map.data + first * job->map.stride;
    tm_staging *staging = &cuda->staging_out;
    const int64_t height = end - first;

    if (first >= end)
        return cudaSuccess;
    cuda->bytes_out += height * (int64_t)row_bytes;
    if (tm_is_pinned(to, job->map.stride, height, row_bytes))
        return cudaMemcpy2DAsync(to, (size_t)job->map.stride, from, row_bytes, row_bytes,
                                 (size_t)height, cudaMemcpyDeviceToHost, cuda->out);
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
            memcpy(to + (y + row) * job->map.stride,
                   staging->memory[(i - 1) % 2] + (size_t)row * row_bytes, row_bytes);
    }
    return cudaSuccess;
}
