/* SPDX-License-Identifier: MIT */
/* The files that a run leaves behind, besides its results. */
#ifndef TMATCH_CLI_OUTPUT_H
#define TMATCH_CLI_OUTPUT_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "frames.h"
#include "input.h"
#include "map.h"
#include "options.h"
#include "report.h"
#include "template.h"

/* Before any work: refuses an output that is an input or another output, is a
 * directory or has no directory to be in. Prints why. */
bool output_check(const cli_options *options, const cli_frames *frames,
                  const cli_templates *templates);

/* The frame in its own colours with the match drawn on it. */
bool output_annotated(const char *path, const cli_input *frame, const io_limits *limits,
                      const cli_result *result, tm_metric metric, io_error *error);

bool output_map(const char *path, const score_map *map, io_error *error);

/* The normalized template: as .txt its floats, as .png the same stretched over
 * 0 to 255, for looking at. */
bool output_template(const char *path, const tm_template *tmpl, int64_t width, int64_t height,
                     io_error *error);

#endif
