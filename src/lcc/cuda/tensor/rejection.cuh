/* SPDX-License-Identifier: MIT */
/* For the best match: whether some windows may reach a score, tested beside products of wgmma. A multiplication whose result has
 * 64 bits holds these up by some two cycles of the multiprocessor's, as measured on an H100, where none of 32 bits was seen to: both
 * want the registers. So num / n and var_F / n are made in binary32, with margins.
 *
 * With u = 2^-24, and sums of n pixels of at most 255, or of these less 128: num / n is off by at most 3 u of itself and
 * 255 u n < n / 2^15, as the integer that it is made of is rounded, then the rest of S_T / n, then their sum. var_F / n is off by less
 * than n / 64: S_FF and S_F^2 / n, each at most 65025 n, are rounded, the latter twice, and so is their difference, at most 2^14 n.
 * For 3 u of num, 6 u of its square, lcc/reject.h has room. */
#ifndef TMATCH_LCC_CUDA_TENSOR_REJECTION_CUH
#define TMATCH_LCC_CUDA_TENSOR_REJECTION_CUH
#include "lcc/cuda/tensor/epilogue.cuh"

/* The greatest num / n and the least var_F / n of some windows. */
struct tm_extremes {
    float most = -3.4e38f;
    int least = INT_MAX; // its bits, whose order is that of positive numbers; of negative ones any will do
};

struct tm_rejection {
    /* What both are off by at most, times n. */
    static constexpr float NUM_MARGIN = 0x1p-15f, VAR_MARGIN = 0x1p-6f;

    int minus_mean;      // S_T / n = -minus_mean - rest
    float rest, n, of_n; // of_n: 1 / n
    float variance;      // var_T
    float bound, floor;  // of the score to reach
    float minus_slack;   // -inf where that is not above 0, which all may reach; else 0

    /* taps: n, at most 33025. */
    __device__ __forceinline__ void start(int taps, const tm_tensor_template &t)
    {
        const int mean = (t.sum + (taps - 1) / 2) / taps;
        minus_mean = -mean;
        n = taps;
        rest = __fdiv_rn((float)(mean * taps - t.sum), n);
        of_n = __fdiv_rn(1.0f, n);
        variance = t.variance;
        /* The compiler would make these again at each use. */
        asm volatile("" : "+r"(minus_mean), "+f"(rest), "+f"(of_n));
    }

    /* Sets the score to reach, by its order. A window that is not flat has var_F >= n - 1; so where it reaches a score that is not very
     * small, its num / n is more than twice the error. Flat windows, whose num is 0, do not pass then. */
    __device__ __forceinline__ void set(int order)
    {
        const float s = tm_score_of_order(order), of_score = tm_reject_boundf(s, variance), twice = n * n * (2 * NUM_MARGIN);
        const bool positive = s > 0;
        bound = positive ? of_score * of_n : 0.0f;
        minus_slack = positive ? 0.0f : __int_as_float((int)0xff800000);
        floor = positive && of_score * (n - 1) >= twice * twice ? n * NUM_MARGIN : -3.4e38f;
    }

    /* Counts a window in. All sums may be of pixels less 128. */
    __device__ __forceinline__ void offer(tm_extremes &e, int s_ft, int s_f, int s_ff) const
    {
        /* Else the compiler converts all accumulators at once, for which there are no registers. */
        float num;
        asm volatile("cvt.rn.f32.s32 %0, %1;" : "=f"(num) : "r"(s_ft + minus_mean * s_f));
        const float f = (float)s_f;
        e.most = fmaxf(e.most, __fmaf_rn(f, rest, num));
        e.least = min(e.least, __float_as_int(__fmaf_rn(f * of_n, -f, (float)s_ff)));
    }

    /* Whether one of the windows may reach the score. */
    __device__ __forceinline__ bool may_reach(const tm_extremes &e) const
    {
        const float most = e.most + n * NUM_MARGIN, least = __int_as_float(e.least) - n * VAR_MARGIN;
        return (e.most > floor) & (__fmaf_rn(most, fabsf(most), -__fmaf_rn(least, bound, minus_slack)) > 0);
    }
};

#endif
