/* SPDX-License-Identifier: MIT */
/* docs/poses.md in plain form: every pose's picture by the formulas, pixel by pixel, its map by the
 * oracle, all peaks sorted, and suppressed by comparing all with all. */
#ifndef TMATCH_TESTS_POSES_ORACLE_H
#define TMATCH_TESTS_POSES_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "peaks_oracle.h"

/* The picture of a pose, angle and scale in millionths, trimmed; no samples where no pixel counts.
 * distance < 0: of full support. The caller frees samples and mask. */
void posed_picture(tm_image *posed, const tm_image *image, int64_t angle, int64_t scale,
                   int64_t distance);
void posed_picture_free(tm_image *posed);

/* The poses of a grid whose steps were chosen, and its disc. */
typedef struct posed_grid {
    int64_t angle_from, angle_step, angles, scale_from, scale_step, scales;
    int64_t distance; /* of the disc; -1: full */
} posed_grid;

posed_grid posed_grid_make(const tm_pose_grid *chosen, tm_support wanted, const tm_image *image);

int64_t posed_angle(const posed_grid *grid, size_t pose);
int64_t posed_scale(const posed_grid *grid, size_t pose);

typedef struct posed_truth {
    posed_grid grid;
    int64_t width, height; /* of the template */
    double sign;           /* -1: the least score is the best */
    tm_posed_hit *peaks;   /* all of all poses, sorted; score times sign */
    size_t count, room;
    bool fits; /* a pose that is not flat is no larger than the frame */
} posed_truth;

/* p->tmpl is not posed yet. */
void posed_truth_make(posed_truth *t, const scene *p, const tm_pose_grid *chosen,
                      tm_support wanted);
void posed_truth_free(posed_truth *t);

/* As truth_suppress; *doubtful: a box overlaps another one by so nearly what the search says that
 * rounding decides. */
size_t posed_truth_suppress(const posed_truth *t, const tm_search *s, tm_posed_hit *hits,
                            bool *cut_off, bool *doubtful);

#endif
