/* SPDX-License-Identifier: MIT */
/* --verify: every score again, by the definition. */
#ifndef TMATCH_CLI_VERIFY_H
#define TMATCH_CLI_VERIFY_H

#include <stdbool.h>
#include <stdint.h>

#include <tmatch/tmatch.h>

#include "map.h"

typedef struct verification {
    int64_t positions;
    int64_t differing; /* in any bit */
    double max_abs_error;
    double relative_l1_error; /* sum |a - b| / sum |b|, b by the definition */
    bool same_peak;
} verification;

/* Compares two maps of the same size and metric. */
verification verify_compare(const score_map *map, const score_map *truth);

bool verify_passed(const verification *verification);

#endif
