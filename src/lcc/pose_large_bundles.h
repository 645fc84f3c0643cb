/* SPDX-License-Identifier: MIT */
/* Bundles of poses of a large template, and their parts. */
#ifndef TMATCH_LCC_POSE_LARGE_BUNDLES_H
#define TMATCH_LCC_POSE_LARGE_BUNDLES_H

#include "lcc/pose_large.h"

/* What making a class needs besides. */
typedef struct tm_large_makings {
    const tm_image *image;
    const tm_poses *poses;
    struct tm_pose_large *large;
    tm_large_class *c;  /* with its cells, bundles and parts; family.count is how many bundles there are */
    tm_posed *pictures; /* of bundles, to be made, in samples */
    uint8_t *inside, *samples;
    struct tm_large_made *made; /* of bundles */
} tm_large_makings;

/* What making a bundle showed. */
typedef struct tm_large_made {
    tm_status status;
    bool beyond; /* a picture is flat, or does not have all pixels of the cells */
    double share, most_share, most_rest, most_beyond, spread, part_spread; /* as the class's */
} tm_large_made;

tm_status tm_large_make_posed(const tm_large_makings *makings, int64_t pose, tm_posed *posed);

/* Makes the pictures of all bundles of the class, and their parts. *beyond: a posed picture is not as it should be. */
tm_status tm_large_make_bundles(tm_large_makings *makings, int threads, bool *beyond);

#endif
