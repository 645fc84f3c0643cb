/* SPDX-License-Identifier: MIT */
/* Pyramid search: poses are looked for in a frame of few large cells, and the likely ones followed down to
 * pixels. What it reports is exact; that it finds the best is not proved. */
#ifndef TMATCH_MATCH_PYRAMID_H
#define TMATCH_MATCH_PYRAMID_H

#include "match/poses.h"

enum { TM_PYRAMID_LEVELS = 10 };

/* A template as it is looked for in the frame of a level, whose cells are 2^level pixels wide. */
typedef struct tm_pyramid_level {
    tm_posed_template *tmpl; /* level 0 has none: it is the template itself */
    int64_t turn, ratio;     /* its poses are every turn-th angle and every ratio-th scale */
} tm_pyramid_level;

typedef struct tm_pyramid {
    tm_pyramid_level levels[TM_PYRAMID_LEVELS];
    int top; /* where the search begins; 0: the template would not be recognized in cells */
} tm_pyramid;

/* Makes those of a template. Errors: MEMORY, TEMPLATE_TOO_LARGE. */
tm_status tm_pyramid_make(tm_pyramid **pyramid, const tm_posed_template *tmpl);
void tm_pyramid_free(tm_pyramid *pyramid);

/* What is to be found. */
typedef struct tm_pyramid_request {
    int64_t floor; /* matches are of this value or more */
    size_t wanted; /* so many of them; 0: all */
    bool margin;   /* and one that would be the next */
} tm_pyramid_request;

/* Finds peaks of a frame, and the best of those, by pyramid search; false where that is not to be, or the
 * template has no levels, and then nothing is found. *status is its own, as those of a match. */
bool tm_poses_descend(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl,
                      const tm_pyramid_request *request, tm_pose_peaks *found, tm_status *status);

#endif
