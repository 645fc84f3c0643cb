/* SPDX-License-Identifier: MIT */
/* Search for a class of poses by sums over cells. */
#ifndef TMATCH_LCC_CPU_POSE_CELLS_H
#define TMATCH_LCC_CPU_POSE_CELLS_H

#include "lcc/cpu/family.h"
#include "lcc/pose_families.h"

/* Searches windows of the class's family, which are described as if they were for tm_cpu_search_family,
 * by its cells: least says what the cells' score must reach, and visit gets windows of the pixels, without
 * sums and samples. Errors: MEMORY. */
tm_status tm_pose_search_cells(tm_cpu *cpu, const tm_pose_cells *cells, const tm_family_search *windows);

#endif
