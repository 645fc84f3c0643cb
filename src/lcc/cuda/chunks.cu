/* SPDX-License-Identifier: MIT */
/* A frame's chunks: lcc/chunks.h. The FFT's tiles are the whole map's: it takes that as
 * one chunk, and so do frames that are split into planes. */
#include "lcc/chunks.h"
#include "lcc/cuda/context.cuh"

int64_t tm_chunk_end(const tm_cuda *cuda, const tm_job *job, bool staged, int64_t first)
{
    const tm_geometry *g = &job->geometry;
    const bool whole = staged || job->tiling || !tm_job_is_plain(job);
    const int64_t row = job->map.data ? g->map_width * (int64_t)tm_job_element(job) : 0;
    return tm_chunk_rows_end(g, row, whole ? 0 : cuda->traits.chunk_bytes, first);
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
                         (size_t)g->map_width * tm_job_element(job));
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
        const int64_t needed = tm_chunk_rows_needed(g, end);
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
