/* SPDX-License-Identifier: MIT */
/* Whether a place's score says that the template is there, or may be chance. The numbers
 * are from docs/choosing-a-threshold.md; they are for lcc, the metric that has a scale. */
#ifndef TMATCH_CLI_WEAK_H
#define TMATCH_CLI_WEAK_H

#include <stdbool.h>
#include <stdint.h>

/* The score that -n 0 asks for, of large templates. */
#define WEAK_LEAST_SCORE 0.8

/* The score of a template of so many pixels that is enough whatever the other places
 * score, and the one that -n 0 asks for. */
double weak_clear_score(int64_t pixels);
double weak_least_score(int64_t pixels);

/* Whether the score alone does not decide. */
bool weak_needs_rest(double score, int64_t pixels);

/* rest: the best score of the other places, NAN where there are none. */
bool weak_is(double score, double rest, int64_t pixels);

#endif
