/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_MATCH_POSES_REFINE_H
#define TMATCH_MATCH_POSES_REFINE_H

#include "match/poses.h"

/* Writes the fine place, angle and scale of hits, which stay what they are where no fit is found. */
void tm_poses_refine(int threads, const tm_image *frame, const tm_posed_template *tmpl, tm_posed_hit *hits, size_t count);

#endif
