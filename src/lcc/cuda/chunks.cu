/* SPDX-License-Identifier: MIT */
/* Rows of a large frame go to the device, through its kernels and back in chunks, so
 * that the copies of some overlap the kernels of others. The FFT's tiles are the
 * whole map's: it takes that as one chunk, and so do frames that are split into
 * planes. */
#include "integers.h"
#include "lcc/cuda/context.cuh"

#define CHUNK_STEP 64 /* rows; a multiple of every kernel's tile */

static int64_t rows_for(int64_t bytes, int64_t row_bytes)
{
    return (bytes / row_bytes + CHUNK_STEP) / CHUNK_STEP * CHUNK_STEP;
}

/* The first chunks are small, because nothing is computed before they are there, and
 * so are the last, because nothing is copied any more while they are computed. They
 * shrink by a fifth: then the kernels keep up where they are that much quicker than
 * the bus. */
int64_t tm_chunk_end(const tm_cuda *cuda, const tm_job *job, bool staged, int64_t first)
{
    const tm_geometry *g = &job->geometry;
    const int64_t left = g->map_height - first;
    int64_t row_bytes = g->frame_width;

    if (job->map.data)
        row_bytes += g->map_width * (int64_t)tm_map_element_size(job->metric);
    const int64_t most = rows_for(cuda->chunk_bytes, row_bytes);
    const int64_t least = rows_for(cuda->chunk_bytes / 16, row_bytes);
    if (staged || job->tiling || !tm_job_is_plain(job) || g->map_height < 4 * least || left < 2 * least)
        return g->map_height;
    const int64_t rows = first / 2 < left / 5 ? first / 2 : left / 5;
    return first + clamp(rows / CHUNK_STEP * CHUNK_STEP, least, most);
}

/* The launch for these rows of its map. */
static tm_launch rows_of(const tm_cuda *cuda, const tm_launch *whole, int64_t first, int64_t end,
                         tm_candidate *best)
{
    tm_launch l = *whole;
    tm_device_job *d = &l.direct;

    d->frame += first * (int64_t)d->pitch;
    d->map_height = end - first;
    if (d->map)
        d->map = (uint8_t *)d->map + (size_t)(first * d->map_width) * tm_map_element_size(l.metric);
    d->best = best;
    tm_launch_fill(cuda, &l);
    return l;
}

static cudaError_t bring_back(tm_cuda *cuda, const tm_job *job, int64_t first, int64_t end,
                              cudaEvent_t computed)
{
    TRY(cudaStreamWaitEvent(cuda->out, computed, 0));
    return tm_download_rows(cuda, job, first, end);
}

bool tm_map_is_staged(const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    return job->map.data &&
           !tm_is_pinned(job->map.data, job->map.stride, g->map_height,
                         (size_t)g->map_width * tm_map_element_size(job->metric));
}

cudaError_t tm_run_chunks(tm_cuda *cuda, tm_launch *launch, const tm_job *job, bool copied,
                          tm_candidate *bests)
{
    const tm_geometry *g = &job->geometry;
    const bool staged = tm_map_is_staged(job);
    int64_t uploaded = copied ? g->frame_height : 0;
    int turn = 0;

    for (int64_t first = 0, end; first < g->map_height; first = end, turn = !turn) {
        end = tm_chunk_end(cuda, job, staged, first);
        const int64_t needed =
            end == g->map_height
                ? g->frame_height
                : smaller(end - 1 - g->pad_y + g->template_height, g->frame_height);
        if (uploaded < needed) {
            TRY(tm_upload_rows(cuda, job, uploaded, needed));
            TRY(tm_await_upload(cuda));
            uploaded = needed;
        }
        tm_launch part = rows_of(cuda, launch, first, end, bests);
        TRY(tm_launch_once(cuda, &part));
        launch->on_tensor_cores = part.on_tensor_cores;
        bests += launch->group->count;
        if (end == g->map_height && launch->peaks.map)
            TRY(tm_peaks_launch(&launch->peaks, cuda->stream));
        TRY(tm_note_matched(cuda));
        if (!job->map.data)
            continue;
        TRY(cudaEventRecord(cuda->computed[turn], cuda->stream));
        TRY(bring_back(cuda, job, first, end, cuda->computed[turn]));
    }
    return cudaSuccess;
}
