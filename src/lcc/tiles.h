/* SPDX-License-Identifier: MIT */
/* Shares out the tiles of a score map over threads and merges their best matches and peaks, for
 * every algorithm on the CPU. */
#ifndef TMATCH_LCC_TILES_H
#define TMATCH_LCC_TILES_H

#include "lcc/lcc.h"

/* across * down tiles of width * height, the last ones as large as the map lets them. A
 * shift, along one axis, means that these cover the map up to there, and that each has a
 * second one that far to the right or below, which is made with it and may be empty. */
typedef struct tm_tiles {
    int64_t across, down, width, height;
    int64_t shift_x, shift_y;
} tm_tiles;

typedef struct tm_tile {
    int64_t x, y, width, height; /* in the map */
    /* Takes the rows from the top down; with a shift an array, whose second one is the second
     * tile's. NULL where no peaks are wanted. */
    struct tm_peak_scan *scan;
} tm_tile;

/* What makes tiles. context is the caller's. */
typedef struct tm_tile_work {
    void *context;
    /* Called in each thread first: returns its memory, or NULL where memory ran out. */
    void *(*begin)(void *context, int thread);
    /* Makes one tile. *best is the thread's best so far. */
    void (*match)(void *context, void *memory, const tm_tile *tile, tm_candidate *best);
    /* Gives a thread's memory back; called for one thread after the other. May be NULL. */
    void (*end)(void *context, void *memory);
} tm_tile_work;

/* Makes all tiles on so many threads, or on those that can be had, and sets job->best, and
 * job->peaks where it is not NULL. Errors: MEMORY. */
tm_status tm_tiles_match(tm_job *job, const tm_tiles *tiles, int threads,
                         const tm_tile_work *work);

#endif
