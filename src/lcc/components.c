/* SPDX-License-Identifier: MIT */
#include "lcc/components.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 12 };

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

void tm_factor_invert(const double *taps, int count, int64_t n,
                      double solve[TM_FAMILY_BASIS][TM_FAMILY_BASIS])
{
    double factor[TM_FAMILY_BASIS][TM_FAMILY_BASIS] = {{0}};

    memset(solve, 0, sizeof(double) * TM_FAMILY_BASIS * TM_FAMILY_BASIS);
    for (int i = 0; i < count; i++) {
        double square = tm_dot(taps + i * n, taps + i * n, n);
        const double whole = square;
        for (int j = 0; j < i; j++) {
            double part = tm_dot(taps + i * n, taps + j * n, n);
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
