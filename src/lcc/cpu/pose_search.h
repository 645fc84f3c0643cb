/* SPDX-License-Identifier: MIT */
/* Certified search for a template in all poses of a grid: which poses pass in a window is found by
 * families, and those are scored. */
#ifndef TMATCH_LCC_CPU_POSE_SEARCH_H
#define TMATCH_LCC_CPU_POSE_SEARCH_H

#include "lcc/cpu/direct.h"
#include "lcc/pose_search.h"

/* Errors: MEMORY. */
tm_status tm_cpu_search_poses(tm_cpu *cpu, tm_pose_search *search);

#endif
