/* SPDX-License-Identifier: MIT */
/* Windows of a float picture beside and above each other, with their samples staged
 * in binary64, for centred metrics with the mean of the frame there taken off. */
#ifndef TMATCH_LCC_CPU_F32_PATCH_H
#define TMATCH_LCC_CPU_F32_PATCH_H

#include "lcc/cpu/f32_block.h"
#include "lcc/f32.h"

typedef struct tm_f32_patch {
    const tm_job *job;
    tm_f32_block_fn *block;
    tm_f32_scorer scorer;
    int64_t rows, stride; /* of samples, that there is room for */
    double *samples, *columns;
    int64_t x, y, width, height; /* windows */
} tm_f32_patch;

/* A patch of at most width * height windows, without memory. */
tm_f32_patch tm_f32_patch_of(const tm_job *job, tm_f32_block_fn *block, int64_t width,
                             int64_t height);

/* How many doubles samples and columns take. */
int64_t tm_f32_patch_samples(const tm_f32_patch *patch);
int64_t tm_f32_patch_columns(const tm_f32_patch *patch);

/* Stages the windows that x, y, width and height say. */
void tm_f32_patch_stage(const tm_f32_patch *patch);

/* The sums of the windows from (x, y) on, then the values of count of them from number
 * first on. */
void tm_f32_patch_sums(const tm_f32_patch *patch, int64_t x, int64_t y, tm_f32_block *block);
void tm_f32_patch_values(const tm_f32_patch *patch, const tm_f32_block *block, int64_t x,
                         int64_t y, int first, int count, tm_value *values);

#endif
