/* SPDX-License-Identifier: MIT */
/* Frames that are read and matched by rows, because --max-memory has no room for
 * them. */
#ifndef TMATCH_CLI_ROWS_H
#define TMATCH_CLI_ROWS_H

#include "engine.h"

/* Matches the templates that are chosen, engine->order[0 .. count); writes --map. */
void cli_rows_match(const cli_engine *engine, const cli_input *frame, const io_crop *crop,
                    size_t count, cli_pair *pairs);

#endif
