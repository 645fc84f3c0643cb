/* SPDX-License-Identifier: MIT */
/* How poses of matches are spelt in the output. */
#ifndef TMATCH_CLI_POSE_H
#define TMATCH_CLI_POSE_H

#include <stdio.h>

#include "io/io.h"
#include "run/report.h"

/* Whether matches may be turned, and whether they may be resized. */
bool pose_turns(const cli_options *options);
bool pose_resizes(const cli_options *options);

/* Sets the corners by the fine angle and scale, which the API's are not. width, height: the
 * template's. */
void pose_corners(cli_pose *pose, int64_t width, int64_t height);

/* Where the corners are drawn. */
io_corners pose_place(const cli_pose *pose);

/* " angle=30 scale=1.25 center=139.5,240 corners=x,y,x,y,x,y,x,y"; the first two alone where brief. */
void pose_text(FILE *out, const cli_options *options, const cli_pose *pose, bool brief);

/* ",\"angle\":30,\"scale\":1.25,\"center\":[139.5,240],\"corners\":[[x,y],[x,y],[x,y],[x,y]]" */
void pose_json(FILE *out, const cli_options *options, const cli_pose *pose);

/* The names of columns and their values, with a comma before each. */
#define POSE_CSV_HEAD ",angle,scale,center_x,center_y,corners"
void pose_csv(FILE *out, const cli_options *options, const cli_pose *pose);

/* ".30deg.1.25x", for files: that of the grid. */
enum { POSE_SUFFIX_SIZE = 64 };
void pose_suffix(char text[POSE_SUFFIX_SIZE], double angle, double scale);

#endif
