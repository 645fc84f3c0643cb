/* SPDX-License-Identifier: MIT */
/* What is kept of a search, whether of the template as it is or of its poses. */
#ifndef TMATCH_CLI_OUTCOME_H
#define TMATCH_CLI_OUTCOME_H

#include "run/engine.h"

/* Takes what the engine's matcher says of its last search, and prints what it warns of, or with -v
 * all of it. */
void outcome_of_search(const cli_engine *engine, cli_result *result);

/* Says that not all peaks could be looked at, unless the run is quiet. */
void outcome_cut_off(const cli_engine *engine, const cli_result *result);

/* Whether a score is good enough for --min-score; for distances, less is better. */
bool outcome_reaches(const cli_options *options, double score);

/* Appends a match to the result. False, with the reason in pair->error, where memory ran out. */
bool outcome_add(cli_pair *pair, const cli_match *match);

/* Takes the best place, where nothing reached a threshold, the user's or that of -n 0. Without a
 * threshold it is a match whatever it scores. */
bool outcome_add_best(const cli_options *options, cli_pair *pair, const cli_match *best);

/* Makes a result of the hits, whose positions are those in a crop at x, y. False where memory ran out. */
bool outcome_take_hits(const cli_options *options, cli_pair *pair, const tm_hits *hits, int64_t x,
                       int64_t y);

#endif
