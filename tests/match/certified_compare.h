/* SPDX-License-Identifier: MIT */
/* One random scene by certified search, beside exhaustive search and the oracle. */
#ifndef TMATCH_TESTS_CERTIFIED_COMPARE_H
#define TMATCH_TESTS_CERTIFIED_COMPARE_H

#include <stdbool.h>

#include "certified_scenes.h"

enum { DOMAINS = 3, VARIANTS = 3 };

/* What is tested: matchers that are kept across cases, with 1 to VARIANTS threads on the CPU
 * where the settings have none, on one device or all on CUDA. Begins with zeros but settings. */
typedef struct certified_test {
    tm_settings settings;
    tm_matcher *certified[DOMAINS][VARIANTS], *exhaustive[DOMAINS], *oracle[DOMAINS];
    int64_t cases, certified_cases, with_oracle;
    double scored; /* sum of the cases' shares */
} certified_test;

/* Fails the test where a bit of an answer differs: the best match of one or several templates,
 * peaks, the best match by rows, or a map. */
void compare_certified(certified_test *b);

/* That the plan of the last match on this matcher says the share of windows that was scored as tm_matcher_scored does. */
void compare_share(tm_matcher *matcher, const char *text);

/* That the last match on this matcher says what ran; counts it. text is what was drawn. */
void count_certified(certified_test *b, tm_matcher *matcher, const char *text);

void certified_test_close(certified_test *b);

/* Draws whether margins are asked for, and whether all or those of places that come near; and whether matches alone. */
void draw_wishes(tm_search *search);

/* Whether two matches in poses are the same, bit for bit. */
bool same_posed_hit(const tm_posed_hit *a, const tm_posed_hit *b);

#endif
