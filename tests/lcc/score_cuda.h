/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels' own root, reciprocal and quotient do on a GPU, for test_score.c. */
#ifndef TMATCH_TESTS_LCC_SCORE_CUDA_H
#define TMATCH_TESTS_LCC_SCORE_CUDA_H
#include <stdbool.h>

/* Of all products of variances from 1 to below 2^99: so many had a root that is not the nearest number, such a reciprocal of the
 * root, and another score than __fdiv_rn's of a random num. failed: a CUDA call did. */
typedef struct score_errors {
    unsigned long long roots, reciprocals, scores;
    bool failed;
} score_errors;

#ifdef __cplusplus
extern "C"
#endif
/* nearest: whether reciprocals have to be the nearest numbers on GPU 0. Returns why nothing was tried, or NULL. */
const char *score_cuda(unsigned seed, score_errors *errors, bool *nearest);

#endif
