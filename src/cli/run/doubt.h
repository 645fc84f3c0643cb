/* SPDX-License-Identifier: MIT */
/* What is found out about matches by further searches: whether they are weak, and what may help. */
#ifndef TMATCH_CLI_DOUBT_H
#define TMATCH_CLI_DOUBT_H

#include "run/engine.h"

/* Sets the search for one template; false where the best match alone is enough. Without a
 * threshold, -n 0 takes one that suits the template's size, and several matches have to score more
 * than 0. Where the last frame's match was doubtful, margins are asked for at once, which is
 * cheaper than another search. */
bool doubt_search(const cli_engine *engine, size_t index, const cli_result *result,
                  tm_search *search);

/* Marks the weak matches of a result. Where the scores at hand do not decide, the frame is
 * searched once more; where image is NULL, a doubtful match counts as weak. False with the reason
 * in pair->error where the search fails. index: the template's; color: in colour. */
bool doubt_judge(const cli_engine *engine, const tm_device_image *image, bool color, size_t index,
                 cli_pair *pair);

/* The parts of it: whether no match is weak, and what marks them by the best score elsewhere, or all, where
 * that is unknown. */
bool doubt_is_settled(const cli_options *options, const cli_result *result);
void doubt_mark(cli_result *result, double rest, bool unknown);

/* Finds out what hints can be given, unless the run is quiet. */
void doubt_hints(const cli_engine *engine, const cli_input *frame, const tm_device_image *image,
                 bool color, size_t index, cli_pair *pair);

#endif
