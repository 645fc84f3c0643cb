/* SPDX-License-Identifier: MIT */
/* Where a posed picture's samples lie in the template, for C and CUDA. docs/poses.md has the definition. */
#ifndef TMATCH_LCC_POSE_PLACE_H
#define TMATCH_LCC_POSE_PLACE_H

#include "lcc/pose.h"
#include "lcc/score.h"

/* Positions in the template are rounded to so many bits of a pixel, half up. */
enum { TM_FRACTION_BITS = 12, TM_PLACE_DROP = TM_SINE_BITS + 1 - TM_FRACTION_BITS };
#define TM_FRACTION_ONE (INT64_C(1) << TM_FRACTION_BITS)

/* How a pose's samples follow each other in the template. */
typedef struct tm_pose_steps {
    int64_t cosine, sine; /* over the scale */
    int64_t parts;        /* samples of a pixel, in each direction */
} tm_pose_steps;

#ifdef __cplusplus
extern "C"
#endif
    tm_pose_steps tm_pose_steps_of(tm_turn turn);

/* A position in the template of this size, in parts of a pixel, from twice the canvas's position times parts:
 * along times the steps, over parts * 2^TM_PLACE_DROP. */
TM_HOST_DEVICE int64_t tm_pose_place_at(int64_t along, int64_t parts, int64_t size)
{
    const int64_t dropped = (along + (parts << (TM_PLACE_DROP - 1))) >> TM_PLACE_DROP;
    const int64_t whole = parts == 1 ? dropped : dropped / parts - (dropped % parts < 0);
    return whole + (size - 1) * (TM_FRACTION_ONE / 2);
}

/* Twice the position of the first sample of a column or row of the canvas, times parts. */
TM_HOST_DEVICE int64_t tm_pose_first_sample(int64_t at, int64_t size, int64_t parts)
{
    return (2 * at - (size - 1)) * parts - (parts - 1);
}

#endif
