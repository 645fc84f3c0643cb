/* SPDX-License-Identifier: MIT */
/* An 8-bit gray frame's chunks, one after the other. */
#include "cuda/context.cuh"

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

cudaError_t tm_run_chunks(tm_cuda *cuda, tm_launch *launch, const tm_job *job, tm_candidate *bests)
{
    const int64_t height = job->geometry.map_height;
    const tm_chunks chunks = tm_chunks_of(cuda, job);

    for (int64_t first = 0, end; first < height; first = end) {
        end = tm_chunks_end(&chunks, first);
        TRY(tm_bring_rows(cuda, job, tm_chunks_needed(&chunks, end)));
        tm_launch part = rows_of(cuda, launch, first, end, bests);
        TRY(tm_launch_once(cuda, &part));
        launch->on_tensor_cores = part.on_tensor_cores;
        bests += launch->group->count;
        if (end == height && launch->peaks.map)
            TRY(tm_peaks_launch(&launch->peaks, cuda->stream));
        TRY(tm_note_matched(cuda));
        if (job->map.data)
            TRY(tm_bring_back(cuda, job, first, end));
    }
    return cudaSuccess;
}
