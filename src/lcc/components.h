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

/* The products of a with count rows, one after the other: each the sum that tm_dot makes. */
static inline void tm_dots(double *to, const double *a, const double *rows, int count, int64_t n)
{
    int i = 0;
    for (; i + 4 <= count; i += 4) { /* one sum alone waits for each of its additions */
        const double *b = rows + i * n;
        double sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;
#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
        for (int64_t k = 0; k < n; k++) {
            sum0 += a[k] * b[k];
            sum1 += a[k] * b[n + k];
            sum2 += a[k] * b[2 * n + k];
            sum3 += a[k] * b[3 * n + k];
        }
        to[i] = sum0;
        to[i + 1] = sum1;
        to[i + 2] = sum2;
        to[i + 3] = sum3;
    }
    for (; i < count; i++)
        to[i] = tm_dot(a, rows + i * n, n);
}

/* The same of whole numbers of at most 256: exact. */
void tm_whole_dots(double *to, const int16_t *a, const int16_t *rows, int count, int64_t n);

/* Makes the sum of taps of 8 bits 0, by changes of 1. */
void tm_taps_balance(int16_t *taps, int64_t count);

/* Finds count principal components of vectors, nearly, the greatest first: each as a row of size
 * weights of the vectors. gram has the size * size products of the vectors; next as many rows of
 * room as weights. */
void tm_components_find(double *weights, double *next, const double *gram, int count, int size);

/* The inverse of the lower Cholesky factor of the products of count rows of taps with each other, of which the
 * lower half is read; those that depend on the ones before get rows of 0. */
void tm_factor_invert(double gram[TM_FAMILY_BASIS][TM_FAMILY_BASIS], int count,
                      double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS]);

#endif
