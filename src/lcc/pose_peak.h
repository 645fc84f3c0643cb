/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_LCC_POSE_PEAK_H
#define TMATCH_LCC_POSE_PEAK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A peak of a pose's map. */
typedef struct tm_pose_peak {
    int64_t value; /* as tm_candidate's */
    int64_t y, x;  /* of the posed template's centre in the frame, in halves of a pixel */
    size_t pose;   /* SIZE_MAX: there is no peak */
} tm_pose_peak;

#define TM_NO_POSE_PEAK {INT64_MIN, INT64_MAX, INT64_MAX, SIZE_MAX}

/* Whether a ranks before b. */
static inline bool tm_pose_peak_beats(const tm_pose_peak *a, const tm_pose_peak *b)
{
    return a->value != b->value ? a->value > b->value
           : a->y != b->y       ? a->y < b->y
           : a->x != b->x       ? a->x < b->x
                                : a->pose < b->pose;
}

/* For qsort: the best first. */
static inline int tm_pose_peak_by_rank(const void *left, const void *right)
{
    const tm_pose_peak *a = (const tm_pose_peak *)left, *b = (const tm_pose_peak *)right;
    return tm_pose_peak_beats(a, b) ? -1 : tm_pose_peak_beats(b, a) ? 1 : 0;
}

#endif
