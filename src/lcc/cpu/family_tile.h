/* SPDX-License-Identifier: MIT */
/* The windows of a tile for families: what is made of the samples below them before they are multiplied. */
#ifndef TMATCH_LCC_CPU_FAMILY_TILE_H
#define TMATCH_LCC_CPU_FAMILY_TILE_H

#include "lcc/cpu/family.h"
#include "lcc/cpu/tile.h"

enum {
    TM_FAMILY_TILE_WIDTH = 256,
    TM_FAMILY_TILE_HEIGHT = 96,
    TM_FAMILY_TILE_ROWS = 12, /* that are multiplied at once: a multiple of every kernel's rows */
};

typedef struct tm_family_tile {
    const tm_cpu_kernels *kernels;
    const tm_family *f;
    ptrdiff_t stride;
    int staged_rows, padded; /* padded: windows of a row */
    uint8_t *staged, *rests;
    bool folds;     /* products are made of folded windows, for which there is room */
    int32_t *room;
    uint16_t *wide; /* both together, where kernels take that; else NULL */
    uint32_t *planes, *rest_planes;
    int32_t *products, *rest_products; /* of basis templates, rows and windows */
    uint32_t *row_sums, *sums;         /* of staged rows, before each column; of windows */
    uint64_t *row_squares, *squares;   /* likewise, of squares: below 2^53 */
    float *inverse, *coordinates, *most;
    int32_t *members, *points;
    float *bounds;
} tm_family_tile;

/* Whether products are made of folded windows. */
static inline bool tm_family_tile_folds(const tm_cpu_kernels *kernels, const tm_family_search *search)
{
    return kernels->correlate_folded && search->family->half_turns && !search->rests;
}

/* Lays the arrays of a tile of so many windows out in memory. Returns how many bytes that takes. */
size_t tm_family_tile_carve(tm_family_tile *tile, char *memory, const tm_cpu_kernels *kernels,
                            const tm_family_search *search, int64_t width, int64_t height);

/* Stages the samples below the tile, their sums, and what kernels make of them. packed: taps of the basis. */
void tm_family_tile_stage(tm_family_tile *tile, const tm_family_search *search, const tm_tile *at,
                          const tm_packed_taps *packed);

/* The sums over the core of a row of windows, whose samples begin in row y, after those of the row before, and 1 / |f| of each in the order of
 * products, 0 where it is flat. */
void tm_family_tile_sum(const tm_family_tile *tile, int y, int width);

#endif
