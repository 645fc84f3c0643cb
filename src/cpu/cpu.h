/* SPDX-License-Identifier: MIT */
/* The CPU as a device: threads that make tiles of a map, with kernels of the instruction sets
 * that there are. */
#ifndef TMATCH_CPU_H
#define TMATCH_CPU_H

#include "cpu/together.h"
#include "lcc/cpu/pose_windows.h"
#include "lcc/device.h"
#include "lcc/pose_search.h"

/* Its one device has index 0. */
const tm_backend *tm_cpu_backend(void);

/* Matches templates together, or sets their jobs' declined. Errors: MEMORY. */
tm_status tm_cpu_match_templates(tm_device *device, tm_cpu_together *call);

/* Makes a certified search in poses. Errors: MEMORY. */
tm_status tm_cpu_match_poses(tm_device *device, tm_pose_search *search);

/* Scores posed templates in a few windows each. Errors: MEMORY. */
tm_status tm_cpu_score_poses(tm_device *device, const tm_image *frame, tm_metric metric, tm_domain domain,
                             tm_pose_windows_of *list, size_t count);

#endif
