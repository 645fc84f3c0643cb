/* SPDX-License-Identifier: MIT */
/* What an engine finds out besides the matches: whether they are weak, and what may help. */
#ifndef TMATCH_CLI_DOUBT_H
#define TMATCH_CLI_DOUBT_H

#include "engine.h"

/* Whether weak places are told from others: where nobody has chosen a threshold, and the
 * metric has a scale. */
bool doubt_wanted(const cli_options *options);

/* The search for one template; false where the best match alone is wanted. Without a
 * threshold, -n 0 takes the one that suits the template's size, and several matches have to
 * correlate. Where the last frame was doubtful, so may this one be: margins come cheaper with
 * the matches than by another search. */
bool doubt_search(const cli_engine *engine, size_t index, const cli_result *result,
                  tm_search *search);

/* Whether that differs from template to template. */
bool doubt_searches_differ(const cli_options *options);

/* Marks the weak matches of a result. Where the scores at hand do not decide, the frame is
 * searched once more; where image is NULL, doubtful is weak. False with the reason in pair->error where that
 * fails. index: the template's. */
bool doubt_judge(const cli_engine *engine, const tm_image *image, const tm_template *tmpl,
                 size_t index, cli_pair *pair);

/* Looks for what hints are about, where somebody is there to read them. */
void doubt_hints(const cli_engine *engine, const cli_input *frame, const tm_image *image,
                 const tm_template *tmpl, cli_pair *pair);

#endif
