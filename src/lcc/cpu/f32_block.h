/* SPDX-License-Identifier: MIT */
/* The inner loops of the direct algorithm for float pictures: the sums of a block of windows beside
 * each other. Compiled once for each instruction set. */
#ifndef TMATCH_LCC_CPU_F32_BLOCK_H
#define TMATCH_LCC_CPU_F32_BLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TM_F32_BLOCK = 32, TM_F32_CHANNELS = 4 };

/* A block's samples, and which sums of them are wanted. */
typedef struct tm_f32_view {
    const double *samples; /* of the block's first window; planes of rows */
    ptrdiff_t stride, plane;
    const double *taps;  /* in planes */
    const uint8_t *mask; /* of the template, or NULL */
    int64_t w, h;
    int channels;
    bool distance;      /* products are (F - T)^2 */
    bool sums, squares; /* S_F, S_FF */
    double *columns;    /* room for w + TM_F32_BLOCK */
} tm_f32_view;

typedef struct tm_f32_block {
    double products[TM_F32_BLOCK];
    double s_f[TM_F32_CHANNELS][TM_F32_BLOCK];
    double s_ff[TM_F32_BLOCK];
} tm_f32_block;

typedef void tm_f32_block_fn(const tm_f32_view *view, tm_f32_block *block);

tm_f32_block_fn tm_f32_block_c;

#endif
