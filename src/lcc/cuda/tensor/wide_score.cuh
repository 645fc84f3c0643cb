/* SPDX-License-Identifier: MIT */
/* From S_FT and window sums to scores, the map and the best match, for wgmma_wide.cu. A warp has
 * 8 rows x 256 columns of windows in registers, sums[16][4] of each thread. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WIDE_SCORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_WIDE_SCORE_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/wide_products.cuh"
#include "lcc/cuda/tensor/wide_sums.cuh"

enum { TM_WIDE_VOTE = 2 }; // rows that are scored together, or rejected together

/* What scores need of the template. n S_FT - S_F S_T = n (S_FT - 128 S_T) - S_G S_T: base is added
 * to S_FT. */
struct tm_wide_template {
    int n, minus_sum, base;
    float variance;
};

/* Takes the greatest score of the TM_WIDE_VOTE rows from first on for the warp's best, if it is
 * better; sums has the scores. x, y: the warp's first window in the map. */
__device__ __forceinline__ void tm_wide_offer(int (&sums)[16][4], int first, float top,
                                              int running_best, const tm_tensor_job &j,
                                              tm_tensor_best &best, int x, int y)
{
    int order = __reduce_max_sync(~0u, tm_score_order(top));
    int bits = __float_as_int(tm_score_of_order(order));
    if (tm_score_of_order(order) < -1.0f || order < running_best || order < best.order)
        return;
    unsigned at = ~0u;
#pragma unroll
    for (int i = first; i < first + TM_WIDE_VOTE; i++)
#pragma unroll
        for (int e = 0; e < 8; e++)
            if (tm_wide_at(sums, i, e) == bits)
                at = min(at, (unsigned)(256 * i + tm_wide_column(e)));
    at = __reduce_min_sync(~0u, at);
    int64_t pos = (y + (int)(at >> 8)) * j.map_width + x + (at & 255);
    if (order == best.order && best.pos <= pos)
        return;
    best.order = order;
    best.pos = pos;
    if (!(threadIdx.x & 31))
        atomicMax(j.running_bests, order);
}

/* Scores a step's 8 rows, and takes the window sums down them. Calls next(4 i + q) after each
 * quarter q of the work of row i. EDGE: some windows lie beyond the map, or its rows cannot be
 * stored as pairs of floats. Without a map, windows that cannot be the best are rejected: see
 * lcc/reject.h. */
template <int STEPS, bool MAP, bool EDGE, typename N>
__device__ __forceinline__ void
tm_wide_score(int (&sums)[16][4], tm_wide_sums<STEPS> &window_sums, const tm_wide_ring<STEPS> &ring,
              unsigned planes, const tm_tensor_job &j, const tm_wide_template &t, int running_best,
              tm_tensor_best &best, int x, int y, int cols, int rows, N next)
{
#pragma unroll
    for (int first = 0; first < 8; first += TM_WIDE_VOTE) {
        float s = tm_score_of_order(max(running_best, best.order)),
              excess = !MAP && s > 0 ? 0.0f : 1.0f, bound = tm_reject_boundf(s, t.variance),
              var[TM_WIDE_VOTE][8], top = -2.0f;
        auto score = [&](int i) {
#pragma unroll
            for (int e = 0; e < 8; e++) {
                float q = tm_tensor_score(__int_as_float(tm_wide_at(sums, first + i, e)), var[i][e],
                                          t.variance);
                bool inside = !EDGE || (first + i < rows && tm_wide_column(e) < cols);
                q = inside ? q : -2.0f;
                tm_wide_at(sums, first + i, e) = __float_as_int(q);
                top = fmaxf(top, q);
                float *to = j.map + (y + first + i) * j.map_width + x;
                if (MAP && EDGE && inside)
                    __stcs(to + tm_wide_column(e), q);
                if (MAP && !EDGE && (e & 1))
                    __stcs((float2 *)(to + tm_wide_column(e - 1)),
                           make_float2(__int_as_float(tm_wide_at(sums, first + i, e - 1)), q));
            }
        };
#pragma unroll
        for (int i = 0; i < TM_WIDE_VOTE; i++) {
#pragma unroll
            for (int e = 0; e < 8; e++) {
                int &at = tm_wide_at(sums, first + i, e);
                float num = __ll2float_rn(
                    tm_mad_wide(window_sums.g[e], t.minus_sum, tm_mul_signed(at, t.n)));
                var[i][e] = -tm_tensor_minus_var<false>(
                    window_sums.g[e], window_sums.low[e] + ((unsigned)window_sums.high[e] << 8),
                    t.n);
                if (!MAP)
                    excess = fmaxf(excess, __fmaf_rn(num, fabsf(num), -(var[i][e] * bound)));
                at = __float_as_int(num);
                if ((e & 3) == 3)
                    next(4 * (first + i) + e / 4);
            }
            window_sums.down(ring, planes, j.height, first + i);
            next(4 * (first + i) + 2);
            if (MAP)
                score(i);
            next(4 * (first + i) + 3);
        }
        if (!MAP) {
            if (!__any_sync(~0u, excess > 0))
                continue;
#pragma unroll
            for (int i = 0; i < TM_WIDE_VOTE; i++)
                score(i);
        }
        tm_wide_offer(sums, first, top, running_best, j, best, x, y);
    }
}

#endif
