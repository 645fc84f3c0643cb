/* SPDX-License-Identifier: MIT */
/* The options of poses, --angle and --scale. */
#ifndef TMATCH_CLI_OPTIONS_POSES_H
#define TMATCH_CLI_OPTIONS_POSES_H

#include <stdbool.h>

#include "options.h"

/* Each reads FROM:TO, FROM:TO:STEP or a single number into the grid, where a step of 0 stands for
 * "auto". False after a usage error. */
bool options_angle(const char *text, tm_pose_grid *grid);
bool options_scale(const char *text, tm_pose_grid *grid);

/* Whether options go together with poses, and those of poses with them. False after a usage error. */
bool options_check_poses(const cli_options *options);

#endif
