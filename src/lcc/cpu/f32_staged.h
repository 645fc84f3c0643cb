/* SPDX-License-Identifier: MIT */
/* The samples that a tile's windows cover, staged as doubles with zeros beyond the frame. For
 * metrics that take means off, the mean of those in the frame is taken off all, so that sums
 * cancel less. */
#ifndef TMATCH_LCC_CPU_F32_STAGED_H
#define TMATCH_LCC_CPU_F32_STAGED_H

#include "lcc/cpu/f32_block.h"
#include "lcc/f32.h"

typedef struct tm_f32_staged {
    const tm_job *job;
    tm_f32_block_fn *block;
    tm_f32_scorer scorer;
    int64_t rows, stride; /* room for samples: rows of a channel, doubles from row to row */
    double *samples, *columns;
    int64_t x, y, width, height; /* the tile, in windows */
} tm_f32_staged;

/* For tiles of at most width * height windows. The caller sets samples and columns. */
tm_f32_staged tm_f32_staged_of(const tm_job *job, tm_f32_block_fn *block, int64_t width,
                               int64_t height);

/* How many doubles samples and columns must have. */
int64_t tm_f32_staged_samples(const tm_f32_staged *staged);
int64_t tm_f32_staged_columns(const tm_f32_staged *staged);

/* Stages the samples of the tile that x, y, width and height say. */
void tm_f32_stage(const tm_f32_staged *staged);

/* Makes the sums of the TM_F32_BLOCK windows from (x, y) on; and from these the values of count
 * windows from number first on. A window whose sums do not suffice is scored by the definition. */
void tm_f32_staged_sums(const tm_f32_staged *staged, int64_t x, int64_t y, tm_f32_block *block);
void tm_f32_staged_values(const tm_f32_staged *staged, const tm_f32_block *block, int64_t x,
                          int64_t y, int first, int count, tm_value *values);

#endif
