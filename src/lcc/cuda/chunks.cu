/* SPDX-License-Identifier: MIT */
/* Rows of a large frame go to the device, through its kernels and back in chunks, so
 * that the copies of some overlap the kernels of others. The FFT's tiles are the
 * whole map's: it takes that as one chunk, and so do frames that are split into
 * planes. */
#include "lcc/cuda/context.cuh"

#define CHUNK_STEP 64 /* rows; a multiple of every kernel's tile */

int64_t tm_chunk_rows(const tm_cuda *cuda, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    int64_t row_bytes = g->frame_width;
    if (job->map.data)
        row_bytes += g->map_width * (int64_t)tm_map_element_size(job->metric);
    if (job->tiling || !tm_job_is_plain(job) || g->map_height * row_bytes < 2 * cuda->chunk_bytes)
        return g->map_height;
    return (cuda->chunk_bytes / row_bytes + CHUNK_STEP) / CHUNK_STEP * CHUNK_STEP;
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

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Rows that were only made for their neighbours' peaks are another slice's. */
static cudaError_t bring_back(tm_cuda *cuda, const tm_job *job, int64_t chunk, int64_t rows)
{
    const int64_t first = job->peaks ? job->first_row : 0;
    const int64_t last = job->peaks ? job->last_row : job->geometry.map_height;
    const int64_t from = chunk * rows > first ? chunk * rows : first;
    TRY(cudaStreamWaitEvent(cuda->out, cuda->computed[chunk % 2], 0));
    return tm_download_rows(cuda, job, from, least(chunk * rows + rows, last));
}

cudaError_t tm_run_chunks(tm_cuda *cuda, tm_launch *launch, const tm_job *job, bool copied,
                          tm_candidate *bests)
{
    const tm_geometry *g = &job->geometry;
    const int64_t rows = tm_chunk_rows(cuda, job);
    const int64_t chunks = (g->map_height + rows - 1) / rows;
    /* Bringing rows back to pageable memory takes the host's time: it does that for
     * a chunk while the device works on the next. */
    const bool lags = job->map.data &&
                      !tm_is_pinned(job->map.data, job->map.stride, g->map_height,
                                    (size_t)g->map_width * tm_map_element_size(job->metric));
    int64_t uploaded = copied ? g->frame_height : 0;

    for (int64_t i = 0; i < chunks; i++) {
        const int64_t first = i * rows, end = least(first + rows, g->map_height);
        int64_t needed = least(end - 1 - g->pad_y + g->template_height, g->frame_height);
        if (i == chunks - 1)
            needed = g->frame_height;
        if (uploaded < needed) {
            TRY(tm_upload_rows(cuda, job, uploaded, needed));
            TRY(cudaEventRecord(cuda->uploaded, cuda->in));
            TRY(cudaStreamWaitEvent(cuda->stream, cuda->uploaded, 0));
            uploaded = needed;
        }
        tm_launch part = rows_of(cuda, launch, first, end,
                                 bests + i * (int64_t)launch->group->count);
        TRY(tm_launch_once(cuda, &part));
        launch->on_tensor_cores = part.on_tensor_cores;
        if (!job->map.data)
            continue;
        TRY(cudaEventRecord(cuda->computed[i % 2], cuda->stream));
        if (!lags)
            TRY(bring_back(cuda, job, i, rows));
        else if (i > 0)
            TRY(bring_back(cuda, job, i - 1, rows));
    }
    if (launch->peaks.map)
        TRY(tm_peaks_launch(&launch->peaks, cuda->stream));
    return lags ? bring_back(cuda, job, chunks - 1, rows) : cudaSuccess;
}
