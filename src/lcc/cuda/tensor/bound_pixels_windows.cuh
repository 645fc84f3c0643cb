/* SPDX-License-Identifier: MIT */
/* For wgmma_bound_pixels.cu: sums and scores of single windows, from the frame as it is. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_PIXELS_WINDOWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_PIXELS_WINDOWS_CUH
#include "lcc/cuda/tensor/bound_list.cuh"
#include "lcc/cuda/tensor/bound_pixels.cuh"

/* Sums of a window's bytes. Those of 16 bits count 1, 256 and 65536 times: of low bytes, of low and high ones, of high ones. */
template <int BYTES>
struct tm_bound_sums {
    enum { SUMS = BYTES == 3 ? 3 : 2, PRODUCTS = BYTES == 3 ? 1 : 3 };
    unsigned f[SUMS], ff[PRODUCTS], ft[PRODUCTS];

    /* Adds the products of two words' bytes. */
    __device__ __forceinline__ static void add_products(unsigned (&of)[1], unsigned v, unsigned other)
    {
        of[0] = __dp4a(v, other, of[0]);
    }

    __device__ __forceinline__ static void add_products(unsigned (&of)[3], unsigned v, unsigned other)
    {
        of[0] = __dp4a(v & 0xff00ff, other, of[0]);
        of[1] = __dp4a(v, __byte_perm(other, 0, 0x2301), of[1]);
        of[2] = __dp4a(v & 0xff00ff00, other, of[2]);
    }

    /* Adds word k of a row, a number that is known when this is compiled, to the sums without the template. */
    __device__ __forceinline__ void add_word(unsigned v, int k)
    {
        add_products(ff, v, v);
#pragma unroll
        for (int i = 0; i < SUMS; i++) {
            unsigned ones = 0;
#pragma unroll
            for (int byte = 0; byte < 4; byte++)
                ones |= (4 * k + byte) % BYTES == i ? 1u << 8 * byte : 0;
            f[i] = __dp4a(v, ones, f[i]);
        }
    }

    /* Adds a row's of these. */
    __device__ __forceinline__ void add(const tm_bound_sums &row)
    {
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            f[i] += row.f[i];
#pragma unroll
        for (int i = 0; i < PRODUCTS; i++)
            ff[i] += row.ff[i];
    }

    /* The warp's, in each lane. */
    __device__ __forceinline__ void add_lanes()
    {
#pragma unroll
        for (int i = 0; i < SUMS; i++)
            f[i] = __reduce_add_sync(~0u, f[i]);
#pragma unroll
        for (int i = 0; i < PRODUCTS; i++)
            ff[i] = __reduce_add_sync(~0u, ff[i]), ft[i] = __reduce_add_sync(~0u, ft[i]);
    }

    __device__ __forceinline__ static int64_t whole(const unsigned (&of)[1])
    {
        return of[0];
    }

    __device__ __forceinline__ static int64_t whole(const unsigned (&of)[3])
    {
        return of[0] + 256ll * of[1] + 65536ll * of[2];
    }

    __device__ __forceinline__ float score(const tm_tensor_pixels_job &j) const
    {
        int64_t num = j.n * whole(ft), var = j.n * whole(ff);
#pragma unroll
        for (int i = 0; i < (BYTES == 3 ? 3 : 1); i++) {
            const int64_t s = BYTES == 3 ? f[i] : f[0] + 256ll * f[SUMS - 1];
            num += s * j.minus_sum[i], var -= s * s;
        }
        return tm_tensor_score(__ll2float_rn(num), __ll2float_rn(var), j.variance);
    }
};

/* Word k of a row that begins at a byte of the first word, of which only so many bytes count. */
__device__ __forceinline__ unsigned tm_bound_row_word(unsigned low, unsigned high, unsigned shift, int bytes)
{
    return bytes <= 0 ? 0 : __funnelshift_r(low, high, shift) & (bytes >= 4 ? ~0u : ~(~0u << 8 * bytes));
}

/* See bound_list.cuh. taps: the address of the template's first row. */
template <int BYTES>
struct tm_bound_scorer {
    enum { WORDS = (25 * BYTES + 3) / 4 };
    typedef tm_bound_sums<BYTES> sums_type;
    const tm_tensor_pixels_job &j;
    const unsigned taps;

    /* Adds a frame row, which is row r of the first window and row r - 1 of the one below. */
    __device__ __forceinline__ void add_row(sums_type (&sums)[2], const uint8_t *at, int r) const
    {
        const uint32_t *const from = (const uint32_t *)((uintptr_t)at & ~(uintptr_t)3);
        const unsigned before = (uintptr_t)at & 3, row = taps + r * TM_BOUND_TAPS;
        const int bytes = BYTES * j.width, h = j.height;
        unsigned words[WORDS + 1];
#pragma unroll
        for (int k = 0; k <= WORDS; k++)
            words[k] = 4 * k < bytes + (int)before ? __ldg(from + k) : 0; // words behind the last one may not be there
        sums_type of_row = {};
#pragma unroll
        for (int k = 0; k < WORDS; k++) {
            const unsigned v = tm_bound_row_word(words[k], words[k + 1], 8 * before, bytes - 4 * k);
            of_row.add_word(v, k);
#pragma unroll
            for (int i = 0; i < 2; i++) // zeros before the first row and behind the last
                sums_type::add_products(sums[i].ft, v, tm_load4(row - i * TM_BOUND_TAPS + 4 * k));
        }
#pragma unroll
        for (int i = 0; i < 2; i++)
            if (r >= i && r < h + i)
                sums[i].add(of_row);
    }

    __device__ __forceinline__ int2 orders(int64_t x, int64_t y) const;

    __device__ __forceinline__ void scores(const tm_bound_pair &pair, int windows, float (&scores)[2]) const
    {
        sums_type sums[2] = {};
        const uint8_t *row = j.frame + pair.y * (int64_t)j.pitch + pair.x * BYTES;
        const int rows = pair.x < j.map_width ? j.height + windows - 1 : 0;
#pragma unroll 1
        for (int r = 0; r < rows; r++, row += j.pitch)
            add_row(sums, row, r);
#pragma unroll
        for (int i = 0; i < 2; i++)
            scores[i] = sums[i].score(j);
    }
};

/* The orders of a pair's scores, by a warp, a row a lane. One copy of the code is for all uses, because what is run once has to come from the
 * second-level cache, too. */
template <int BYTES>
static __device__ __noinline__ int2 tm_bound_orders(tm_bound_scorer<BYTES> scorer, int64_t x, int64_t y)
{
    const tm_tensor_pixels_job &j = scorer.j;
    const int r = threadIdx.x % 32;
    tm_bound_sums<BYTES> sums[2] = {};
    if (r <= j.height && y + r < j.frame_rows && x < j.map_width)
        scorer.add_row(sums, j.frame + (y + r) * (int64_t)j.pitch + x * BYTES, r);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 2; i++)
        sums[i].add_lanes();
    return make_int2(tm_score_order(sums[0].score(j)), tm_score_order(sums[1].score(j)));
}

template <int BYTES>
__device__ __forceinline__ int2 tm_bound_scorer<BYTES>::orders(int64_t x, int64_t y) const
{
    return tm_bound_orders(*this, x, y);
}

#endif
