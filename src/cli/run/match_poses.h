/* SPDX-License-Identifier: MIT */
/* One frame and one template in all poses of --angle and --scale. */
#ifndef TMATCH_CLI_MATCH_POSES_H
#define TMATCH_CLI_MATCH_POSES_H

#include "run/engine.h"

/* Matches template i, in colour or not, in the crop of a frame, and verifies if that is asked for.
 * False with the reason in pair->error. */
bool match_poses(const cli_engine *engine, const cli_input *frame, const tm_device_image *image, bool color,
                 const io_crop *crop, size_t i, cli_pair *pair);

#endif
