/* SPDX-License-Identifier: MIT */
/* Random matching problems of float f32_problem, and their comparison with the oracle. */
#ifndef TMATCH_TESTS_F32_PROBLEM_H
#define TMATCH_TESTS_F32_PROBLEM_H

#include "tmatch/tmatch.h"

typedef struct f32_problem {
    tm_image frame, tmpl;
    float *memory[2];
    uint8_t *masks[2];
} f32_problem;

/* The size is the map's width and height, and the template's. */
void f32_problem_make(f32_problem *p, const int64_t size[4]);
void f32_problem_free(f32_problem *p);
void f32_random_size(int64_t size[4]);

/* Fails the test where a score is not within its bound of the oracle's, or best is not
 * the map's. Returns the greatest error over its bound, of every position or of each
 * step's. */
double f32_check_map(const f32_problem *p, const tm_settings *s, const float *map,
                        const tm_peak *best, int64_t step);

#endif
