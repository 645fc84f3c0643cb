/* SPDX-License-Identifier: MIT */
/* Peaks of a score map that is made in tiles, by several threads, and never held.
 * A thread keeps the last three rows of its tile. Only the elements along the
 * tiles' edges are kept until all tiles are done; then the peaks there are
 * compared with their neighbours in other tiles. */
#ifndef TMATCH_LCC_PEAK_SCAN_H
#define TMATCH_LCC_PEAK_SCAN_H

#include "lcc/lcc.h"
#include "lcc/tiles.h"

/* The cuts of a map into columns or rows of tiles, ascending, the first 0; a last one
 * stands for the map's width or height. The last ones may be empty. */
typedef struct tm_peak_cuts {
    int64_t *at;
    int64_t count; /* tiles */
} tm_peak_cuts;

typedef struct tm_peak_grid {
    const tm_job *job;
    size_t element;
    tm_peak_cuts x, y;
    char *left,
        *right; /* first and last columns of each column of tiles, map_height elements each */
    char *top, *bottom;    /* first and last rows of each row of tiles, map_width each */
    tm_candidate *pending; /* at a tile's edge; they beat their neighbours in the tile */
    size_t pending_count, pending_room;
    bool failed;
} tm_peak_grid;

/* One thread's view of the tile that it makes. */
typedef struct tm_peak_scan {
    tm_peak_grid *grid;
    tm_job row_job; /* the job, but its map is the next row */
    int64_t least;
    int64_t column, row, x, y, width, height;
    int64_t done; /* rows that are there */
    char *memory; /* three rows with room on both sides */
    size_t size;
    tm_candidate found[128], pending[32];
    int found_count, pending_count;
} tm_peak_scan;

/* Makes a grid for job->peaks. False if memory ran out. To be freed in either case. */
bool tm_peak_grid_init(tm_peak_grid *grid, const tm_job *job, const tm_tiles *tiles);
void tm_peak_grid_free(tm_peak_grid *grid);

/* Decides after all tiles which of the pending peaks are peaks. False if memory ran out. */
bool tm_peak_grid_finish(tm_peak_grid *grid);

/* Zero-initialise; free at the end. */
void tm_peak_scan_free(tm_peak_scan *scan);

/* Starts on a tile. Where tiles have a shift, the second ones are numbered after all first ones of
 * their row or column. False if memory ran out. */
bool tm_peak_scan_begin(tm_peak_scan *scan, tm_peak_grid *grid, int64_t column, int64_t row);

/* Unless the job's map is wanted, a score below this can be written as any other below it: neither
 * can become a peak that is kept. Only for metrics whose scores are floats. */
float tm_peak_scan_floor(const tm_peak_scan *scan);

/* The job whose map takes the tile's next row, at any y; done when it is there. */
const tm_job *tm_peak_scan_row(tm_peak_scan *scan);
void tm_peak_scan_row_done(tm_peak_scan *scan);

#endif
