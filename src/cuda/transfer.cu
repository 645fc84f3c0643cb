/* SPDX-License-Identifier: MIT */
#include "cuda/transfer.cuh"

#include <string.h>

#include "cuda/context.cuh"
#include "cuda/on_device.cuh"
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
    TRY_CUDA(cudaStreamSynchronize(stream));
    tm_staging_free(staging);
    staging->size = row_bytes > STAGING_BYTES ? row_bytes : STAGING_BYTES;
    return cudaSuccess;
}

/* Makes one of the two, or waits until nothing uses it any longer. To make one takes about a millisecond. */
static cudaError_t take_staging(tm_staging *staging, int i)
{
    if (!staging->done[i])
        TRY_CUDA(cudaEventCreateWithFlags(&staging->done[i], cudaEventDisableTiming));
    if (!staging->memory[i])
        return TM_CALL(cudaMallocHost((void **)&staging->memory[i], staging->size));
    return TM_CALL(cudaEventSynchronize(staging->done[i]));
}

static bool is_pinned_at(const void *data)
{
    cudaPointerAttributes attributes;
    const bool known = TM_CALL(cudaPointerGetAttributes(&attributes, data)) == cudaSuccess;
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
    TRY_CUDA(cudaEventRecord(cuda->reached, other));
    return TM_CALL(cudaStreamWaitEvent(waiting, cuda->reached, 0));
}

cudaError_t tm_upload(tm_cuda *cuda, uint8_t *to, size_t pitch, const uint8_t *from,
                      ptrdiff_t stride, size_t row_bytes, int64_t height)
{
    tm_staging *staging = &cuda->staging_in;
    const bool first = cuda->bytes_in == 0; /* of its match: small frames need no second half */

    cuda->bytes_in += height * (int64_t)row_bytes;
    if (tm_is_pinned(from, stride, height, row_bytes))
        return TM_CALL(cudaMemcpy2DAsync(to, pitch, from, (size_t)stride, row_bytes, (size_t)height,
                                         cudaMemcpyHostToDevice, cuda->in));
    TRY(fit_staging(staging, row_bytes, cuda->in));
    const int64_t step = (int64_t)(staging->size / row_bytes);
    for (int64_t y = 0; y < height; y += step) {
        const int64_t rows = smaller(step, height - y);
        const int turn = first && y == 0 ? staging->turn : !staging->turn;
        staging->turn = turn;
        TRY(take_staging(staging, turn));
        uint8_t *memory = staging->memory[turn];
        for (int64_t row = 0; row < rows; row++)
            memcpy(memory + (size_t)row * row_bytes, from + (y + row) * stride, row_bytes);
        TRY_CUDA(cudaMemcpy2DAsync(to + y * (int64_t)pitch, pitch, memory, row_bytes, row_bytes,
                                   (size_t)rows, cudaMemcpyHostToDevice, cuda->in));
        TRY_CUDA(cudaEventRecord(staging->done[turn], cuda->in));
    }
    return cudaSuccess;
}

/* Copies rows of a dense map to the host. */
static cudaError_t download(tm_cuda *cuda, uint8_t *to, ptrdiff_t stride, const uint8_t *from,
                            size_t row_bytes, int64_t height)
{
    tm_staging *staging = &cuda->staging_out;

    cuda->bytes_out += height * (int64_t)row_bytes;
    if (tm_is_pinned(to, stride, height, row_bytes))
        return TM_CALL(cudaMemcpy2DAsync(to, (size_t)stride, from, row_bytes, row_bytes, (size_t)height,
                                         cudaMemcpyDeviceToHost, cuda->out));
    TRY(fit_staging(staging, row_bytes, cuda->out));
    const int64_t step = (int64_t)(staging->size / row_bytes);
    const int64_t steps = (height + step - 1) / step;
    for (int64_t i = 0; i <= steps; i++) {
        if (i < steps) {
            const int64_t y = i * step, rows = smaller(step, height - y);
            TRY(take_staging(staging, (int)(i % 2)));
            TRY_CUDA(cudaMemcpyAsync(staging->memory[i % 2], from + (size_t)y * row_bytes,
                                     (size_t)rows * row_bytes, cudaMemcpyDeviceToHost, cuda->out));
            TRY_CUDA(cudaEventRecord(staging->done[i % 2], cuda->out));
        }
        if (i == 0)
            continue;
        const int64_t y = (i - 1) * step, rows = smaller(step, height - y);
        TRY_CUDA(cudaEventSynchronize(staging->done[(i - 1) % 2]));
        for (int64_t row = 0; row < rows; row++)
            memcpy(to + (y + row) * stride, staging->memory[(i - 1) % 2] + (size_t)row * row_bytes,
                   row_bytes);
    }
    return cudaSuccess;
}

cudaError_t tm_await_upload(tm_cuda *cuda)
{
    TRY_CUDA(cudaEventRecord(cuda->events[TM_EVENT_ON_DEVICE], cuda->in));
    return TM_CALL(cudaStreamWaitEvent(cuda->stream, cuda->events[TM_EVENT_ON_DEVICE], 0));
}

cudaError_t tm_note_matched(tm_cuda *cuda)
{
    return TM_CALL(cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream));
}

void tm_forget_frame(tm_cuda *cuda)
{
    cuda->plain.rows = cuda->raw.rows = 0;
    cuda->raw.copy = (tm_frame_copy){}; /* the caller's memory may hold another frame */
}

/* Zeros surround the frame; they are written only where the layout has changed. */
static cudaError_t prepare_plain(tm_cuda *cuda, tm_device_frame *frame, const tm_layout *layout)
{
    const size_t size = (size_t)layout->rows * layout->pitch;
    TRY(tm_buffer_fit(&frame->memory, size));
    /* kernels of another template may still read what lies there */
    TRY(tm_wait_for(cuda, cuda->in, cuda->stream));
    return TM_CALL(cudaMemsetAsync(frame->memory.data, 0, size, cuda->in));
}

/* All samples of the slice, then its mask. New memory is cleared: whole words and 16 bytes at once are read, of which some end behind the
 * last row that is there (lcc/cuda/tensor/pixel_rows.cuh, bound_pixels.cuh). */
static cudaError_t prepare_raw(tm_cuda *cuda, tm_device_frame *frame, const tm_image *image)
{
    const int64_t mask = image->mask ? image->width : 0;
    const size_t before = frame->memory.size;

    TRY(tm_buffer_fit(&frame->memory, (size_t)(ceil_div((tm_image_row_bytes(image) + mask) * image->height, 16) * 16)));
    if (frame->memory.size != before)
        TRY_CUDA(cudaMemsetAsync(frame->memory.data, 0, frame->memory.size, cuda->in));
    /* kernels of another template may still read its slice of the frame */
    return tm_wait_for(cuda, cuda->in, cuda->stream);
}

cudaError_t tm_prepare_frame(tm_cuda *cuda, const tm_job *job)
{
    const tm_frame_copy copy = tm_frame_copy_of(job);
    tm_device_frame *frame = copy.is_plain ? &cuda->plain : &cuda->raw;

    if (tm_frame_copy_equal(&copy, &frame->copy))
        return cudaSuccess;
    frame->rows = 0;
    frame->copy = (tm_frame_copy){};
    TRY(copy.is_plain ? prepare_plain(cuda, frame, &copy.layout)
                      : prepare_raw(cuda, frame, &job->frame));
    frame->copy = copy;
    return cudaSuccess;
}

static cudaError_t upload_plain(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t rows)
{
    const tm_layout *l = &cuda->plain.copy.layout;
    const tm_image *image = &job->frame;
    uint8_t *to = (uint8_t *)cuda->plain.memory.data + (l->pad_y + first) * (int64_t)l->pitch;
    if (job->on_device)
        return tm_gather_samples(cuda, to + l->pad_x, l->pitch, job, first, rows);
    return tm_upload(cuda, to + l->pad_x, l->pitch, image->samples + first * image->stride,
                     image->stride, (size_t)image->width, rows);
}

/* The same of memory that is the device's already. */
static cudaError_t gather_raw(tm_cuda *cuda, const tm_job *job, uint8_t *samples, uint8_t *mask,
                              int64_t first, int64_t rows)
{
    TRY(tm_gather_samples(cuda, samples, (size_t)tm_image_row_bytes(&job->frame), job, first, rows));
    if (tm_job_is_f32(job))
        TRY(tm_check_floats(cuda, (const float *)samples, job, first, rows));
    return job->frame.mask ? tm_gather_mask(cuda, mask, job, first, rows) : cudaSuccess;
}

static cudaError_t upload_raw(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t rows)
{
    const tm_image *image = &job->frame;
    const size_t row = (size_t)tm_image_row_bytes(image), width = (size_t)image->width;
    uint8_t *samples = (uint8_t *)cuda->raw.memory.data;
    uint8_t *mask = samples + row * (size_t)image->height;

    if (job->on_device)
        return gather_raw(cuda, job, samples + (size_t)first * row, mask + (size_t)first * width, first, rows);
    TRY(tm_upload(cuda, samples + (size_t)first * row, row, image->samples + first * image->stride,
                  image->stride, row, rows));
    if (image->mask)
        TRY(tm_upload(cuda, mask + (size_t)first * width, width,
                      image->mask + first * image->mask_stride, image->mask_stride, width, rows));
    return cudaSuccess;
}

cudaError_t tm_bring_frame(tm_cuda *cuda, const tm_job *job, int64_t rows)
{
    const bool is_plain = tm_job_is_plain(job);
    tm_device_frame *frame = is_plain ? &cuda->plain : &cuda->raw;
    const int64_t first = frame->rows;

    if (first >= rows)
        return cudaSuccess;
    TRY(is_plain ? upload_plain(cuda, job, first, rows - first)
                 : upload_raw(cuda, job, first, rows - first));
    frame->rows = rows;
    return tm_await_upload(cuda);
}

tm_raw_frame tm_raw_rows(const tm_cuda *cuda, const tm_image *frame, int64_t first, int64_t end)
{
    const int64_t row = tm_image_row_bytes(frame);
    const uint8_t *samples = (const uint8_t *)cuda->raw.memory.data;
    return (tm_raw_frame){samples + first * row,
                          samples + frame->height * row + first * frame->width,
                          frame->width,
                          end - first,
                          tm_image_channels(frame),
                          (int)tm_sample_size(frame->type)};
}

bool tm_job_has_map(const tm_job *job)
{
    return job->map.data || job->peaks;
}

cudaError_t tm_prepare_map(tm_cuda *cuda, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;

    if (!tm_job_has_map(job))
        return cudaSuccess;
    TRY(tm_buffer_fit(&cuda->map, (size_t)(g->map_width * g->map_height) * tm_job_element(job)));
    /* the map before it may still be on its way */
    return tm_wait_for(cuda, cuda->stream, cuda->out);
}

cudaError_t tm_find_staging(tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    job->map_staged = job->map.data && !job->map_on_device &&
                      !tm_is_pinned(job->map.data, job->map.stride, g->map_height,
                                    (size_t)g->map_width * tm_job_element(job));
    return tm_is_given_up() ? TM_GIVEN_UP : cudaSuccess;
}

cudaError_t tm_bring_map_back(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end)
{
    const size_t row_bytes = (size_t)job->geometry.map_width * tm_job_element(job);

    TRY(tm_wait_for(cuda, cuda->out, cuda->stream));
    /* rows that were only made for their neighbours' peaks are another slice's */
    if (job->peaks) {
        first = larger(first, job->first_row);
        end = smaller(end, job->last_row);
    }
    if (first >= end)
        return cudaSuccess;
    uint8_t *to = (uint8_t *)job->map.data + first * job->map.stride;
    const uint8_t *from = (const uint8_t *)cuda->map.data + (size_t)first * row_bytes;
    if (job->map_on_device)
        return TM_CALL(cudaMemcpy2DAsync(to, (size_t)larger(job->map.stride, (int64_t)row_bytes), from,
                                         row_bytes, row_bytes, (size_t)(end - first),
                                         cudaMemcpyDeviceToDevice, cuda->out));
    return download(cuda, to, job->map.stride, from, row_bytes, end - first);
}
