/* SPDX-License-Identifier: MIT */
/* A template's deviations from its mean, rounded to bytes with a sign whose sum is 0 in each channel: so their products with a
 * window, added up, are those with the window's deviations from its own mean, and need no sum of the window. 0 where pixels don't
 * count. What the angle between both says of scores: lcc/rounded.h.
 *
 * And the template's core, by which a cell of 8 x 8 neighbouring windows is bounded: patches of 8 x 8 pixels that all of them
 * have. docs/exactness.md, "A bound for wider templates", has the proof. */
#ifndef TMATCH_LCC_DIRECTION_H
#define TMATCH_LCC_DIRECTION_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { TM_PATCH = 8 };

/* In patches, from the one with a cell's first pixel on. */
typedef struct tm_direction_core {
    int left, right, top, bottom; /* columns [left, right), rows [top, bottom) */
    int missing;                  /* at most so many of a window's pixels there do not count */
} tm_direction_core;

typedef struct tm_direction {
    int channels;
    tm_template *bytes[TM_MAX_CHANNELS]; /* of each channel, as samples without a sign, modulo 256 */
    double length;                       /* the root of the sum of all their squares, to 2^-50 */
    double sine;                         /* at least that of the angle between both templates */
    tm_direction_core core;
} tm_direction;

/* Makes it of a template of 8 bits with at most 65793 samples; *direction stays NULL where it would bound no window well: the template
 * is flat, is much changed by rounding, or has no core of enough pixels. tm_direction_free frees it. Errors: MEMORY. */
tm_status tm_direction_make(tm_direction **direction, const tm_template *tmpl);
void tm_direction_free(tm_direction **direction);

#ifdef __cplusplus
}
#endif

#endif
