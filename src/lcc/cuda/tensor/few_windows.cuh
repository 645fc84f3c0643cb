/* SPDX-License-Identifier: MIT */
/* Sums and scores of single windows, without tensor cores, for the templates of wgmma.cu. */
#ifndef TMATCH_LCC_CUDA_TENSOR_FEW_WINDOWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_FEW_WINDOWS_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/small_blocks.cuh"

enum { TM_FEW_WORDS = 7 }; // of a template's row

/* Which bytes of a row's words are a template's of w columns. */
struct tm_few_mask {
    unsigned words[TM_FEW_WORDS];

    __device__ __forceinline__ explicit tm_few_mask(int w)
    {
#pragma unroll
        for (int k = 0; k < TM_FEW_WORDS; k++)
            words[k] = 4 * k + 4 <= w ? ~0u : 4 * k >= w ? 0 : ~0u >> 8 * (4 * k + 4 - w);
    }

    /* Those of a row of a mask. */
    __device__ __forceinline__ tm_few_mask(uint4 a, uint4 b) : words{a.x, a.y, a.z, a.w, b.x, b.y, b.z} {}
};

/* A row of a window. */
struct tm_few_row {
    unsigned words[TM_FEW_WORDS], sum = 0, squares = 0;

    /* The frame row's 8 words begin at a multiple of 4 columns, the window at column x. */
    __device__ __forceinline__ tm_few_row(const unsigned (&f)[TM_FEW_WORDS + 1], int x, const tm_few_mask &mask)
    {
#pragma unroll
        for (int k = 0; k < TM_FEW_WORDS; k++) {
            words[k] = __funnelshift_r(f[k], f[k + 1], 8 * (x & 3)) & mask.words[k];
            sum = __dp4a(words[k], 0x01010101u, sum);
            squares = __dp4a(words[k], words[k], squares);
        }
    }

    /* Adds the row's products with a template's row: the words of its columns from 0 and from 16 on. */
    __device__ __forceinline__ unsigned add_products(uint4 a, uint4 b, unsigned s_ft) const
    {
        const unsigned taps[TM_FEW_WORDS] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z};
#pragma unroll
        for (int k = 0; k < TM_FEW_WORDS; k++)
            s_ft = __dp4a(words[k], taps[k], s_ft);
        return s_ft;
    }
};

__device__ __forceinline__ float tm_few_score(unsigned s_ft, unsigned s_f, unsigned s_ff, int n, const tm_tensor_template &t)
{
    return tm_tensor_score(__ll2float_rn((int64_t)n * s_ft - (int64_t)s_f * t.sum),
                           __ll2float_rn((int64_t)n * s_ff - (int64_t)s_f * s_f), t.variance);
}

/* Scores ROWS windows, one below another, of which those from number windows on need not be. */
template <int ROWS>
__device__ __forceinline__ void tm_few_scores(const tm_tensor_job &j, const tm_few_mask &mask, const tm_tensor_template &t, int64_t x,
                                              int64_t y, int windows, float (&scores)[ROWS])
{
    const int h = j.height, last = windows + h - 2;
    const uint8_t *row = j.frame + (size_t)y * j.pitch + (x & ~3);
    const uint8_t *block = (const uint8_t *)j.fragments + (h + 6) * TM_SMALL_BLOCK;
    unsigned s_f[ROWS] = {}, s_ff[ROWS] = {}, s_ft[ROWS] = {};
#pragma unroll 2
    for (int r = 0; r < h + ROWS - 1; r++, block -= TM_SMALL_BLOCK) {
        unsigned f[TM_FEW_WORDS + 1];
#pragma unroll
        for (int k = 0; k <= TM_FEW_WORDS; k++)
            f[k] = __ldg((const unsigned *)row + k);
        row += r < last ? j.pitch : 0; // rows below the last are not used
        const tm_few_row v(f, (int)x, mask);
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const uint4 *const taps = (const uint4 *)(block + i * TM_SMALL_BLOCK); // of its lines the first one is not shifted
            s_ft[i] = v.add_products(__ldg(taps), __ldg(taps + 8), s_ft[i]);
            if (r >= i && r < i + h)
                s_f[i] += v.sum, s_ff[i] += v.squares;
        }
    }
#pragma unroll
    for (int i = 0; i < ROWS; i++)
        scores[i] = tm_few_score(s_ft[i], s_f[i], s_ff[i], j.width * h, t);
}

/* Takes the best of the warp's lanes, if it is better. */
__device__ __forceinline__ void tm_few_offer(tm_tensor_best best, tm_tensor_best &warp_best)
{
    for (int d = 16; d; d /= 2) {
        const int order = __shfl_xor_sync(~0u, best.order, d);
        const int64_t pos = __shfl_xor_sync(~0u, best.pos, d);
        if (tm_tensor_beats(order, pos, best.order, best.pos))
            best.order = order, best.pos = pos;
    }
    if (tm_tensor_beats(best.order, best.pos, warp_best.order, warp_best.pos))
        warp_best = best;
}

#endif
