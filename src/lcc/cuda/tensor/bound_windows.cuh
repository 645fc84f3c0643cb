/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu: scores of single windows. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_WINDOWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_WINDOWS_CUH
#include "lcc/cuda/tensor/bound_block.cuh"
#include "lcc/cuda/tensor/bound_list.cuh"

/* Orders of the scores of a pair, by a warp. from: its first row, at a multiple of 4 columns, of which column is the rest. The template is in
 * shared memory: if all blocks asked one slice of the second-level cache for its rows, a call would take 10,000 cycles. One copy of the code
 * is for all uses, because what is run once has to come from there, too. */
static __device__ __noinline__ int2 tm_bound_orders(const uint8_t *from, size_t pitch, int column, unsigned taps, int w, int h,
                                                    const tm_tensor_template *t)
{
    unsigned sums[6] = {}; // S_FT, S_F and S_FF of both windows
    const int r = threadIdx.x % 32;
    if (r <= h) {
        const tm_few_mask mask(w);
        unsigned f[TM_FEW_WORDS + 1];
#pragma unroll
        for (int k = 0; k <= TM_FEW_WORDS; k++)
            f[k] = *((const unsigned *)(from + (size_t)r * pitch) + k);
        const tm_few_row v(f, column, mask);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const unsigned row = taps + (r - k) * TM_BOUND_TAPS; // zeros before the first one and behind the last
            sums[3 * k] = v.add_products(tm_load16(row), tm_load16(row + 16), 0);
            const bool has_row = k ? r > 0 : r < h;
            sums[3 * k + 1] = has_row ? v.sum : 0, sums[3 * k + 2] = has_row ? v.squares : 0;
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 6; i++)
        sums[i] = __reduce_add_sync(~0u, sums[i]);
    return make_int2(tm_score_order(tm_few_score(sums[0], sums[1], sums[2], w * h, *t)),
                     tm_score_order(tm_few_score(sums[3], sums[4], sums[5], w * h, *t)));
}

/* Sums of a pair under a mask: S_FT, S_F and S_FF of both windows. */
struct tm_bound_masked_sums {
    unsigned of[6] = {};

    /* Row r of the upper window. taps: the template's first row; its mask's rows follow, both with a row of zeros before the first one and one
     * behind the last. */
    __device__ __forceinline__ void add(const uint8_t *from, int column, unsigned taps, int h, int r)
    {
        unsigned f[TM_FEW_WORDS + 1];
#pragma unroll
        for (int k = 0; k <= TM_FEW_WORDS; k++)
            f[k] = *((const unsigned *)from + k);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const unsigned row = taps + (r - k) * TM_BOUND_TAPS, mask = row + tm_bound_taps_bytes(h);
            const tm_few_row v(f, column, tm_few_mask(tm_load16(mask), tm_load16(mask + 16)));
            of[3 * k] = v.add_products(tm_load16(row), tm_load16(row + 16), of[3 * k]);
            of[3 * k + 1] += v.sum, of[3 * k + 2] += v.squares;
        }
    }

    __device__ __forceinline__ float score(int window, int n, const tm_tensor_template &t) const
    {
        return tm_few_score(of[3 * window], of[3 * window + 1], of[3 * window + 2], n, t);
    }
};

/* Like tm_bound_orders. n: pixels that count. */
static __device__ __noinline__ int2 tm_bound_masked_orders(const uint8_t *from, size_t pitch, int column, unsigned taps, int n, int h,
                                                           const tm_tensor_template *t)
{
    tm_bound_masked_sums sums;
    const int r = threadIdx.x % 32;
    if (r <= h)
        sums.add(from + (size_t)r * pitch, column, taps, h, r);
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 6; i++)
        sums.of[i] = __reduce_add_sync(~0u, sums.of[i]);
    return make_int2(tm_score_order(sums.score(0, n, *t)), tm_score_order(sums.score(1, n, *t)));
}

/* Likewise the scores of a pair, of which only so many windows need be there, by a thread. */
__device__ __forceinline__ void tm_bound_masked_scores(const tm_tensor_job &j, unsigned taps, int n, const tm_bound_pair &pair, int windows,
                                                       float (&scores)[2])
{
    const uint8_t *row = j.frame + (size_t)pair.y * j.pitch + (pair.x & ~3);
    const int h = j.height, last = windows + h - 2;
    tm_bound_masked_sums sums;
#pragma unroll 1
    for (int r = 0; r <= h; r++) {
        sums.add(row, (int)(pair.x & 3), taps, h, r);
        row += r < last ? j.pitch : 0; // rows below the last are not used
    }
#pragma unroll
    for (int k = 0; k < 2; k++)
        scores[k] = sums.score(k, n, *j.templates);
}

/* See bound_list.cuh. */
template <bool HAS_MASK>
struct tm_bound_scorer {
    const tm_tensor_job &j;
    const unsigned taps;             // the address of the template's first row
    const tm_bound_core *const core; // where there is a mask

    __device__ __forceinline__ explicit tm_bound_scorer(const tm_bound_block &b) : j(b.j), taps(b.taps), core(HAS_MASK ? b.masked_core() : NULL) {}

    /* The pair's first row begins there, at a multiple of 4 columns, of which column is the rest. */
    __device__ __forceinline__ int2 orders(const uint8_t *from, size_t pitch, int column) const
    {
        return HAS_MASK ? tm_bound_masked_orders(from, pitch, column, taps, core->counted, j.height, j.templates)
                        : tm_bound_orders(from, pitch, column, taps, j.width, j.height, j.templates);
    }

    __device__ __forceinline__ int2 orders(int64_t x, int64_t y) const
    {
        return orders(j.frame + (size_t)y * j.pitch + (x & ~3), j.pitch, (int)(x & 3));
    }

    __device__ __forceinline__ void scores(const tm_bound_pair &pair, int windows, float (&scores)[2]) const
    {
        if (HAS_MASK)
            tm_bound_masked_scores(j, taps, core->counted, pair, windows, scores);
        else
            tm_few_scores(j, tm_few_mask(j.width), *j.templates, pair.x, pair.y, windows, scores);
    }
};

#endif
