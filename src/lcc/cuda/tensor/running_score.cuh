/* SPDX-License-Identifier: MIT */
/* From S_FT and the running sums to scores, the map and the best match, for wgmma.cu. Windows lie
 * in acc as in epilogue.cuh. */
#ifndef TMATCH_LCC_CUDA_TENSOR_RUNNING_SCORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_RUNNING_SCORE_CUH
#include "lcc/cuda/tensor/running_sums.cuh"

/* Stores with a predicate instead of a branch. */
__device__ __forceinline__ void tm_store_if(float *at, float v, bool ok)
{
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.cs.f32 [%0], %1;}" ::"l"(at),
                 "f"(v), "r"((int)ok)
                 : "memory");
}

/* Scores a step's 8 rows, which replace S_FT in acc, into the map, and takes the window sums down
 * them. EDGE: some windows lie beyond the map, or its rows cannot be stored as pairs of floats. */
template <bool SMALL, bool EDGE>
__device__ __forceinline__ void
tm_running_score_map(int (&acc)[8][4], tm_running_sums &sums, const tm_ring_pair &rows_of,
                     unsigned planes, const tm_tensor_job &j, const tm_running_template &t,
                     int running_best, tm_tensor_best &best, int64_t x, int64_t y, int cols,
                     int rows)
{
    int lane = threadIdx.x & 31;
    float *map = j.map + y * j.map_width + x + 2 * lane, top = -2.0f;
    bool in[4];
#pragma unroll
    for (int c = 0; c < 4; c++)
        in[c] = 2 * lane + 64 * (c >> 1) + (c & 1) < cols;
#pragma unroll
    for (int i = 0; i < 8; i++, map += j.map_width) {
        float q[4];
#pragma unroll
        for (int c = 0; c < 4; c++) {
            q[c] = tm_tensor_score(sums.num<SMALL>(c, acc[i][c], t), sums.var<SMALL>(c, t),
                                   t.variance);
            if (EDGE) {
                tm_store_if(map + 64 * (c >> 1) + (c & 1), q[c], in[c] && i < rows);
                q[c] = in[c] && i < rows ? q[c] : -2.0f;
            } else if (c & 1)
                __stcs((float2 *)(map + 64 * (c >> 1)), make_float2(q[c - 1], q[c]));
            acc[i][c] = __float_as_int(q[c]);
            top = fmaxf(top, q[c]);
        }
        sums.down(rows_of, planes, i);
        if (SMALL && i % 2) // else the compiler makes all sums first, which wait for products of other blocks, and stores all scores last
            __syncwarp();
    }
    int order = __reduce_max_sync(~0u, tm_score_order(top));
    top = tm_score_of_order(order);
    if (top >= -1.0f)
        tm_tensor_offer(acc, __float_as_int(top), order, running_best, j, 0, best, x, y);
}

/* Likewise without a map. If no window exceeds the bound of lcc/reject.h, no score has to be made.
 * Where SMALL, the greatest num of a thread's windows is tested with their least var_F first. */
template <bool SMALL>
__device__ __forceinline__ void
tm_running_score_best(int (&acc)[8][4], tm_running_sums &sums, const tm_ring_pair &rows_of,
                      unsigned planes, const tm_tensor_job &j, const tm_running_template &t,
                      int running_best, tm_tensor_best &best, int64_t x, int64_t y, int cols,
                      int rows)
{
    float s = tm_score_of_order(max(running_best, best.order)), excess = s > 0 ? 0.0f : 1.0f,
          bound = tm_reject_boundf(s, t.variance), var[8][4];
    int most = 0;
    unsigned least = ~0u;
    auto offer = [&](float num, float var) {
        excess = fmaxf(excess, __fmaf_rn(num, fabsf(num), -(var * bound)));
    };
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int c = 0; c < 4; c++) {
            if (SMALL) {
                acc[i][c] = sums.small_num(c, acc[i][c], t);
                unsigned v = sums.small_var(c, t);
                most = max(most, acc[i][c]), least = min(least, v);
                var[i][c] = __uint_as_float(v);
            } else {
                float num = sums.num<SMALL>(c, acc[i][c], t);
                var[i][c] = sums.var<SMALL>(c, t);
                acc[i][c] = __float_as_int(num);
                offer(num, var[i][c]);
            }
        }
        sums.down(rows_of, planes, i);
    }
    if (SMALL)
        offer(__int2float_rn(most), __uint2float_rn(least));
    if (!__any_sync(~0u, excess > 0))
        return;
    if (SMALL) {
        excess = s > 0 ? 0.0f : 1.0f;
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float num = __int2float_rn(acc[i][c]);
                var[i][c] = __uint2float_rn(__float_as_uint(var[i][c]));
                acc[i][c] = __float_as_int(num);
                offer(num, var[i][c]);
            }
        if (!__any_sync(~0u, excess > 0))
            return;
    }
    tm_tensor_offer_scores(acc, var, t.variance, running_best, j, best, x, y, cols, rows);
}

template <bool MAP, bool SMALL>
__device__ __forceinline__ void
tm_running_score(int (&acc)[8][4], tm_running_sums &sums, const tm_ring_pair &rows_of,
                 unsigned planes, const tm_tensor_job &j, const tm_running_template &t,
                 int running_best, tm_tensor_best &best, int64_t x, int64_t y)
{
    if (x >= j.map_width)
        return; // all of the warp lies beyond the edge
    int cols = (int)min((int64_t)128, j.map_width - x),
        rows = (int)min((int64_t)8, j.map_height - y);
    if (!MAP)
        tm_running_score_best<SMALL>(acc, sums, rows_of, planes, j, t, running_best, best, x, y,
                                     cols, rows);
    else if (cols < 128 || rows < 8 || (j.map_width & 1) || ((size_t)j.map & 7))
        tm_running_score_map<SMALL, true>(acc, sums, rows_of, planes, j, t, running_best, best, x,
                                          y, cols, rows);
    else
        tm_running_score_map<SMALL, false>(acc, sums, rows_of, planes, j, t, running_best, best, x,
                                           y, cols, rows);
}

#endif
