/* SPDX-License-Identifier: MIT */
/* The way of a job through the device, chunk by chunk, so that the copies of some chunks
 * overlap the kernels of others. */
#ifndef TMATCH_CUDA_CHUNKS_CUH
#define TMATCH_CUDA_CHUNKS_CUH

#include "cuda/plugin.h"
#include "cuda/schedule.h"
#include "lcc/cuda/memory.cuh"

typedef struct tm_walk {
    tm_chunks chunks;
    int64_t most_rows; /* of the map at a time, however long the chunk */
    bool back;         /* each chunk's rows of the map are copied back */
} tm_walk;

/* The walk of a job's match. A map that comes back through staging makes one chunk, and is
 * copied back afterwards: the copy takes the host's time all along, and is quickest in long
 * stretches. */
tm_walk tm_walk_of(const tm_cuda *cuda, const tm_job *job);

/* The walk where the frame is there and nothing is copied back. */
tm_walk tm_walk_without_copies(const tm_job *job);

/* The end of the map's rows that are made at a time from first on. */
int64_t tm_walk_end(const tm_walk *walk, int64_t first);

/* Launches the kernels for rows [first, end) of the map, for which the frame's first rows
 * frame_rows are there. */
typedef cudaError_t tm_chunk_launcher(void *context, int64_t first, int64_t end,
                                      int64_t frame_rows);

/* For each chunk: brings the frame's rows that it takes, launches it, and copies its rows of
 * the map back. */
cudaError_t tm_walk_chunks(tm_cuda *cuda, const tm_job *job, const tm_walk *walk,
                           tm_chunk_launcher *launch, void *context);

#endif
