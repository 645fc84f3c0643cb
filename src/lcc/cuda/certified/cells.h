/* SPDX-License-Identifier: MIT */
/* Certified search on CUDA: the level at which a template and windows are compared.
 *
 * A frame is cut into cells of size x size pixels. A cell window, which is across x down cells,
 * serves the size^2 windows that contain it: the window at (x, y) is served by the one whose first
 * cell begins at the pixel (x + sx, y + sy), where the shift (sx, sy) is in [0, size). So each shift
 * has a coarse template of its own: integer taps u, one a cell, whose sum is 0. The taps of all
 * shifts are in the same proportion to the template. docs/exactness.md has the bound and its proof. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_CELLS_H
#define TMATCH_LCC_CUDA_CERTIFIED_CELLS_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A line of the tensor cores' product takes 16 cells, at four places of the template. */
#define TM_CELLS_MOST 13
#define TM_CELLS_LEAST 4

typedef struct tm_cells {
    int size;         /* pixels across a cell */
    int across, down; /* cells of a cell window */
} tm_cells;

/* False where no size of cells fits the template. */
bool tm_cells_choose(tm_cells *cells, int64_t width, int64_t height);

/* A shift's coarse template u, of norm |u|, beside the template t, which is centred and of norm 1.
 * P projects on what is constant on cells and has mean 0. */
typedef struct tm_cells_shift {
    int8_t taps[TM_CELLS_MOST * TM_CELLS_MOST];
    double part;    /* <t, u> / |u| */
    double scale;   /* times the sum of u_i and cells' sums: size times what u has of <f, t> */
    double delta2;  /* |Pt|^2 - part^2 */
    double eps2;    /* 1 - |Pt|^2 */
    int64_t weight; /* the sum of |u_i| */
} tm_cells_shift;

/* What the greatest tap of all shifts stands for. tmpl: 8-bit gray, not flat. */
int64_t tm_cells_most(const tm_cells *cells, const tm_template *tmpl);

/* most: tm_cells_most's. */
void tm_cells_shift_make(tm_cells_shift *shift, const tm_cells *cells, const tm_template *tmpl,
                         int sx, int sy, int64_t most);

/* About the greatest eps of all shifts, by two of them. */
double tm_cells_eps(const tm_cells *cells, const tm_template *tmpl);

#ifdef __cplusplus
}
#endif

#endif
