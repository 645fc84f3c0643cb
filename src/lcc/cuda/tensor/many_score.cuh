/* SPDX-License-Identifier: MIT */
/* From S_FT of many templates to the best window of each, for wgmma_many.cu.
 *
 * A thread has the sums of 2 SHIFTS windows with GROUP / 4 templates. Of its sums[GROUP / 8 s + i][2 a + e],
 * the window is the one of row s and column 16 warp + 8 a + lane / 4, the template 8 i + 2 (lane % 4) + e.
 *
 * score >= s > 0 means that S_FT - S_F S_T / n reaches s root(var_F) root(var_T) / n. In binary32 the left
 * side is off by at most 3 roundings of n 255^2, and the margin of lcc/reject.h, halved by the root, covers
 * the 8 roundings of the right side with the score's own. */
#ifndef TMATCH_LCC_CUDA_TENSOR_MANY_SCORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_MANY_SCORE_CUH
#include "lcc/cuda/tensor/many_sums.cuh"

/* A limit that every window passes, and one that none does, beside any root. */
#define TM_MANY_ALL (-1e30f)
#define TM_MANY_NONE 1e30f

/* This thread's template, of which it keeps the limits: S_T / n, and what a window's root of var_F is
 * multiplied by. */
struct tm_many_limit {
    float mean, factor;

    __device__ __forceinline__ tm_many_limit(const tm_tensor_job &j, int k, int n)
    {
        tm_tensor_template t = {};
        if (k < j.count)
            t = j.templates[k];
        mean = __fdiv_rn((float)t.sum, (float)n);
        factor = k < j.count ? __fdiv_rn(__fsqrt_rn(t.variance), (float)n) * (float)(1 - TM_REJECT_MARGIN / 2)
                             : -1.0f;
    }

    __device__ __forceinline__ float2 of(int running_best) const
    {
        const float s = tm_score_of_order(running_best);
        return make_float2(mean, factor < 0 ? TM_MANY_NONE : s > 0 ? s * factor : TM_MANY_ALL);
    }
};

/* How much a sum lies above its limit, rounded. */
__device__ __forceinline__ float tm_many_excess(int s_ft, float2 window, float mean, float limit)
{
    return __fmaf_rn(-window.y, limit, __fmaf_rn(-window.x, mean, __int2float_rn(s_ft)));
}

/* The step's place, and what its windows need besides their sums. */
template <int GROUP, int STEPS, int SHIFTS>
struct tm_many_step {
    const tm_many_scratch<GROUP, STEPS, SHIFTS> *scratch;
    tm_tensor_best *best; /* of this warp */
    int n;
    float slack;          /* that an excess lacks at most */
    int x, y, cols, rows; /* of the warpgroup's windows in the map, and how many are in it */
};

/* The windows that this thread has sums of. */
template <int SHIFTS>
struct tm_many_windows {
    float2 of[SHIFTS][2];
    int column;

    template <int GROUP, int STEPS>
    __device__ __forceinline__ tm_many_windows(const tm_many_scratch<GROUP, STEPS, SHIFTS> &scratch)
    {
        column = threadIdx.x % TM_MANY_THREADS / 32 * 16 + threadIdx.x % 32 / 4;
#pragma unroll
        for (int s = 0; s < SHIFTS; s++)
#pragma unroll
            for (int a = 0; a < 2; a++)
                of[s][a] = scratch.windows[s][column + 8 * a];
    }
};

/* Scores the warp's windows for template k, which 8 lanes share, and takes the best of them. s_ft: of
 * this thread's windows. */
template <int GROUP, int STEPS, int SHIFTS>
__device__ __forceinline__ void tm_many_offer(const int (&s_ft)[SHIFTS][2], const tm_many_windows<SHIFTS> &windows,
                                              const tm_many_step<GROUP, STEPS, SHIFTS> &step, const tm_tensor_job &j, int k)
{
    const tm_tensor_template t = j.templates[min(k, j.count - 1)];
    int order = INT_MIN, at = INT_MAX;
#pragma unroll
    for (int s = 0; s < SHIFTS; s++)
#pragma unroll
        for (int a = 0; a < 2; a++) {
            const int x = windows.column + 8 * a;
            const float num = tm_tensor_num<false>(s_ft[s][a], (unsigned)(int)windows.of[s][a].x, step.n, t.sum);
            const int o = tm_score_order(tm_tensor_score(num, step.scratch->minus_var[s][x], -t.variance));
            if (x < step.cols && s < step.rows && o > order)
                order = o, at = TILE_WIDTH * s + x;
        }
#pragma unroll
    for (int d = 4; d < 32; d *= 2) {
        const int o = __shfl_xor_sync(~0u, order, d), p = __shfl_xor_sync(~0u, at, d);
        if (o > order || (o == order && p < at))
            order = o, at = p;
    }
    if (threadIdx.x % 32 >= 4 || k >= j.count || order == INT_MIN)
        return;
    tm_tensor_best &best = step.best[k];
    const int64_t pos = (step.y + at / TILE_WIDTH) * j.map_width + step.x + at % TILE_WIDTH;
    if (order < best.order || (order == best.order && pos > best.pos))
        return;
    best.order = order;
    best.pos = pos;
    atomicMax(j.running_bests + k, order);
}

/* Takes the best of a step's windows. sums is lost where any may be. */
template <int GROUP, int STEPS, int SHIFTS>
__device__ __forceinline__ void tm_many_score(int (&sums)[GROUP / 8 * SHIFTS][4], const tm_many_windows<SHIFTS> &windows,
                                              const tm_many_step<GROUP, STEPS, SHIFTS> &step, const tm_tensor_job &j)
{
    enum { EIGHTS = GROUP / 8 };
    const float4 *const limits = (const float4 *)step.scratch->limits + threadIdx.x % 4;
    auto excess = [&](int i, float4 limit) { // the greatest of the templates 8 i to 8 i + 7
        float top = -INFINITY;
#pragma unroll
        for (int s = 0; s < SHIFTS; s++)
#pragma unroll
            for (int a = 0; a < 2; a++) {
                const int(&sum)[4] = sums[EIGHTS * s + i];
                top = fmaxf(top, tm_many_excess(sum[2 * a], windows.of[s][a], limit.x, limit.y));
                top = fmaxf(top, tm_many_excess(sum[2 * a + 1], windows.of[s][a], limit.z, limit.w));
            }
        return top;
    };
    float top = -INFINITY;
#pragma unroll
    for (int i = 0; i < EIGHTS; i++)
        top = fmaxf(top, excess(i, limits[4 * i]));
    if (!__any_sync(~0u, top > -step.slack))
        return;
    /* seldom: in a loop, in whose turns the sums move up to the first place */
#pragma unroll 1
    for (int i = 0; i < EIGHTS; i++) {
        if (__any_sync(~0u, excess(0, limits[4 * i]) > -step.slack)) {
#pragma unroll 1
            for (int e = 0; e < 2; e++) {
                int s_ft[SHIFTS][2];
#pragma unroll
                for (int s = 0; s < SHIFTS; s++)
#pragma unroll
                    for (int a = 0; a < 2; a++)
                        s_ft[s][a] = e ? sums[EIGHTS * s][2 * a + 1] : sums[EIGHTS * s][2 * a];
                tm_many_offer(s_ft, windows, step, j, 8 * i + 2 * (threadIdx.x % 4) + e);
            }
        }
#pragma unroll
        for (int s = 0; s < SHIFTS; s++)
#pragma unroll
            for (int m = 0; m + 1 < EIGHTS; m++)
#pragma unroll
                for (int c = 0; c < 4; c++)
                    sums[EIGHTS * s + m][c] = sums[EIGHTS * s + m + 1][c];
    }
}

#endif
