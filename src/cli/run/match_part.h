/* SPDX-License-Identifier: MIT */
/* --rows: some rows of a frame's map, of which only the frame's rows that they need were read. */
#ifndef TMATCH_CLI_MATCH_PART_H
#define TMATCH_CLI_MATCH_PART_H

#include "run/engine.h"

/* Finds what the rows have by themselves, for the result, and pair->part, which is for --merge. False with the
 * reason in pair->error. */
bool match_part(const cli_engine *engine, const cli_input *frame, const tm_image *image, bool color,
                size_t index, cli_pair *pair);

/* Writes pair->part as fields of a JSON object that goes on, for the log. */
void match_part_log(FILE *out, const cli_pair *pair);

#endif
