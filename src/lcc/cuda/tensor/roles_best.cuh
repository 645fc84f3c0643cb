/* SPDX-License-Identifier: MIT */
/* For wgmma_wide_roles.cu: which windows may be the best one, and the best of a warp's. */
#ifndef TMATCH_LCC_CUDA_TENSOR_ROLES_BEST_CUH
#define TMATCH_LCC_CUDA_TENSOR_ROLES_BEST_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/roles_block.cuh"

/* Takes the greatest of a warp's scores of a row, of which top is the thread's, for its best, if it is better and no less than
 * what is known; returns whether it is. at: position of the thread's first window. */
__device__ __forceinline__ bool tm_roles_offer(const float (&q)[TM_ROLES_EACH], float top, int known, tm_tensor_best &best,
                                               int64_t at)
{
    const int lane = threadIdx.x % 32, own = tm_score_order(top);
    if (!__any_sync(~0u, top >= -1.0f && own >= known && (own > best.order || (own == best.order && at < best.pos))))
        return false;
    const int order = __reduce_max_sync(~0u, own);
    unsigned first = ~0u;
#pragma unroll
    for (int e = TM_ROLES_EACH - 1; e >= 0; e--)
        if (__float_as_int(q[e]) == __float_as_int(tm_score_of_order(order)))
            first = TM_ROLES_EACH * lane + e;
    first = __reduce_min_sync(~0u, first);
    const int64_t pos = at - TM_ROLES_EACH * lane + first;
    if (order == best.order && best.pos <= pos)
        return false;
    best = {pos, order};
    return true;
}

/* A bound by which windows are rejected together, without a map: see lcc/reject.h. It is of the greatest of their num and the
 * least of their var_F. num / n is rounded down, and var_F is shifted. */
struct tm_roles_rejection {
    int mean, rest; // S_T / n = mean - rest / 2^32
    int shift;      // var_F < 2^14 n^2, shifted less than 2^31
    float unit, variance, n, bound;
    bool positive, weak; // the score to reach; and small, so that windows with num < n may reach it

    __device__ __forceinline__ void start(int taps, const tm_tensor_template &t)
    {
        mean = (t.sum + (taps - 1) / 2) / taps;
        rest = (int)(((int64_t)mean * taps - t.sum) * (1LL << 32) / taps);
        shift = max(0, 2 * (32 - __clz(taps)) + 14 - 31);
        unit = (float)(1LL << shift) / ((float)taps * taps);
        variance = t.variance;
        n = taps;
    }

    __device__ __forceinline__ void set(int order)
    {
        const float s = tm_score_of_order(order), of_score = tm_reject_boundf(s, variance);
        positive = s > 0;
        bound = of_score * unit;
        weak = of_score * (n - 1) < 2.25f * n * n; // var_F >= n - 1 unless it is 0
    }

    /* num / n rounded down, of a value that is off by less than 2^-10, to either side. */
    __device__ __forceinline__ int num(int s_ft, int s_f) const
    {
        return s_ft - mean * s_f + __mulhi(s_f, rest);
    }

    /* Whether windows may reach the score, of which these are the greatest num / n and the greatest of -var_F, shifted. */
    __device__ __forceinline__ bool may_reach(int most, int minus_least) const
    {
        const float greatest = (float)most + 1.5f, least = (float)(-1 - minus_least);
        return !positive || ((most > 0 || weak) && __fmaf_rn(greatest, fabsf(greatest), -(least * bound)) > 0);
    }
};

#endif
