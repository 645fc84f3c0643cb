/* SPDX-License-Identifier: MIT */
#include "cuda/frame.cuh"

#include "cuda/context.cuh"
#include "integers.h"

void tm_forget_frame(tm_cuda *cuda)
{
    cuda->plain.rows = cuda->raw.rows = 0;
    cuda->raw.place = (tm_frame_place){}; /* the caller's memory may hold another frame */
}

/* Zeros surround the frame; they are written only where the layout has changed. */
static cudaError_t place_plain(tm_cuda *cuda, tm_device_frame *frame, const tm_layout *layout)
{
    const size_t size = (size_t)layout->rows * layout->pitch;
    TRY(tm_buffer_fit(&frame->memory, size));
    /* kernels of another template may still read what lies there */
    TRY(tm_wait_for(cuda, cuda->in, cuda->stream));
    return cudaMemsetAsync(frame->memory.data, 0, size, cuda->in);
}

/* All samples of the slice, then its mask. */
static cudaError_t place_raw(tm_cuda *cuda, tm_device_frame *frame, const tm_image *image)
{
    const int64_t mask = image->mask ? image->width : 0;
    TRY(tm_buffer_fit(&frame->memory,
                      (size_t)((tm_image_row_bytes(image) + mask) * image->height)));
    /* kernels of another template may still read its slice of the frame */
    return tm_wait_for(cuda, cuda->in, cuda->stream);
}

cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job)
{
    const tm_frame_place place = tm_frame_place_of(job);
    tm_device_frame *frame = place.is_plain ? &cuda->plain : &cuda->raw;

    if (tm_frame_place_equal(&place, &frame->place))
        return cudaSuccess;
    frame->rows = 0;
    frame->place = (tm_frame_place){};
    TRY(place.is_plain ? place_plain(cuda, frame, &place.layout)
                       : place_raw(cuda, frame, &job->frame));
    frame->place = place;
    return cudaSuccess;
}

static cudaError_t upload_plain(tm_cuda *cuda, const tm_image *image, int64_t first, int64_t rows)
{
    const tm_layout *l = &cuda->plain.place.layout;
    uint8_t *to = (uint8_t *)cuda->plain.memory.data + (l->pad_y + first) * (int64_t)l->pitch;
    return tm_upload(cuda, to + l->pad_x, l->pitch, image->samples + first * image->stride,
                     image->stride, (size_t)image->width, rows);
}

static cudaError_t upload_raw(tm_cuda *cuda, const tm_image *image, int64_t first, int64_t rows)
{
    const size_t row = (size_t)tm_image_row_bytes(image), width = (size_t)image->width;
    uint8_t *samples = (uint8_t *)cuda->raw.memory.data;
    uint8_t *mask = samples + row * (size_t)image->height;

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
    TRY(is_plain ? upload_plain(cuda, &job->frame, first, rows - first)
                 : upload_raw(cuda, &job->frame, first, rows - first));
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

cudaError_t tm_place_map(tm_cuda *cuda, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;

    if (!tm_job_has_map(job))
        return cudaSuccess;
    TRY(tm_buffer_fit(&cuda->map, (size_t)(g->map_width * g->map_height) * tm_job_element(job)));
    /* the map before it may still be on its way */
    return tm_wait_for(cuda, cuda->stream, cuda->out);
}

bool tm_map_is_staged(const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    return job->map.data && !tm_is_pinned(job->map.data, job->map.stride, g->map_height,
                                          (size_t)g->map_width * tm_job_element(job));
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
    return tm_download(cuda, (uint8_t *)job->map.data + first * job->map.stride, job->map.stride,
                       (const uint8_t *)cuda->map.data + (size_t)first * row_bytes, row_bytes,
                       end - first);
}
