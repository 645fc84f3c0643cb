/* SPDX-License-Identifier: MIT */
/* One frame and all templates: which can be compared, how they are matched, and what comes of it. */
#ifndef TMATCH_CLI_MATCH_H
#define TMATCH_CLI_MATCH_H

#include "run/engine.h"

/* Matches all templates in the crop of the frame, and verifies if that is asked for. The pairs,
 * one for each template, have their names and may have room for matches; those that cannot be
 * matched get their error, after a message. Where the deadline of the frame's source passes, those
 * that are left get no message. */
void match_frame(const cli_engine *engine, const cli_input *frame, const io_crop *crop,
                 const cli_templates *templates, cli_pair *pairs);

/* Says that samples of so many bits cannot be compared with those of the template that is called so, and which option says how. */
bool match_fail_bits(io_error *error, int bits, const char *tmpl, int template_bits);

#endif
