/* SPDX-License-Identifier: MIT */
/* Frames in and maps out, through pinned memory in two turns, so that the host's
 * copy of one chunk overlaps the bus's copy of the other. */
#include <string.h>

#include "lcc/cuda/context.cuh"

#define STAGING_BYTES ((size_t)8 << 20)

static cudaError_t fit_staging(tm_cuda *cuda, size_t row_bytes)
{
    if (cuda->staging_size >= row_bytes)
        return cudaSuccess;
    cuda->staging_size = 0;
    TRY(cudaStreamSynchronize(cuda->stream));
    size_t size = row_bytes > STAGING_BYTES ? row_bytes : STAGING_BYTES;
    for (int i = 0; i < 2; i++) {
        cudaFreeHost(cuda->staging[i]);
        cuda->staging[i] = NULL;
    }
    for (int i = 0; i < 2; i++)
        TRY(cudaMallocHost((void **)&cuda->staging[i], size));
    cuda->staging_size = size;
    return cudaSuccess;
}

static int64_t round_up(int64_t value, int64_t to)
{
    return (value + to - 1) / to * to;
}

static tm_layout layout_of(const tm_geometry *g)
{
    tm_layout l = {g->frame_width, g->frame_height, g->pad_x, g->pad_y, 0, 0};
    l.rows = g->map_height + g->template_height - 1 + TM_SLACK_ROWS;
    l.pitch = (size_t)round_up(g->map_width + g->template_width - 1 + TM_SLACK_COLUMNS, 256);
    return l;
}

static bool layout_equal(const tm_layout *a, const tm_layout *b)
{
    return a->frame_width == b->frame_width && a->frame_height == b->frame_height &&
           a->pad_x == b->pad_x && a->pad_y == b->pad_y && a->rows == b->rows &&
           a->pitch == b->pitch;
}

cudaError_t tm_place_frame(tm_cuda *cuda, const tm_job *job, bool fresh)
{
    const tm_image *frame = &job->frame;
    tm_layout l = layout_of(&job->geometry);
    size_t width = (size_t)frame->width;

    if (layout_equal(&l, &cuda->layout)) {
        if (!fresh)
            return cudaSuccess;
    } else {
        cuda->layout = (tm_layout){};
        TRY(tm_buffer_fit(&cuda->frame, (size_t)l.rows * l.pitch));
        TRY(cudaMemsetAsync(cuda->frame.data, 0, (size_t)l.rows * l.pitch, cuda->stream));
        cuda->layout = l;
    }

    uint8_t *to = (uint8_t *)cuda->frame.data + l.pad_y * (int64_t)l.pitch + l.pad_x;
    TRY(fit_staging(cuda, width));
    const int64_t chunk = (int64_t)(cuda->staging_size / width);
    for (int64_t y = 0, i = 0; y < frame->height; y += chunk, i++) {
        const int64_t rows = chunk < frame->height - y ? chunk : frame->height - y;
        uint8_t *staging = cuda->staging[i % 2];
        TRY(cudaEventSynchronize(cuda->staging_free[i % 2]));
        for (int64_t row = 0; row < rows; row++)
            memcpy(staging + row * frame->width, frame->samples + (y + row) * frame->stride, width);
        TRY(cudaMemcpy2DAsync(to + y * (int64_t)l.pitch, l.pitch, staging, width, width,
                              (size_t)rows, cudaMemcpyHostToDevice, cuda->stream));
        TRY(cudaEventRecord(cuda->staging_free[i % 2], cuda->stream));
    }
    return cudaSuccess;
}

cudaError_t tm_download_map(tm_cuda *cuda, const tm_job *job)
{
    const size_t row_bytes =
        (size_t)job->geometry.map_width * tm_map_element_size(job->metric);
    /* rows that were only made for their neighbours' peaks are another slice's */
    const int64_t first = job->peaks ? job->first_row : 0;
    const int64_t end = job->peaks ? job->last_row : job->geometry.map_height;

    TRY(fit_staging(cuda, row_bytes));
    const int64_t chunk = (int64_t)(cuda->staging_size / row_bytes);
    const int64_t chunks = (end - first + chunk - 1) / chunk;
    for (int64_t i = 0; i <= chunks; i++) {
        if (i < chunks) {
            const int64_t y = first + i * chunk, rows = chunk < end - y ? chunk : end - y;
            TRY(cudaMemcpyAsync(cuda->staging[i % 2],
                                (const uint8_t *)cuda->map.data + (size_t)y * row_bytes,
                                (size_t)rows * row_bytes, cudaMemcpyDeviceToHost, cuda->stream));
            TRY(cudaEventRecord(cuda->staging_free[i % 2], cuda->stream));
        }
        if (i == 0)
            continue;
        const int64_t y = first + (i - 1) * chunk, rows = chunk < end - y ? chunk : end - y;
        TRY(cudaEventSynchronize(cuda->staging_free[(i - 1) % 2]));
        for (int64_t row = 0; row < rows; row++)
            memcpy((uint8_t *)job->map.data + (y + row) * job->map.stride,
                   cuda->staging[(i - 1) % 2] + (size_t)row * row_bytes, row_bytes);
    }
    return cudaSuccess;
}
