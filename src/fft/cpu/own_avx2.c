/* SPDX-License-Identifier: MIT */
/* Two points a vector. */
#include <immintrin.h>

#include "fft/cpu/own.h"

#define ALWAYS_INLINE static inline __attribute__((always_inline))
#define POINTS 2

typedef __m256d vec;

ALWAYS_INLINE vec zero(void)
{
    return _mm256_setzero_pd();
}

ALWAYS_INLINE vec load(const tm_fft_point *from)
{
    return _mm256_loadu_pd(*from);
}

ALWAYS_INLINE void store(tm_fft_point *to, vec v)
{
    _mm256_storeu_pd(*to, v);
}

/* Each point of the count vectors, then each next one. */
ALWAYS_INLINE void store_rows(tm_fft_point *to, const vec *v, int count)
{
    for (int i = 0; i + 1 < count; i += 2) {
        store(to + i, _mm256_permute2f128_pd(v[i], v[i + 1], 0x20));
        store(to + count + i, _mm256_permute2f128_pd(v[i], v[i + 1], 0x31));
    }
}

ALWAYS_INLINE vec every_root(const tm_fft_point *root)
{
    return _mm256_broadcast_pd((const __m128d *)root);
}

ALWAYS_INLINE vec add(vec a, vec b)
{
    return _mm256_add_pd(a, b);
}

ALWAYS_INLINE vec sub(vec a, vec b)
{
    return _mm256_sub_pd(a, b);
}

ALWAYS_INLINE vec scale(vec v, double by)
{
    return _mm256_mul_pd(v, _mm256_set1_pd(by));
}

ALWAYS_INLINE vec turn(vec v)
{
    return _mm256_xor_pd(_mm256_permute_pd(v, 5), _mm256_setr_pd(-0.0, 0, -0.0, 0));
}

ALWAYS_INLINE vec rotate(vec v, vec root, bool backward)
{
    const vec re = _mm256_movedup_pd(root), im = _mm256_permute_pd(root, 15);
    const vec product = _mm256_mul_pd(_mm256_permute_pd(v, 5), im);
    return backward ? _mm256_fmsubadd_pd(v, re, product) : _mm256_fmaddsub_pd(v, re, product);
}

#include "fft/cpu/own_passes.h"

const tm_own_passes tm_own_passes_avx2 = {first, middle, last};
