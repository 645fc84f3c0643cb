/* SPDX-License-Identifier: MIT */
/* Whether the score of a match says that the template is there, or may be chance. The numbers
 * are from docs/choosing-a-threshold.md; they are for lcc, the metric that has a scale. */
#ifndef TMATCH_CLI_WEAK_H
#define TMATCH_CLI_WEAK_H

#include <stdbool.h>
#include <stdint.h>

#include "options.h"

/* The score that -n 0 asks of large templates. */
#define WEAK_LEAST_SCORE 0.8

/* Whether weak matches are told from others: where nobody has chosen a threshold, and the metric
 * has a scale. */
bool weak_is_judged(const cli_options *options);

/* Whether each template gets a threshold that suits its size, as with -n 0. */
bool weak_sets_thresholds(const cli_options *options);

/* The most of a template's pixels that can count: in poses, those of the largest. */
int64_t weak_most_pixels(const cli_options *options, int64_t pixels);

/* The score of a template of so many pixels that is enough whatever other positions score, and
 * the one that -n 0 asks for. */
double weak_clear_score(int64_t pixels);
double weak_least_score(int64_t pixels);

/* Whether the score alone does not decide. */
bool weak_needs_rest(double score, int64_t pixels);

/* rest: the best score at other positions, NAN where there are none. */
bool weak_is(double score, double rest, int64_t pixels);

#endif
