/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_MATCH_POSES_REFINE_H
#define TMATCH_MATCH_POSES_REFINE_H

#include "match/poses.h"

/* Writes the fine place, angle and scale of hits: where the top of a quadratic surface lies that is
 * fitted to the scores of neighbouring positions and poses. Errors: MEMORY. */
tm_status tm_poses_refine(const tm_matcher *matcher, const tm_image *frame,
                          const tm_posed_template *tmpl, tm_posed_hit *hits, size_t count);

#endif
