/* SPDX-License-Identifier: MIT */
/* Certified search on CUDA: the level at which a template and windows are compared.
 *
 * A frame is cut into cells of size x size pixels. A cell window, which is across x down cells,
 * serves the size^2 windows that contain it: the window at (x, y) is served by the one whose first
 * cell begins at the pixel (x + sx, y + sy), where the shift (sx, sy) is in [0, size). So each shift
 * has a coarse template of its own: integer taps u, one a cell, whose sum is 0; or some shifts beside
 * each other share one, which is their mean. docs/exactness.md has the bound and its proof. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_CELLS_H
#define TMATCH_LCC_CUDA_CERTIFIED_CELLS_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A line of the tensor cores' product takes 16 cells, at four places of the template. */
#define TM_CELLS_MOST 13
#define TM_CELLS_LEAST 4
#define TM_CELLS_MOST_SIZE 16 /* a cell's sum fits in 16 bits */

/* A bound b of a cell window is a byte: for each coarse template u, <f, u> / |Pf| is at most sqrt(b / 254) times the
 * longest one's |u|, where P projects on what is constant on cells and has mean 0. limits[b] is what a window that
 * the cell window serves scores at most. */
#define TM_CELLS_LIMITS 255

typedef struct tm_cells {
    int size;         /* pixels across a cell */
    int across, down; /* cells of a cell window */
} tm_cells;

/* False where no size of cells fits the template. */
bool tm_cells_choose(tm_cells *cells, int64_t width, int64_t height);

/* A product takes a cell's sum C as v = ((C + half) >> drop) - middle, of at most 11 bits and a sign:
 * C is 2^drop (v + middle) + e, where e is 0 if nothing is dropped, else at most 2^(drop - 1). */
typedef struct tm_cells_rounding {
    int drop, half, middle;
} tm_cells_rounding;

static inline tm_cells_rounding tm_cells_rounding_of(int size)
{
    const int middle = 255 * size * size / 2;
    int drop = 0;
    while ((middle >> drop) > 2046)
        drop++;
    return (tm_cells_rounding){drop, drop ? 1 << (drop - 1) : 0, middle >> drop};
}

/* The smallest cells are taken as C + 1024, whose bits in half precision are those of 1024 with C in them. */
#define TM_CELLS_SMALLEST 2
#define TM_CELLS_ADDED 1024

/* What a product takes a cell as at most. */
static inline int tm_cells_greatest(int size)
{
    return size == TM_CELLS_SMALLEST ? TM_CELLS_ADDED + 255 * size * size : tm_cells_rounding_of(size).middle + 2;
}

/* The template's sums over its cells, shift by shift along rows; as many as: */
static inline size_t tm_cells_sums(const tm_cells *cells)
{
    return (size_t)(cells->size * cells->size * cells->across * cells->down);
}
void tm_cells_sum(int64_t *sums, const tm_cells *cells, const tm_template *tmpl);

/* What a cell's sum less the mean, times the count of cells, is multiplied by at most for its tap:
 * so much that taps have 11 bits at most, and that any sum of products with cells is less than 2^24.
 * tmpl: 8-bit gray, not flat. */
double tm_cells_scale(const tm_cells *cells, const int64_t *sums);

/* Coarse templates of so many runs of shifts across and down: all shifts of a run share one. */
typedef struct tm_cells_set {
    int across, down; /* runs, up to the size of cells: then each shift has its own */
    int16_t *taps;  /* template by template along rows of runs */
    double length;  /* of the longest, as a vector of taps */
    int64_t weight; /* the greatest sum of a template's |taps| */
    float limits[TM_CELLS_LIMITS];
} tm_cells_set;

/* score: templates are so long beside each other that limits are least near it. taps: room for them. */
void tm_cells_set_make(tm_cells_set *set, const tm_cells *cells, const tm_template *tmpl, const int64_t *sums,
                       double score);

/* About the greatest eps of all shifts, by two of them. */
double tm_cells_eps(const tm_cells *cells, const tm_template *tmpl);

#ifdef __cplusplus
}
#endif

#endif
