/* SPDX-License-Identifier: MIT */
/* Products of windows with templates that are the same turned by half a turn, or the opposite: of each two pixels
 * that a half turn brings to each other's place only the sum, or the difference, is multiplied. */
#ifndef TMATCH_LCC_CPU_FOLDED_H
#define TMATCH_LCC_CPU_FOLDED_H

#include <stddef.h>
#include <stdint.h>

#include "lcc/family.h"

enum {
    TM_FOLD_KINDS = 2,   /* the same, and the opposite */
    TM_FOLD_TOGETHER = 6, /* templates that are multiplied at once, at most */
    TM_FOLD_LANES = 32,  /* windows that are folded at once, at most */
};

/* A pixel of the core's first half and the one on its right, and where the latter goes by half a turn: in the
 * box. */
typedef struct tm_fold_pair {
    int row, column, row_after, column_after;
} tm_fold_pair;

/* How many are multiplied at once where so many are left: in as few turns as can be, and nearly as many in each. */
static inline int tm_fold_together(int left)
{
    const int turns = (left + TM_FOLD_TOGETHER - 1) / TM_FOLD_TOGETHER;
    return (left + turns - 1) / turns;
}

typedef struct tm_folded {
    tm_fold_pair *pairs;
    int count;                /* of pairs */
    int templates;
    int of_kind[TM_FOLD_KINDS];
    int order[TM_FAMILY_BASIS]; /* those of the first kind, and then the others */
    int32_t *taps; /* two of 16 bits for each pair: [templates that are multiplied at once][pair][template] */
} tm_folded;

/* Makes so many blocks of a row of windows: S_FT' in blocks, the next template's step elements on. samples: staged, of the
 * first window's corner. room: tm_folded_room elements, 64-byte aligned. */
typedef void tm_correlate_folded_fn(int32_t *products, ptrdiff_t step, const tm_folded *folded, const uint8_t *samples,
                                    ptrdiff_t stride, int blocks, int32_t *room);

static inline size_t tm_folded_room(int pairs)
{
    return (size_t)TM_FOLD_KINDS * TM_FOLD_LANES * (size_t)pairs;
}

/* How many pairs the first half of a core takes, whose pixels a half turn brings to each other's places. */
int tm_folded_count(const tm_family *family);

/* How many bytes packing takes. */
size_t tm_folded_size(const tm_family *family);

/* Packs the basis of a family that has half turns; memory: 64-byte aligned. */
void tm_folded_pack(tm_folded *folded, const tm_family *family, void *memory);

#endif
