/* SPDX-License-Identifier: MIT */
/* From a warp's sums to scores, the map and the best, for wgmma_wide.cu. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WIDE_SCORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_WIDE_SCORE_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/wide.cuh"

enum { WIDE_VOTE = 2 }; // rows that are scored, or not, together

/* n S_FT - S_F S_T = n (S_FT - 128 S_T) - S_G S_T: base is added to S_FT. */
struct wide_template {
    int n, minus_sum, base;
    float variance;
};

/* Column of a thread's element e = 4 (shift / 8) + the index in acc. */
__device__ __forceinline__ int wide_column(int e)
{
    int l = threadIdx.x & 31;
    return 16 * (l / 4) + 128 * (e >> 1 & 1) + 8 * (e >> 2) + 2 * (l & 3) + (e & 1);
}

/* A thread's element e of row i. */
__device__ __forceinline__ int &wide_at(int (&sums)[16][4], int i, int e)
{
    return sums[2 * i + (e >> 2)][e & 3];
}

/* Takes the greatest score of WIDE_VOTE rows for the warp's best so far; sums has the scores. */
__device__ __forceinline__ void wide_offer(int (&sums)[16][4], int first, float top,
                                           int running_best, const tm_tensor_job &j, tc_best &best,
                                           int x, int y)
{
    int order = __reduce_max_sync(~0u, tm_score_order(top));
    int bits = __float_as_int(tm_score_of_order(order));
    if (tm_score_of_order(order) < -1.0f || order < running_best || order < best.order)
        return;
    unsigned at = ~0u;
#pragma unroll
    for (int i = first; i < first + WIDE_VOTE; i++)
#pragma unroll
        for (int e = 0; e < 8; e++)
            if (wide_at(sums, i, e) == bits)
                at = min(at, (unsigned)(256 * i + wide_column(e)));
    at = __reduce_min_sync(~0u, at);
    int64_t pos = (y + (int)(at >> 8)) * j.map_width + x + (at & 255);
    if (order == best.order && best.pos <= pos)
        return;
    best.order = order;
    best.pos = pos;
    if (!(threadIdx.x & 31))
        atomicMax(j.running_bests, order);
}

/* Scores a warp's 8 rows x 256 columns, and slides its sums down; next(q) after each quarter q of
 * a row's work. EDGE: some are beyond the map, or its rows are no pairs of floats. Without a map,
 * a window that cannot reach the best score is not worth its division: see lcc/reject.h. */
template <int STEPS, bool MAP, bool EDGE, typename N>
__device__ __forceinline__ void
wide_score(int (&sums)[16][4], wide_sums<STEPS> &slide, const wide_ring<STEPS> &ring,
           unsigned planes, const tm_tensor_job &j, const wide_template &t, int running_best,
           tc_best &best, int x, int y, int cols, int rows, N next)
{
#pragma unroll
    for (int first = 0; first < 8; first += WIDE_VOTE) {
        float s = tm_score_of_order(max(running_best, best.order)),
              reach = !MAP && s > 0 ? 0.0f : 1.0f, cut = tm_reject_boundf(s, t.variance),
              var[WIDE_VOTE][8], top = -2.0f;
        auto score = [&](int i) {
#pragma unroll
            for (int e = 0; e < 8; e++) {
                float q =
                    tc_score(__int_as_float(wide_at(sums, first + i, e)), var[i][e], t.variance);
                bool inside = !EDGE || (first + i < rows && wide_column(e) < cols);
                q = inside ? q : -2.0f;
                wide_at(sums, first + i, e) = __float_as_int(q);
                top = fmaxf(top, q);
                float *to = j.map + (y + first + i) * j.map_width + x;
                if (MAP && EDGE && inside)
                    __stcs(to + wide_column(e), q);
                if (MAP && !EDGE && (e & 1))
                    __stcs((float2 *)(to + wide_column(e - 1)),
                           make_float2(__int_as_float(wide_at(sums, first + i, e - 1)), q));
            }
        };
#pragma unroll
        for (int i = 0; i < WIDE_VOTE; i++) {
#pragma unroll
            for (int e = 0; e < 8; e++) {
                int &at = wide_at(sums, first + i, e);
                float num = __ll2float_rn(tm_mad_wide(slide.g[e], t.minus_sum, tc_mul(at, t.n)));
                var[i][e] = -tc_minus_var<false>(
                    slide.g[e], slide.low[e] + ((unsigned)slide.high[e] << 8), t.n);
                if (!MAP)
                    reach = fmaxf(reach, __fmaf_rn(num, fabsf(num), -(var[i][e] * cut)));
                at = __float_as_int(num);
                if ((e & 3) == 3)
                    next(4 * (first + i) + e / 4);
            }
            slide.down(ring, planes, j.height, first + i);
            next(4 * (first + i) + 2);
            if (MAP)
                score(i);
            next(4 * (first + i) + 3);
        }
        if (!MAP) {
            if (!__any_sync(~0u, reach > 0))
                continue;
#pragma unroll
            for (int i = 0; i < WIDE_VOTE; i++)
                score(i);
        }
        wide_offer(sums, first, top, running_best, j, best, x, y);
    }
}

#endif
