/* SPDX-License-Identifier: MIT */
/* Where between pixels and steps a template lies in a frame: by least squares of the frame's own pixels. */
#ifndef TMATCH_MATCH_POSE_FIT_H
#define TMATCH_MATCH_POSE_FIT_H

#include <stdbool.h>

#include "lcc/pose.h"

/* A match, and what is asked of it. */
typedef struct tm_pose_fit {
    const tm_image *frame, *tmpl; /* of integers of one type, with as many channels */
    tm_turn turn;
    double center_x, center_y;
    double angle_step, scale_step; /* radians, and parts of 1; 0: that is not to be moved */
    int64_t disc;                  /* as tm_pose_support's distance; 0: all that counts in the template */
} tm_pose_fit;

/* How the match is moved. */
typedef struct tm_pose_move {
    double x, y, angle, scale; /* pixels, radians, and parts of 1 */
    double error; /* standard error in pixels, of the centre and, by angle and scale, of a corner of the template */
    double square; /* of the correlation there, times its sign */
} tm_pose_move;

/* Finds the move after which gain * template + an offset for each channel differs least from the frame, in the sum of
 * squares over the frame's pixels. False where none is found nearby, or too few pixels count. */
bool tm_pose_fit_find(tm_pose_move *move, const tm_pose_fit *fit);

#endif
