/* SPDX-License-Identifier: MIT */
/* Frames that are read and matched by rows, because --max-memory has no room for them. */
#ifndef TMATCH_CLI_MATCH_ROWS_H
#define TMATCH_CLI_MATCH_ROWS_H

#include "run/engine.h"

/* Finds the best match of each of the chosen templates, engine->order[0 .. count), in the crop of
 * the frame: engine->peaks[k] is that of order[k]. Writes --map. False with the reason. */
bool match_rows(const cli_engine *engine, const cli_input *frame, const io_crop *crop,
                size_t count, const cli_pair *pairs, io_error *error);

#endif
