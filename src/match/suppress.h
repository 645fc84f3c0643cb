/* SPDX-License-Identifier: MIT */
/* Non-maximum suppression: which boxes of one size overlap a box that was taken. */
#ifndef TMATCH_MATCH_SUPPRESS_H
#define TMATCH_MATCH_SUPPRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Fibonacci hashing of a cell's coordinates: Knuth, The Art of Computer Programming, vol. 3, 6.4.
 * size: of the table, a power of two. */
static inline size_t tm_cell_slot(int64_t x, int64_t y, size_t size)
{
    const uint64_t key = (uint64_t)x * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)y;
    return (size_t)(key * UINT64_C(0xd1b54a32d192ed03) >> 32) & (size - 1);
}

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
    int64_t cell_width, cell_height; /* boxes so far apart, or farther, along either axis do not overlap */
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
