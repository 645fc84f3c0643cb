/* SPDX-License-Identifier: MIT */
/* The sums of a block of float windows beside each other: the inner loops of the
 * direct algorithm, compiled once for each instruction set. */
#ifndef TMATCH_LCC_CPU_REAL_BLOCK_H
#define TMATCH_LCC_CPU_REAL_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TM_REAL_BLOCK = 32, TM_REAL_CHANNELS = 4 };

/* Which sums are wanted. */
typedef struct tm_real_view {
    const double *samples; /* of the block's first window; planes of rows */
    ptrdiff_t stride, plane;
    const double *taps;    /* in planes */
    const uint8_t *mask;   /* of the template, or NULL */
    int64_t w, h;
    int channels;
    bool distance;         /* products are (F - T)^2 */
    bool sums, squares;    /* S_F, S_FF */
    double *columns;       /* room for w + TM_REAL_BLOCK */
} tm_real_view;

typedef struct tm_real_block {
    double products[TM_REAL_BLOCK];
    double s_f[TM_REAL_CHANNELS][TM_REAL_BLOCK];
    double s_ff[TM_REAL_BLOCK];
} tm_real_block;

typedef void tm_real_block_fn(const tm_real_view *view, tm_real_block *block);

tm_real_block_fn tm_real_block_c;

#endif
