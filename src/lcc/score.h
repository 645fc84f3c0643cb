/* SPDX-License-Identifier: MIT */
/* The score's formula, for C and CUDA. Two kernels have the same operations in a form of their
 * own, and tests compare their bits with this one's: lcc/cpu/simd/rows.h in vectors, and
 * lcc/cuda/tensor/epilogue.cuh without range checks that its operands never need.
 *
 * For a window F and a template T of n pixels each:
 *
 *     num   = n*S_FT - S_F*S_T
 *     var_F = n*S_FF - S_F^2        var_T = n*S_TT - S_T^2
 *     score = num / sqrt(var_F * var_T), 0 where var_F = 0
 *
 * The three integers are exact for n <= 2^23 and 8-bit samples. Each conversion,
 * product, root and quotient after them is one binary32 operation rounded to
 * nearest even, so every compiler must be kept from contracting or reordering:
 * -ffp-contract=off in C, the _rn intrinsics on the device. */
#ifndef TMATCH_LCC_SCORE_H
#define TMATCH_LCC_SCORE_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#ifdef __CUDACC__
#define TM_HOST_DEVICE static __host__ __device__ __forceinline__
#else
#define TM_HOST_DEVICE static inline
#endif

/* num / sqrt(var_f * var_t) of binary32 values, before what follows it. */
TM_HOST_DEVICE float tm_lcc_quotient(float num, float var_f, float var_t)
{
#ifdef __CUDA_ARCH__
    return __fdiv_rn(num, __fsqrt_rn(__fmul_rn(var_f, var_t)));
#else
    return num / sqrtf(var_f * var_t);
#endif
}

/* The score of a quotient: 0 for a flat window, else from -1 to 1. */
TM_HOST_DEVICE float tm_lcc_clamp(float quotient, bool flat)
{
    if (flat)
        return 0.0f;
    return quotient > 1.0f ? 1.0f : quotient < -1.0f ? -1.0f : quotient;
}

/* num and the variances as defined above, var_f >= 0, var_t > 0. */
TM_HOST_DEVICE float tm_lcc_score(int64_t num, int64_t var_f, float var_t)
{
#ifdef __CUDA_ARCH__
    float quotient = tm_lcc_quotient(__ll2float_rn(num), __ll2float_rn(var_f), var_t);
#else
    float quotient = tm_lcc_quotient((float)num, (float)var_f, var_t);
#endif
    return tm_lcc_clamp(quotient, var_f == 0);
}

/* Maps a score to an integer of the same order. The score is never NaN, and
 * never -0: num = 0 converts to +0. */
TM_HOST_DEVICE int32_t tm_score_order(float score)
{
#ifdef __CUDA_ARCH__
    int32_t bits = __float_as_int(score);
#else
    int32_t bits;
    memcpy(&bits, &score, sizeof bits);
#endif
    return bits >= 0 ? bits : bits ^ INT32_MAX;
}

/* The inverse of tm_score_order. */
TM_HOST_DEVICE float tm_score_of_order(int32_t order)
{
    int32_t bits = order >= 0 ? order : order ^ INT32_MAX;
#ifdef __CUDA_ARCH__
    return __int_as_float(bits);
#else
    float score;
    memcpy(&score, &bits, sizeof score);
    return score;
#endif
}

/* A position of the score map with what it is ranked by: the score's order, or the
 * sum itself where the metric's values are integers; negated for distances. position = y * map width + x, so the smaller
 * position is the smaller y, then the smaller x. */
typedef struct tm_candidate {
    int64_t value;
    int64_t position;
} tm_candidate;

#define TM_NO_CANDIDATE {INT64_MIN, INT64_MAX}

TM_HOST_DEVICE int tm_candidate_beats(tm_candidate a, tm_candidate b)
{
    return a.value > b.value || (a.value == b.value && a.position < b.position);
}

#endif
