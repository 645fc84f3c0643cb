/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels' own root, reciprocal and quotient do on a GPU, for test_score.c. */
#ifndef TMATCH_TESTS_LCC_SCORE_CUDA_H
#define TMATCH_TESTS_LCC_SCORE_CUDA_H
#include <stdbool.h>

/* Of so many products of variances, all from 1 to below 2^99: how many had a root that is not the nearest number, such a reciprocal of
 * the root, another score than __fdiv_rn's of a random num, and another quotient by one correction. */
typedef struct score_errors {
    unsigned long long tried, roots, reciprocals, scores, quotients;
    int architecture; /* __CUDA_ARCH__ of the code that ran */
} score_errors;

#ifdef __cplusplus
extern "C"
#endif
/* On GPU 0. nearest: whether its reciprocals have to be the nearest numbers, so that one correction is enough. failure: the name of a
 * CUDA error, or NULL. Returns why nothing was tried, or NULL. */
const char *score_cuda(unsigned seed, score_errors *errors, bool *nearest, const char **failure);

#endif
