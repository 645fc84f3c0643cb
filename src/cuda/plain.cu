/* SPDX-License-Identifier: MIT */
#include "cuda/plain.cuh"

#include "cuda/chunks.cuh"
#include "cuda/context.cuh"

size_t tm_plain_bests(const tm_cuda *cuda, const tm_job *jobs, size_t count)
{
    const tm_walk walk = tm_walk_of(cuda, jobs);
    return count * (size_t)tm_chunks_count(&walk.chunks);
}

typedef struct plain_run {
    tm_cuda *cuda;
    const tm_job *job;
    tm_launch *whole;
    tm_candidate *bests; /* of the next chunk */
} plain_run;

static cudaError_t launch_chunk(void *context, int64_t first, int64_t end, int64_t)
{
    plain_run *run = (plain_run *)context;
    tm_cuda *cuda = run->cuda;
    tm_launch l = tm_launch_rows(cuda, run->whole, first, end, run->bests);

    TRY(tm_launch_start(cuda, &l));
    run->whole->on_tensor_cores = l.on_tensor_cores;
    run->bests += l.group->count;
    if (end == run->job->geometry.map_height && run->job->peaks)
        TRY(tm_peaks_launch(&cuda->last.peaks, cuda->stream));
    return tm_note_matched(cuda);
}

cudaError_t tm_plain_run(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_candidate *bests,
                         tm_launch *launch)
{
    const tm_geometry *g = &jobs->geometry;
    const tm_walk walk = tm_walk_of(cuda, jobs);
    tm_group *group;

    TRY(tm_fetch_group(cuda, jobs, count, &group));
    TRY(tm_place_map(cuda, jobs));
    *launch = tm_launch_of(group, jobs->metric);
    launch->plane_rows = cuda->plain.place.layout.rows;
    launch->job.frame = (const uint8_t *)cuda->plain.memory.data;
    launch->job.pitch = cuda->plain.place.layout.pitch;
    launch->job.map_width = g->map_width;
    launch->job.map_height = g->map_height;
    launch->job.map = tm_job_has_map(jobs) ? cuda->map.data : NULL;
    launch->job.best = bests;
    TRY(tm_launch_prepare(cuda, launch, jobs->tiling));
    if (jobs->peaks)
        TRY(tm_peaks_prepare(&cuda->peaks, &cuda->last.peaks, jobs, cuda->map.data, cuda->stream));
    plain_run run = {cuda, jobs, launch, bests};
    TRY(tm_walk_chunks(cuda, jobs, &walk, launch_chunk, &run));
    return tm_map_is_staged(jobs) ? tm_bring_map_back(cuda, jobs, 0, g->map_height) : cudaSuccess;
}

/* A chunk's positions count from its own first row. */
void tm_plain_merge(const tm_cuda *cuda, tm_job *jobs, size_t count, const tm_candidate *bests)
{
    const tm_geometry *g = &jobs->geometry;
    const tm_walk walk = tm_walk_of(cuda, jobs);

    for (size_t i = 0; i < count; i++)
        jobs[i].best = (tm_candidate)TM_NO_CANDIDATE;
    for (int64_t y = 0; y < g->map_height; y = tm_walk_end(&walk, y)) {
        for (size_t i = 0; i < count; i++) {
            tm_candidate best = *bests++;
            best.position += y * g->map_width;
            if (tm_candidate_beats(best, jobs[i].best))
                jobs[i].best = best;
        }
    }
}
