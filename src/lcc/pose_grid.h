/* SPDX-License-Identifier: MIT */
/* The poses that a template is searched in: which there are, and which pixels count in them. */
#ifndef TMATCH_LCC_POSE_GRID_H
#define TMATCH_LCC_POSE_GRID_H

#include "lcc/pose.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Angles or scales, in millionths. */
typedef struct tm_pose_axis {
    int64_t from, step;
    int64_t count; /* at least 1 */
} tm_pose_axis;

/* Pose number j * angles.count + i has angle i and scale j. */
typedef struct tm_poses {
    tm_pose_axis angles, scales;
    tm_pose_support support;
} tm_poses;

/* The most poses of a grid. */
#define TM_MAX_POSES 10000000

static inline int64_t tm_poses_count(const tm_poses *poses)
{
    return poses->angles.count * poses->scales.count;
}

/* The numbers of a pose's angle and scale. */
typedef struct tm_pose_numbers {
    int64_t angle, scale;
} tm_pose_numbers;

static inline tm_pose_numbers tm_poses_numbers(const tm_poses *poses, int64_t index)
{
    return (tm_pose_numbers){index % poses->angles.count, index / poses->angles.count};
}

static inline tm_turn tm_poses_turn(const tm_poses *poses, int64_t index)
{
    const tm_pose_numbers at = tm_poses_numbers(poses, index);
    return (tm_turn){.angle = poses->angles.from + at.angle * poses->angles.step,
                     .scale = poses->scales.from + at.scale * poses->scales.step};
}

/* What is wrong with a grid, as a clause for a message, or NULL. */
const char *tm_poses_fault(const tm_pose_grid *grid);

/* Chooses what a grid without fault leaves open for the template, a valid image of integers. Errors:
 * INVALID where it would have more than TM_MAX_POSES; MEMORY; TEMPLATE_TOO_LARGE. */
tm_status tm_poses_choose(tm_poses *poses, const tm_image *image, const tm_pose_grid *grid);

/* How much two pictures of this one's kind correlate where pixels count in both, their centres on each
 * other: 1 where there is nothing that could differ. Their sizes have one parity. */
double tm_posed_correlation(const tm_posed *a, const tm_posed *b, const tm_image *image);

#ifdef __cplusplus
}
#endif

#endif
