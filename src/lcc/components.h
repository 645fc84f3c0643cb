/* SPDX-License-Identifier: MIT */
/* Principal components of vectors, and a basis of them. */
#ifndef TMATCH_LCC_COMPONENTS_H
#define TMATCH_LCC_COMPONENTS_H

#include "lcc/family.h"

static inline double tm_dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Finds count principal components of vectors, nearly, the greatest first: each as a row of size
 * weights of the vectors. gram has the size * size products of the vectors; next as many rows of
 * room as weights. */
void tm_components_find(double *weights, double *next, const double *gram, int count, int size);

/* The inverse of the lower Cholesky factor of the products of count rows of taps, n each; those that
 * depend on the ones before get rows of 0. */
void tm_factor_invert(const double *taps, int count, int64_t n,
                      double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS]);

#endif
