/* SPDX-License-Identifier: MIT */
/* Exact scores of posed templates in a few windows each, of any kind of picture and metric. */
#ifndef TMATCH_LCC_CPU_POSE_WINDOWS_H
#define TMATCH_LCC_CPU_POSE_WINDOWS_H

#include "lcc/cpu/direct.h"
#include "lcc/pose_peak.h"

/* One posed template, and the positions that are asked for: those of its corner in the frame from (x, y) on
 * that are in its map. */
typedef struct tm_pose_windows_of {
    const tm_template *tmpl; /* NULL: the pose is left out */
    size_t pose;
    int64_t x, y, across, down;
    tm_pose_peak best; /* out: the best of them; TM_NO_POSE_PEAK where there is none */
    int64_t scored;    /* out: how many there are */
} tm_pose_windows_of;

/* Scores them all. Errors: MEMORY. */
tm_status tm_cpu_score_pose_windows(tm_cpu *cpu, const tm_image *frame, tm_metric metric, tm_domain domain,
                                    tm_pose_windows_of *list, size_t count);

#endif
