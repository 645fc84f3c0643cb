/* SPDX-License-Identifier: MIT */
#include "cuda/chunks.cuh"

#include "cuda/context.cuh"
#include "integers.h"

tm_walk tm_walk_of(const tm_cuda *cuda, const tm_job *job)
{
    const int64_t bytes = job->map_staged ? 0 : cuda->traits.chunk_bytes;
    return (tm_walk){tm_chunks_make(job, job->map.data, bytes), job->geometry.map_height,
                     job->map.data && !job->map_staged};
}

tm_walk tm_walk_without_copies(const tm_job *job)
{
    return (tm_walk){tm_chunks_make(job, false, 0), job->geometry.map_height, false};
}

int64_t tm_walk_end(const tm_walk *walk, int64_t first)
{
    return smaller(tm_chunks_end(&walk->chunks, first), first + walk->most_rows);
}

cudaError_t tm_walk_chunks(tm_cuda *cuda, const tm_job *job, const tm_walk *walk,
                           tm_chunk_launcher *launch, void *context)
{
    for (int64_t first = 0, end; first < job->geometry.map_height; first = end) {
        end = tm_walk_end(walk, first);
        const int64_t frame_rows = tm_chunks_needed(&walk->chunks, end);
        TRY(tm_bring_frame(cuda, job, frame_rows));
        TRY(launch(context, first, end, frame_rows));
        if (walk->back)
            TRY(tm_bring_map_back(cuda, job, first, end));
    }
    return cudaSuccess;
}
