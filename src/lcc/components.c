/* SPDX-License-Identifier: MIT */
#include "lcc/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

enum {
    ROUNDS = 12,
    WHOLE_AT_ONCE = 8192, /* products of so many fit 32 bits, and the rows that they are made of the cache */
};

/* Adds the products of a with four rows, n apart. */
static void add_whole(double *to, const int16_t *a, const int16_t *b, int64_t n, int64_t count)
{
    int32_t sum0 = 0, sum1 = 0, sum2 = 0, sum3 = 0;

#pragma omp simd reduction(+ : sum0, sum1, sum2, sum3)
    for (int64_t k = 0; k < count; k++) {
        sum0 += a[k] * b[k];
        sum1 += a[k] * b[n + k];
        sum2 += a[k] * b[2 * n + k];
        sum3 += a[k] * b[3 * n + k];
    }
    to[0] += sum0;
    to[1] += sum1;
    to[2] += sum2;
    to[3] += sum3;
}

void tm_whole_dots(double *to, const int16_t *a, const int16_t *rows, int count, int64_t n)
{
    memset(to, 0, (size_t)count * sizeof *to);
    for (int64_t begin = 0; begin < n; begin += WHOLE_AT_ONCE) {
        const int64_t part = smaller(WHOLE_AT_ONCE, n - begin);
        int i = 0;
        for (; i + 4 <= count; i += 4)
            add_whole(to + i, a + begin, rows + i * n + begin, n, part);
        for (; i < count; i++) {
            int32_t sum = 0;
#pragma omp simd reduction(+ : sum)
            for (int64_t k = begin; k < begin + part; k++)
                sum += a[k] * rows[i * n + k];
            to[i] += sum;
        }
    }
}

void tm_taps_balance(int16_t *taps, int64_t count)
{
    int64_t sum = 0;

    for (int64_t i = 0; i < count; i++)
        sum += taps[i];
    for (int64_t i = 0; sum; i = (i + 1) % count) {
        const int step = sum > 0 ? 1 : -1;
        if (abs(taps[i] - step) > 127)
            continue;
        taps[i] = (int16_t)(taps[i] - step);
        sum -= step;
    }
}

/* Makes the rows orthonormal, one after the other; those that vanish become 0. */
static void orthonormalize(double *rows, int count, int64_t n)
{
    for (int i = 0; i < count; i++) {
        double *row = rows + i * n;
        const double before = tm_dot(row, row, n);
        for (int again = 0; again < 2; again++) {
            for (int j = 0; j < i; j++) {
                const double part = tm_dot(row, rows + j * n, n);
                for (int64_t k = 0; k < n; k++)
                    row[k] -= part * rows[j * n + k];
            }
        }
        const double square = tm_dot(row, row, n);
        const double scale = square > 1e-12 * before && square > 0 ? 1 / sqrt(square) : 0;
        for (int64_t k = 0; k < n; k++)
            row[k] *= scale;
    }
}

/* Orthogonal iteration; Golub and Van Loan, Matrix Computations, 7.3.2. */
void tm_components_find(double *weights, double *next, const double *gram, int count, int size)
{
    for (int i = 0; i < count; i++) {
        for (int k = 0; k < size; k++) /* no component is at right angles to all of these */
            weights[i * size + k] = cos(2.4 * (i + 1) * (k + 0.5)) + (i == k % count);
    }
    orthonormalize(weights, count, size);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < count; i++)
            tm_dots(next + i * size, weights + i * size, gram, size, size);
        memcpy(weights, next, (size_t)count * (size_t)size * sizeof *weights);
        orthonormalize(weights, count, size);
    }
}

void tm_factor_invert(double gram[TM_FAMILY_BASIS][TM_FAMILY_BASIS], int count,
                      double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS])
{
    double factor[TM_FAMILY_BASIS][TM_FAMILY_BASIS] = {{0}};

    memset(solve, 0, sizeof(double) * TM_FAMILY_BASIS * TM_FAMILY_BASIS);
    for (int i = 0; i < count; i++) {
        double square = gram[i][i];
        const double whole = square;
        for (int j = 0; j < i; j++) {
            double part = gram[i][j];
            for (int k = 0; k < j; k++)
                part -= factor[i][k] * factor[j][k];
            factor[i][j] = factor[j][j] > 0 ? part / factor[j][j] : 0;
            square -= factor[i][j] * factor[i][j];
        }
        if (square <= 0.01 * whole || whole == 0)
            continue;
        factor[i][i] = sqrt(square);
        solve[i][i] = 1 / factor[i][i];
        for (int j = 0; j < i; j++) {
            double sum = 0;
            for (int k = j; k < i; k++)
                sum += factor[i][k] * solve[k][j];
            solve[i][j] = -sum / factor[i][i];
        }
    }
}
