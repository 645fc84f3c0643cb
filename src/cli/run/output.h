/* SPDX-License-Identifier: MIT */
/* Files of a score map and of a template. */
#ifndef TMATCH_CLI_OUTPUT_H
#define TMATCH_CLI_OUTPUT_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "io/io.h"
#include "options.h"
#include "run/report.h"
#include "run/score_map.h"

bool output_map(const char *path, const score_map *map, io_error *error);

/* The normalized template: as .txt its floats, as .png the same stretched over
 * 0 to 255, for looking at. */
bool output_template(const char *path, const tm_template *tmpl, int64_t width, int64_t height,
                     io_error *error);

#endif
