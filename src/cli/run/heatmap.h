/* SPDX-License-Identifier: MIT */
/* --heatmap: a score map as a picture. */
#ifndef TMATCH_CLI_HEATMAP_H
#define TMATCH_CLI_HEATMAP_H

#include <stdbool.h>

#include "io/io.h"
#include "options.h"
#include "run/report.h"
#include "run/score_map.h"

/* Writes the map in colour with the pair's matches marked. Each score is drawn at its window's
 * upper left corner; or, over the gray frame if that is not NULL, at its window's middle. crop: the
 * part of the frame that was matched. */
bool heatmap_write(const char *path, const cli_options *options, const score_map *map,
                   const cli_result *result, const io_crop *crop, const io_picture *frame,
                   io_error *error);

#endif
