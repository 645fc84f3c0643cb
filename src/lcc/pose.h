/* SPDX-License-Identifier: MIT */
/* Poses: the template turned and resized, by integers alone, so that it is the same picture
 * everywhere. docs/poses.md has the definition. */
#ifndef TMATCH_LCC_POSE_H
#define TMATCH_LCC_POSE_H

#include <stdbool.h>
#include <stdint.h>

#include "tmatch/tmatch.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Angles and scales are whole millionths, of a degree and of 1. */
#define TM_POSE_UNIT INT64_C(1000000)
#define TM_POSE_TURN (360 * TM_POSE_UNIT)
#define TM_POSE_LEAST_SCALE (TM_POSE_UNIT / 20)
#define TM_POSE_MOST_SCALE (20 * TM_POSE_UNIT)

/* The template turned by the angle, counter-clockwise as seen, and enlarged by the scale about its
 * centre. */
typedef struct tm_turn {
    int64_t angle, scale; /* scale: from TM_POSE_LEAST_SCALE to TM_POSE_MOST_SCALE */
} tm_turn;

/* The sine and the cosine of an angle in millionths of a degree, times 2^30 and correctly rounded. */
#define TM_SINE_BITS 30
int64_t tm_sine(int64_t angle);
int64_t tm_cosine(int64_t angle);

/* Which pixels of posed templates count. */
typedef struct tm_pose_support {
    bool disc;        /* else all whose footprint lies in the template */
    int64_t distance; /* disc: those whose squared distance from the centre is less, in halves of a
                         pixel */
} tm_pose_support;

/* A template in a pose: the smallest picture about its centre that holds the pixels that count. The
 * caller frees it with tm_posed_free. */
typedef struct tm_posed {
    int64_t width, height;
    int64_t count;    /* pixels that count */
    uint8_t *samples; /* packed, of the template's type and channels; 0 where pixels don't count */
    uint8_t *mask;    /* 1 where pixels count, else 0 */
} tm_posed;

/* Makes the template's picture, 8 or 16 bits and valid, in a pose. Where no pixel counts *posed is
 * empty. Errors: MEMORY; TEMPLATE_TOO_LARGE: more than TM_MAX_TEMPLATE_PIXELS. */
tm_status tm_pose_make(tm_posed *posed, const tm_image *image, tm_turn turn,
                       const tm_pose_support *support);
/* Makes it of a packed picture as that is. Errors: MEMORY. */
tm_status tm_posed_of(tm_posed *posed, const tm_image *image);
void tm_posed_free(tm_posed *posed);

/* Whether the pixels that count are equal, or none counts. Of 8-bit gray. */
bool tm_posed_is_flat(const tm_posed *posed);

/* Lowers *distance, if it is more, to that of the largest disc that counts in this pose, whose centre
 * is a pixel's, or lies between pixels, as the template's: 0 where there is none. Errors:
 * TEMPLATE_TOO_LARGE. */
tm_status tm_pose_reach(int64_t *distance, const tm_image *image, tm_turn turn);

#ifdef __cplusplus
}
#endif

#endif
