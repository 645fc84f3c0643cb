/* SPDX-License-Identifier: MIT */
/* Levels: a template as it looks in blocks, by which windows are left out of a certified search.
 *
 * Window f, template t, both centred on their n pixels, t of norm 1. V are the functions on the
 * blocks that are constant on each and have the mean 0, P the projection on V. With taps u in V,
 * c = <t, u> / |u| and p = <f, u> / |u|,
 *
 *     <f, t> <= c p + slack |Pf| + rest sqrt(|f|^2 - |Pf|^2)
 *     slack^2 = |Pt|^2 - c^2        rest^2 = 1 - |Pt|^2
 *
 * because t = c u/|u| + (Pt - c u/|u|) + (t - Pt), whose parts are at right angles to each other.
 * The score is <f, t> / |f|. docs/exactness.md has the proof with its roundings. */
#ifndef TMATCH_LCC_LEVELS_H
#define TMATCH_LCC_LEVELS_H

#include "tmatch/tmatch.h"

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    TM_LEVEL_ROWS = 512,      /* rows of blocks */
    TM_LEVEL_PIXELS = 65536,  /* larger templates have no levels: sums of squares fit 32 bits */
    TM_LEVEL_TAPS = 1024,     /* blocks */
    TM_LEVEL_BLOCK = 64,      /* columns and rows of a block */
};

typedef struct tm_level {
    int block_x, block_y; /* pixels of a block */
    int across, down;     /* blocks */
    int x, y;             /* the first one's corner in the template */
    int shift;            /* A block's sum B of samples - 128, rounded to a multiple of 2^shift,
                             takes 16 bits with its sign: b = round(B / 2^shift) */
    int16_t *taps;        /* u, across * down, of sum 0. Sums of taps times b fit in 32 bits */
    double scale;         /* c p = scale * the sum of taps times b, */
    double error;         /* but for so much, by the rounding of b */
    double slack, rest;   /* rounded up */
} tm_level;

/* Whether two levels have blocks of one size, */
static inline bool tm_level_is_like(const tm_level *a, const tm_level *b)
{
    return a->block_x == b->block_x && a->block_y == b->block_y;
}

/* and whether a level's blocks tile all of a template of width w and height h. */
static inline bool tm_level_tiles(const tm_level *l, int64_t w, int64_t h)
{
    return l->across * l->block_x == w && l->down * l->block_y == h;
}

/* What a template has for certified search; all zero where it has nothing. */
typedef struct tm_levels {
    tm_level *list; /* ascending by the size of a block */
    int count;
    /* The template with cells of cell_x x cell_y pixels for pixels, for a first guess; NULL where
     * that would be flat or hardly smaller. */
    struct tm_template *coarse;
    int cell_x, cell_y;
} tm_levels;

/* Makes the levels of 8-bit gray samples, w * h of them, packed, with var_T. False if memory ran out;
 * free in either case. coarse stays NULL. */
bool tm_levels_make(tm_levels *levels, const uint8_t *samples, int64_t w, int64_t h,
                    int64_t variance);
void tm_levels_free(tm_levels *levels);

#ifdef __cplusplus
}
#endif

#endif
