/* SPDX-License-Identifier: MIT */
/* Frames in and maps out. */
#include <string.h>

#include "integers.h"
#include "cuda/context.cuh"

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

bool tm_map_is_staged(const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    return job->map.data && !tm_is_pinned(job->map.data, job->map.stride, g->map_height,
                                          (size_t)g->map_width * tm_job_element(job));
}

tm_chunks tm_chunks_of(const tm_cuda *cuda, const tm_job *job)
{
    return tm_chunks_make(job, job->map.data, tm_map_is_staged(job) ? 0 : cuda->traits.chunk_bytes);
}

cudaError_t tm_wait_for(tm_cuda *cuda, cudaStream_t waiting, cudaStream_t other)
{
    TRY(cudaEventRecord(cuda->reached, other));
    return cudaStreamWaitEvent(waiting, cuda->reached, 0);
}

cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job)
{
    const tm_layout l = tm_layout_of(&job->geometry);

    if (tm_layout_equal(&l, &cuda->layout))
        return cudaSuccess;
    cuda->frame_rows = 0;
    cuda->layout = (tm_layout){};
    TRY(tm_buffer_fit(&cuda->frame, (size_t)l.rows * l.pitch));
    /* kernels of another template may still read the frame's old place */
    TRY(tm_wait_for(cuda, cuda->in, cuda->stream));
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

cudaError_t tm_bring_rows(tm_cuda *cuda, const tm_job *job, int64_t rows)
{
    const tm_image *frame = &job->frame;
    const tm_layout *l = &cuda->layout;
    const int64_t first = cuda->frame_rows;
    uint8_t *to = (uint8_t *)cuda->frame.data + (l->pad_y + first) * (int64_t)l->pitch + l->pad_x;

    if (first >= rows)
        return cudaSuccess;
    TRY(tm_upload(cuda, to, l->pitch, frame->samples + first * frame->stride, frame->stride,
                  (size_t)frame->width, rows - first));
    cuda->frame_rows = rows;
    return tm_await_upload(cuda);
}

cudaError_t tm_place_raw(tm_cuda *cuda, const tm_job *job)
{
    const tm_image *frame = &job->frame;
    const int64_t mask = frame->mask ? frame->width : 0; /* comes after all samples */

    if (frame->samples == cuda->raw_samples && frame->height == cuda->raw_height)
        return cudaSuccess;
    cuda->raw_samples = NULL;
    cuda->raw_rows = 0;
    TRY(tm_buffer_fit(&cuda->raw, (size_t)((tm_image_row_bytes(frame) + mask) * frame->height)));
    /* kernels of another template may still read its slice of the frame */
    TRY(tm_wait_for(cuda, cuda->in, cuda->stream));
    cuda->raw_samples = frame->samples;
    cuda->raw_height = frame->height;
    return cudaSuccess;
}

tm_raw_frame tm_raw_rows(const tm_cuda *cuda, const tm_image *frame, int64_t first, int64_t end)
{
    const int64_t row = tm_image_row_bytes(frame);
    const uint8_t *samples = (const uint8_t *)cuda->raw.data;
    return (tm_raw_frame){samples + first * row,
                          samples + frame->height * row + first * frame->width,
                          frame->width,
                          end - first,
                          tm_image_channels(frame),
                          (int)tm_sample_size(frame->type)};
}

cudaError_t tm_bring_raw(tm_cuda *cuda, const tm_job *job, int64_t rows)
{
    const tm_image *frame = &job->frame;
    const size_t row = (size_t)tm_image_row_bytes(frame), width = (size_t)frame->width;
    const int64_t first = cuda->raw_rows;
    uint8_t *samples = (uint8_t *)cuda->raw.data, *mask = samples + row * (size_t)frame->height;

    if (first >= rows)
        return cudaSuccess;
    TRY(tm_upload(cuda, samples + (size_t)first * row, row, frame->samples + first * frame->stride,
                  frame->stride, row, rows - first));
    if (frame->mask)
        TRY(tm_upload(cuda, mask + (size_t)first * width, width,
                      frame->mask + first * frame->mask_stride, frame->mask_stride, width,
                      rows - first));
    cuda->raw_rows = rows;
    return tm_await_upload(cuda);
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
    return tm_wait_for(cuda, cuda->stream, cuda->out);
}

cudaError_t tm_bring_back(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end)
{
    TRY(tm_wait_for(cuda, cuda->out, cuda->stream));
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
