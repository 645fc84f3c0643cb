/* SPDX-License-Identifier: MIT */
/* The cells of a class of poses. */
#ifndef TMATCH_LCC_POSE_CELLS_H
#define TMATCH_LCC_POSE_CELLS_H

#include "lcc/pose_families.h"

/* Makes the cells of a class that has its family, of these posed pictures, with a basis as
 * tm_family_finish takes it; leaves levels of c->cells empty for which no size of cells pays. Errors: MEMORY. */
tm_status tm_pose_cells_make(tm_pose_class *c, const tm_posed *posed, int basis, double rest);

#endif
