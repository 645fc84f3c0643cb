/* SPDX-License-Identifier: MIT */
/* A pyramid search on its way down. */
#ifndef TMATCH_MATCH_PYRAMID_CLIMB_H
#define TMATCH_MATCH_PYRAMID_CLIMB_H

#include <stdlib.h>

#include "match/pyramid.h"

typedef struct tm_descent {
    tm_matcher *matcher;
    const tm_posed_template *tmpl;
    const tm_pyramid *pyramid;
    const tm_pyramid_request *request;
    tm_image frames[TM_PYRAMID_LEVELS]; /* reduced, from 1 on */
    tm_pose_peak *items;                /* candidates of a level, the best first */
    size_t count;
    int64_t scored; /* positions of pixels */
} tm_descent;

static inline const tm_posed_template *tm_descent_template(const tm_descent *d, int level)
{
    return level ? d->pyramid->levels[level].tmpl : d->tmpl;
}

/* Whether angles go around, so that the first one is beside the last one. */
static inline bool tm_poses_go_around(const tm_poses *poses)
{
    return poses->angles.step > 0 && poses->angles.count * poses->angles.step > TM_POSE_TURN - poses->angles.step;
}

/* Lets the candidates of the level above climb to where nothing beside them is better on this one; they are sorted
 * then. Errors: MEMORY, TEMPLATE_TOO_LARGE. */
tm_status tm_descent_climb(tm_descent *descent, int level);

#endif
