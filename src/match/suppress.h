/* SPDX-License-Identifier: MIT */
/* Non-maximum suppression: which boxes of one size overlap a box that was taken. */
#ifndef TMATCH_MATCH_SUPPRESS_H
#define TMATCH_MATCH_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a taken box is; x < 0: a free slot of the table. */
typedef struct tm_corner {
    int64_t x, y;
} tm_corner;

/* Taken boxes in a hash table of the cells that their corners lie in: cells as
 * large as boxes that overlap can be apart, so a box meets 3 x 3 of them, and a
 * cell holds few taken boxes. */
typedef struct tm_suppressor {
    int64_t width, height;           /* of the boxes */
    double overlap;
    int64_t cell_width, cell_height;
    tm_corner *table;
    size_t size, taken; /* size is a power of two */
} tm_suppressor;

void tm_suppressor_init(tm_suppressor *s, int64_t width, int64_t height, double overlap);
void tm_suppressor_free(tm_suppressor *s);

/* Whether the box at (x, y), x and y >= 0, overlaps a taken one. */
bool tm_suppressor_covers(const tm_suppressor *s, int64_t x, int64_t y);

/* False if memory ran out. */
bool tm_suppressor_take(tm_suppressor *s, int64_t x, int64_t y);

#endif
