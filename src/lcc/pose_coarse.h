/* SPDX-License-Identifier: MIT */
/* Poses of a template whose pixels are cells of the frame: where search begins. */
#ifndef TMATCH_LCC_POSE_COARSE_H
#define TMATCH_LCC_POSE_COARSE_H

#include "lcc/pose_families.h"

/* How many pixels of the frame a cell has in each direction: as many as leave the template a radius of
 * few cells. */
int tm_pose_coarse_cell(const tm_image *image, const tm_poses *poses);

/* Makes the coarse poses of a class, which are few. Errors: MEMORY. */
tm_status tm_pose_coarse_make(tm_pose_class *c, const tm_image *image, const tm_poses *poses, int cell);

#endif
