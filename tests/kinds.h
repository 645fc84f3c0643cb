/* SPDX-License-Identifier: MIT */
/* Random problems of every kind of picture: 8 and 16 bits, channels, masks. */
#ifndef TMATCH_TESTS_KINDS_H
#define TMATCH_TESTS_KINDS_H

#include <stdbool.h>

#include "tmatch/tmatch.h"

typedef struct kind_problem {
    tm_image frame, tmpl;
    void *memory[4];
    tm_metric metric;
    tm_domain domain;
    char text[200];
} kind_problem;

/* A map (of TM_DOMAIN_VALID) and a template of these sizes. */
void kind_of_size(kind_problem *p, int64_t map_w, int64_t map_h, int64_t w, int64_t h);

/* Up to about this many products. */
void kind_random(kind_problem *p, double products);
void kind_free(kind_problem *p);

/* Fails the test where the map or the best match that settings give differ in a
 * bit from the oracle's. Returns the number of map elements that were compared. */
int64_t kind_compare(const kind_problem *p, tm_settings settings);

/* Whether place and score are the same, bit for bit. */
bool kind_same_peak(const tm_peak *a, const tm_peak *b);

/* Compares the oracle with the formulas in floating point. */
void kind_check_oracle(const kind_problem *p);

#endif
