/* SPDX-License-Identifier: MIT */
/* Our own transforms: Stockham's, which sort themselves. A pass of radix r reads points r apart by
 * a length's part and writes them next to each other: with stride s, the product of the radices of
 * the passes before it, and m = length / (r * s),
 *
 *     to[q + s * (r * p + k)] = root(p * k) * sum over j of from[q + s * (p + j * m)] * exp(-2 pi i j k / r)
 *
 * for p < m, k < r and q < s, where root(e) = exp(-2 pi i e / (r * m)). */
#ifndef TMATCH_FFT_CPU_OWN_H
#define TMATCH_FFT_CPU_OWN_H

#include "fft/cpu/transform.h"

enum { TM_OWN_PASSES = 16 };

/* The roots are those of p, all k > 0 one after the other; of the first pass those of k for all p.
 * The last one has none, as its m is 1. */
typedef struct tm_own_pass {
    int radix; /* 3, 4, 5 or 8; the first one's is even */
    int m, stride;
    const tm_fft_point *roots;
} tm_own_pass;

typedef void tm_own_pass_fn(const tm_own_pass *pass, bool backward, const tm_fft_point *from,
                            tm_fft_point *to);

/* The pass for m > 1 and stride 1, for others, and for m = 1, where from may be to. */
typedef struct tm_own_passes {
    tm_own_pass_fn *first, *middle, *last;
} tm_own_passes;

extern const tm_own_passes tm_own_passes_c, tm_own_passes_avx2;

#endif
