/* SPDX-License-Identifier: MIT */
/* S_F and S_FF as running sums, on the tensor cores, in the registers where S_FT is, for wgmma.cu.
 *
 * A product with the Toeplitz matrix of ones sums w columns of a row. Added for the row that enters
 * the windows and subtracted for the row that leaves them, it takes their sums one row down. The
 * rows of F are those that are staged for S_FT. Squares are of G = F - 128: the difference of
 * entering and leaving ones lies within 2^14, so it makes a plane of low bytes and one of high
 * bytes, which are summed likewise. S_F - 128 n = S_G, and var_F = n S_GG - S_G^2. */
#ifndef TMATCH_LCC_CUDA_TENSOR_RUNNING_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_RUNNING_SUMS_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/ring.cuh"

/* For each of the step's rows i < 8: G^2 of row i + h minus G^2 of row i, its low bytes in plane i
 * and its high bytes in plane 8 + i. */
__device__ __forceinline__ void tm_running_differences(const tm_ring_pair &rows, unsigned planes)
{
    auto unit = [&](int i, int u, uint2 in, uint2 out) {
        uint2 low, high;
        tm_square_difference(in, out, low, high);
        tm_ring_store(planes + i * TM_RING_ROW_BYTES, u, low);
        tm_ring_store(planes + (8 + i) * TM_RING_ROW_BYTES, u, high);
    };
    int row = threadIdx.x / 64, u = threadIdx.x % 64, rest = threadIdx.x - (TM_TENSOR_THREADS - 24);
    uint2 in[5], out[5];
#pragma unroll
    for (int i = 0; i < 4; i++)
        in[i] = tm_ring_load_g(rows.entering(2 * i + row), u),
        out[i] = tm_ring_load_g(rows.leaving(2 * i + row), u);
    if (rest >= 0)
        in[4] = tm_ring_load_g(rows.entering(rest / 3), 64 + rest % 3),
        out[4] = tm_ring_load_g(rows.leaving(rest / 3), 64 + rest % 3);
#pragma unroll
    for (int i = 0; i < 4; i++)
        unit(2 * i + row, u, in[i], out[i]);
    if (rest >= 0)
        unit(rest / 3, 64 + rest % 3, in[4], out[4]);
}

/* What scores need of the template. n S_FT - S_F S_T = n S_FT - 128 n S_T - S_G S_T: base is added
 * to n S_FT where SMALL, else to S_FT. SMALL: num and var_F fit 32 bits. */
struct tm_running_template {
    int n, minus_sum, base;
    float variance;

    template <bool SMALL>
    __device__ __forceinline__ static tm_running_template of(const tm_tensor_job &j)
    {
        tm_tensor_template t = *j.templates;
        tm_running_template s = {j.width * j.height, -t.sum, 0, t.variance};
        s.base = (SMALL ? 128 * s.n : 128) * s.minus_sum;
        /* The compiler would make these again at each use. */
        asm volatile("" : "+r"(s.n), "+r"(s.minus_sum), "+r"(s.base));
        return s;
    }
};

/* A warp's window sums of one row, for its columns as in acc. */
struct tm_running_sums {
    int g[4];                        // S_G
    int low[4], high[4];             // S_GG = low + 256 high
    unsigned lane;                   // offset of this lane's part of A
    unsigned ones[2], minus_ones[2]; // of B: the Toeplitz matrix of ones

    __device__ __forceinline__ tm_running_sums(int w, int warp)
    {
        int l = threadIdx.x % 32;
        lane = 16 * (16 * warp + l % 8 + (l & 8) + (l & 16) / 8);
        tm_make_ones(ones, minus_ones, w);
        asm volatile("" : "+r"(lane));
    }

    /* Adds the sums of w columns of a row to d, times factor 1 or -1. The row is of unsigned bytes
     * or of signed ones. */
    template <bool SIGNED>
    __device__ __forceinline__ void add(int (&d)[4], unsigned row, int factor) const
    {
        const unsigned *b = factor > 0 ? ones : minus_ones;
        unsigned a[4];
        tm_load_a(a, row + lane);
        tm_mma_add<SIGNED>(d, a, b[0], b[1]);
    }

    /* Takes the sums from the step's row i to the row below. */
    __device__ __forceinline__ void down(const tm_ring_pair &rows, unsigned planes, int i)
    {
        add<false>(g, rows.entering(i), 1);
        add<false>(g, rows.leaving(i), -1);
        add<false>(low, planes + i * TM_RING_ROW_BYTES, 1);
        add<true>(high, planes + (8 + i) * TM_RING_ROW_BYTES, 1);
    }

    /* Makes the sums of the first row of a column of tiles, whose frame rows lie in the ring from
     * its first slot on. The columns of each unit are summed by two threads, each over half of the
     * rows, and those of the last three units by eight. A word holds 2^19 S_G + S_GG, with
     * S_GG < 2^19; its bytes make planes, whose w columns are then summed on the tensor cores. */
    __device__ __forceinline__ void start(const tm_ring &ring, unsigned planes, int h)
    {
        unsigned v[8] = {};
        auto sum = [&](int u, int first, int end, int step) {
#pragma unroll 4
            for (int r = first; r < end; r += step) {
                uint2 word = tm_ring_load_g(ring.rows + r * TM_RING_ROW_BYTES, u);
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    int f = tm_signed_byte(e < 4 ? word.x : word.y, e & 3);
                    v[e] += (unsigned)(f * (f + (1 << 19)));
                }
            }
        };
        auto put = [&](int u, int half) {
            unsigned row = planes + half * 5 * TM_RING_ROW_BYTES;
#pragma unroll
            for (int i = 0; i < 3; i++) {
                unsigned mask = i < 2 ? ~0u : 0x07070707;
                tm_ring_store(
                    row + i * TM_RING_ROW_BYTES, u,
                    make_uint2(tm_gather_bytes(v, i) & mask, tm_gather_bytes(v + 4, i) & mask));
            }
#pragma unroll
            for (int e = 0; e < 8; e++)
                v[e] = (unsigned)((int)v[e] >> 19);
#pragma unroll
            for (int i = 0; i < 2; i++)
                tm_ring_store(row + (3 + i) * TM_RING_ROW_BYTES, u,
                              make_uint2(tm_gather_bytes(v, i), tm_gather_bytes(v + 4, i)));
        };
        int half = threadIdx.x / 64, u = threadIdx.x % 64, top[4] = {}, g_high[4] = {};
        sum(u, half ? h / 2 : 0, half ? h : h / 2, 1);
        put(u, half);
        if (threadIdx.x >= TM_TENSOR_THREADS - 32) {
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
            unsigned row = planes + half * 5 * TM_RING_ROW_BYTES;
            add<false>(low, row, 1);
            add<false>(high, row + TM_RING_ROW_BYTES, 1);
            add<false>(top, row + 2 * TM_RING_ROW_BYTES, 1);
            add<false>(g, row + 3 * TM_RING_ROW_BYTES, 1);
            add<true>(g_high, row + 4 * TM_RING_ROW_BYTES, 1);
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            high[i] += top[i] << 8, g[i] += g_high[i] << 8;
        __syncthreads();
    }

    /* num and var_F where SMALL: exact modulo 2^32. */
    __device__ __forceinline__ int small_num(int i, int s_ft, const tm_running_template &t) const
    {
        return (int)((unsigned)t.n * s_ft + ((unsigned)t.minus_sum * g[i] + t.base));
    }

    __device__ __forceinline__ unsigned small_var(int i, const tm_running_template &t) const
    {
        return (unsigned)t.n * (low[i] + ((unsigned)high[i] << 8)) - (unsigned)(g[i] * g[i]);
    }

    /* num and var_F as binary32. */
    template <bool SMALL>
    __device__ __forceinline__ float num(int i, int s_ft, const tm_running_template &t) const
    {
        if (SMALL)
            return __int2float_rn(small_num(i, s_ft, t));
        return __ll2float_rn(tm_mad_wide(g[i], t.minus_sum, tm_mul_signed(s_ft + t.base, t.n)));
    }

    template <bool SMALL>
    __device__ __forceinline__ float var(int i, const tm_running_template &t) const
    {
        if (SMALL)
            return __uint2float_rn(small_var(i, t));
        return -tm_tensor_minus_var<false>(g[i], low[i] + ((unsigned)high[i] << 8), t.n);
    }
};

#endif
