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
        for (int i = 0; i < count; i++) {
            for (int k = 0; k < size; k++)
                next[i * size + k] = tm_dot(weights + i * size, gram + (int64_t)k * size, size);
        }
        memcpy(weights, next, (size_t)count * (size_t)size * sizeof *weights);
        orthonormalize(weights, count, size);
    }
}
