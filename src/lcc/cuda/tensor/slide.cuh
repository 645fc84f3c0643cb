/* SPDX-License-Identifier: MIT */
/* S_F and S_FF as running sums, on the tensor cores, in the registers where S_FT is (wgmma.cu).
 *
 * A product with the Toeplitz matrix of ones sums a row's w columns; accumulated over the rows that
 * enter the window, and subtracted for those that leave it, it slides the window down. Rows of F
 * are taken as they are staged. Of G = F - 128 the difference of squares, entering minus leaving,
 * lies within 2^14: a plane of its low bytes and one of its high bytes. S_F - 128 n = S_G, and
 * var_F does not change with the shift: n S_GG - S_G^2. */
#ifndef TMATCH_LCC_CUDA_TENSOR_SLIDE_CUH
#define TMATCH_LCC_CUDA_TENSOR_SLIDE_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/ring.cuh"

/* For the step's rows i: G^2 of row i + h minus G^2 of row i, low bytes in plane i, high bytes in
 * plane 8 + i. */
__device__ __forceinline__ void tc_difference_planes(const tc_ring_pair &rows, unsigned planes)
{
    auto unit = [&](int i, int u, uint2 in, uint2 out) {
        uint2 low, high;
        tc_square_difference(in, out, low, high);
        tc_store_unit(planes + i * TC_ROW_BYTES, u, low);
        tc_store_unit(planes + (8 + i) * TC_ROW_BYTES, u, high);
    };
    int row = threadIdx.x / 64, u = threadIdx.x % 64, rest = threadIdx.x - (TC_THREADS - 24);
    uint2 in[5], out[5];
#pragma unroll
    for (int i = 0; i < 4; i++)
        in[i] = tc_load_g(rows.entering(2 * i + row), u),
        out[i] = tc_load_g(rows.leaving(2 * i + row), u);
    if (rest >= 0)
        in[4] = tc_load_g(rows.entering(rest / 3), 64 + rest % 3),
        out[4] = tc_load_g(rows.leaving(rest / 3), 64 + rest % 3);
#pragma unroll
    for (int i = 0; i < 4; i++)
        unit(2 * i + row, u, in[i], out[i]);
    if (rest >= 0)
        unit(rest / 3, 64 + rest % 3, in[4], out[4]);
}

/* What scores need of the template. n S_FT - S_F S_T = n S_FT - 128 n S_T - S_G S_T: base is added
 * to n S_FT where everything is SMALL, else to S_FT. */
struct tc_slide_template {
    int n, minus_sum, base;
    float variance;

    template <bool SMALL>
    __device__ __forceinline__ static tc_slide_template of(const tm_tensor_job &j)
    {
        tm_tensor_template t = *j.templates;
        tc_slide_template s = {j.width * j.height, -t.sum, 0, t.variance};
        s.base = (SMALL ? 128 * s.n : 128) * s.minus_sum;
        asm volatile("" : "+r"(s.n), "+r"(s.minus_sum), "+r"(s.base)); // else made at each use
        return s;
    }
};

/* A warp's window sums, for its columns as in acc. */
struct tc_slide_sums {
    int g[4];                        // S_G
    int low[4], high[4];             // S_GG = low + 256 high
    unsigned lane;                   // this lane's part of a fragment's address
    unsigned ones[2], minus_ones[2]; // B

    __device__ __forceinline__ tc_slide_sums(int w, int warp)
    {
        int l = threadIdx.x % 32;
        lane = 16 * (16 * warp + l % 8 + (l & 8) + (l & 16) / 8);
#pragma unroll
        for (int i = 0; i < 2; i++) {
            ones[i] = 0;
            for (int b = 0; b < 4; b++) {
                int x = 16 * i + 4 * (l & 3) + b - l / 4;
                ones[i] |= (unsigned)(x >= 0 && x < w) << 8 * b;
            }
            minus_ones[i] = 255 * ones[i];
            asm volatile("" : "+r"(ones[i]), "+r"(minus_ones[i])); // else made again at each step
        }
        asm volatile("" : "+r"(lane));
    }

    /* d += the sums of a row's columns: bytes unsigned, or signed, times factor 1 or -1 */
    template <bool SIGNED>
    __device__ __forceinline__ void add(int (&d)[4], unsigned row, int factor) const
    {
        const unsigned *b = factor > 0 ? ones : minus_ones;
        unsigned a[4];
        tc_load_a(a, row + lane);
        tc_multiply<SIGNED>(d, a, b[0], b[1]);
    }

    /* From the step's row i to the row below. */
    __device__ __forceinline__ void down(const tc_ring_pair &rows, unsigned planes, int i)
    {
        add<false>(g, rows.entering(i), 1);
        add<false>(g, rows.leaving(i), -1);
        add<false>(low, planes + i * TC_ROW_BYTES, 1);
        add<true>(high, planes + (8 + i) * TC_ROW_BYTES, 1);
    }

    /* The sums of the first row of a strip, which lies in the ring from its first slot on. Two
     * threads sum each unit's columns, over half of the rows, for the last three units eight; a
     * word holds 2^19 S_G + S_GG, with S_GG < 2^19. */
    __device__ __forceinline__ void start(const tc_ring &ring, unsigned planes, int h)
    {
        unsigned v[8] = {};
        auto sum = [&](int u, int first, int end, int step) {
#pragma unroll 4
            for (int r = first; r < end; r += step) {
                uint2 word = tc_load_g(ring.rows + r * TC_ROW_BYTES, u);
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    int f = tc_signed_byte(e < 4 ? word.x : word.y, e & 3);
                    v[e] += (unsigned)(f * (f + (1 << 19)));
                }
            }
        };
        auto put = [&](int u, int half) {
            unsigned row = planes + half * 5 * TC_ROW_BYTES;
#pragma unroll
            for (int i = 0; i < 3; i++) {
                unsigned mask = i < 2 ? ~0u : 0x07070707;
                tc_store_unit(row + i * TC_ROW_BYTES, u,
                              make_uint2(tc_bytes(v, i) & mask, tc_bytes(v + 4, i) & mask));
            }
#pragma unroll
            for (int e = 0; e < 8; e++)
                v[e] = (unsigned)((int)v[e] >> 19);
#pragma unroll
            for (int i = 0; i < 2; i++)
                tc_store_unit(row + (3 + i) * TC_ROW_BYTES, u,
                              make_uint2(tc_bytes(v, i), tc_bytes(v + 4, i)));
        };
        int half = threadIdx.x / 64, u = threadIdx.x % 64, top[4] = {}, g_high[4] = {};
        sum(u, half ? h / 2 : 0, half ? h : h / 2, 1);
        put(u, half);
        if (threadIdx.x >= TC_THREADS - 32) {
            int l = threadIdx.x & 31, rest = 64 + min(l / 8, 2);
#pragma unroll
            for (int e = 0; e < 8; e++)
                v[e] = 0;
            sum(rest, l & 7, h, 8);
#pragma unroll
            for (int e = 0; e < 8; e++)
#pragma unroll
                for (int d = 1; d < 8; d *= 2) {
                    unsigned other = __shfl_xor_sync(~0u, v[e], d);
                    v[e] = l & 1 && d == 4 ? 0 : v[e] + other;
                }
            if (l < 24 && (l & 7) < 2)
                put(rest, l & 1);
        }
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 4; i++)
            g[i] = low[i] = high[i] = 0;
#pragma unroll
        for (int half = 0; half < 2; half++) {
            unsigned row = planes + half * 5 * TC_ROW_BYTES;
            add<false>(low, row, 1);
            add<false>(high, row + TC_ROW_BYTES, 1);
            add<false>(top, row + 2 * TC_ROW_BYTES, 1);
            add<false>(g, row + 3 * TC_ROW_BYTES, 1);
            add<true>(g_high, row + 4 * TC_ROW_BYTES, 1);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            high[i] += top[i] << 8, g[i] += g_high[i] << 8;
        __syncthreads();
    }

    /* num and var_F where they fit 32 bits: exact modulo 2^32. */
    __device__ __forceinline__ int small_num(int i, int s_ft, const tc_slide_template &t) const
    {
        return (int)((unsigned)t.n * s_ft + ((unsigned)t.minus_sum * g[i] + t.base));
    }

    __device__ __forceinline__ unsigned small_var(int i, const tc_slide_template &t) const
    {
        return (unsigned)t.n * (low[i] + ((unsigned)high[i] << 8)) - (unsigned)(g[i] * g[i]);
    }

    /* num and var_F as binary32. SMALL: they fit 32 bits. */
    template <bool SMALL>
    __device__ __forceinline__ float num(int i, int s_ft, const tc_slide_template &t) const
    {
        if (SMALL)
            return __int2float_rn(small_num(i, s_ft, t));
        return __ll2float_rn(tm_mad_wide(g[i], t.minus_sum, tc_mul(s_ft + t.base, t.n)));
    }

    template <bool SMALL>
    __device__ __forceinline__ float var(int i, const tc_slide_template &t) const
    {
        if (SMALL)
            return __uint2float_rn(small_var(i, t));
        return -tc_minus_var<false>(g[i], low[i] + ((unsigned)high[i] << 8), t.n);
    }
};

__device__ __forceinline__ void tc_store_if(float *at, float v, bool ok)
{
    asm volatile("{.reg .pred p; setp.ne.s32 p, %2, 0; @p st.global.cs.f32 [%0], %1;}" ::"l"(at),
                 "f"(v), "r"((int)ok)
                 : "memory");
}

/* The map and the best of a warp's 8 rows x 128 columns; acc has their scores afterwards. EDGE:
 * some are beyond the map, or its rows are no pairs of floats. */
template <bool SMALL, bool EDGE>
__device__ __forceinline__ void
tc_slide_map(int (&acc)[8][4], tc_slide_sums &sums, const tc_ring_pair &rows_of, unsigned planes,
             const tm_tensor_job &j, const tc_slide_template &t, int running_best, tc_best &best,
             int64_t x, int64_t y, int cols, int rows)
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
            q[c] = tc_score(sums.num<SMALL>(c, acc[i][c], t), sums.var<SMALL>(c, t), t.variance);
            if (EDGE) {
                tc_store_if(map + 64 * (c >> 1) + (c & 1), q[c], in[c] && i < rows);
                q[c] = in[c] && i < rows ? q[c] : -2.0f;
            } else if (c & 1)
                __stcs((float2 *)(map + 64 * (c >> 1)), make_float2(q[c - 1], q[c]));
            acc[i][c] = __float_as_int(q[c]);
            top = fmaxf(top, q[c]);
        }
        sums.down(rows_of, planes, i);
    }
    int order = __reduce_max_sync(~0u, tm_score_order(top));
    top = tm_score_of_order(order);
    if (top >= -1.0f)
        tc_offer(acc, __float_as_int(top), order, running_best, j, 0, best, x, y);
}

/* The best alone. If no window of the tile exceeds the bound of lcc/reject.h, no score has to be
 * made. SMALL: the greatest num of a thread's windows is tested with their least var_F first. */
template <bool SMALL>
__device__ __forceinline__ void
tc_slide_best(int (&acc)[8][4], tc_slide_sums &sums, const tc_ring_pair &rows_of, unsigned planes,
              const tm_tensor_job &j, const tc_slide_template &t, int running_best, tc_best &best,
              int64_t x, int64_t y, int cols, int rows)
{
    float s = tm_score_of_order(max(running_best, best.order)), reach = s > 0 ? 0.0f : 1.0f,
          cut = tm_reject_boundf(s, t.variance), var[8][4], top = -2.0f;
    int lane = threadIdx.x & 31, most = 0;
    unsigned least = ~0u;
    auto offer = [&](float num, float var) {
        reach = fmaxf(reach, __fmaf_rn(num, fabsf(num), -(var * cut)));
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
    if (!__any_sync(~0u, reach > 0))
        return;
    if (SMALL) {
        reach = s > 0 ? 0.0f : 1.0f;
#pragma unroll
        for (int i = 0; i < 8; i++)
#pragma unroll
            for (int c = 0; c < 4; c++) {
                float num = __int2float_rn(acc[i][c]);
                var[i][c] = __uint2float_rn(__float_as_uint(var[i][c]));
                acc[i][c] = __float_as_int(num);
                offer(num, var[i][c]);
            }
        if (!__any_sync(~0u, reach > 0))
            return;
    }
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float q = tc_score(__int_as_float(acc[i][c]), var[i][c], t.variance);
            if (i >= rows || 2 * lane + 64 * (c >> 1) + (c & 1) >= cols)
                q = -2.0f;
            acc[i][c] = __float_as_int(q);
            top = fmaxf(top, q);
        }
    int order = __reduce_max_sync(~0u, tm_score_order(top));
    top = tm_score_of_order(order);
    if (top >= -1.0f)
        tc_offer(acc, __float_as_int(top), order, running_best, j, 0, best, x, y);
}

template <bool MAP, bool SMALL>
__device__ __forceinline__ void
tc_slide_finish(int (&acc)[8][4], tc_slide_sums &sums, const tc_ring_pair &rows_of, unsigned planes,
                const tm_tensor_job &j, const tc_slide_template &t, int running_best, tc_best &best,
                int64_t x, int64_t y)
{
    if (x >= j.map_width)
        return; // beyond the edge, all of the warp
    int cols = (int)min((int64_t)128, j.map_width - x),
        rows = (int)min((int64_t)8, j.map_height - y);
    if (!MAP)
        tc_slide_best<SMALL>(acc, sums, rows_of, planes, j, t, running_best, best, x, y, cols,
                             rows);
    else if (cols < 128 || rows < 8 || (j.map_width & 1) || ((size_t)j.map & 7))
        tc_slide_map<SMALL, true>(acc, sums, rows_of, planes, j, t, running_best, best, x, y, cols,
                                  rows);
    else
        tc_slide_map<SMALL, false>(acc, sums, rows_of, planes, j, t, running_best, best, x, y, cols,
                                   rows);
}

#endif
