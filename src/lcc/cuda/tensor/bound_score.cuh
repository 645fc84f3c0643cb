/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu and wgmma_bound_pixels.cu: what S_FT of the rounded template must reach in a window for its score to reach the best one
 * known.
 *
 * Four windows, of columns 2i - 1 and 2i and of two rows, are a cell. All of them have the pixels of its core: h - 1 rows, and of the
 * columns from 2i on BINS pairs. A window's own squared deviations from its mean, added up, are no less than the core's from the core's
 * mean, in each channel. So with V those of the core, n_V its pixels, and f the least score with the rounded template (tm_rounded_least),
 *
 *     score reached  implies  S_FT >= length f sqrt(V),  V = the sum over channels of S_FF - S_F^2 / n_V.
 *
 * Under a mask sums are over the pixels that count. S_FT is, as the rounded template is 0 elsewhere. The core is a rectangle of which k pixels do
 * not count. With m the mean of those that do, the squares of all its pixels' deviations from m are no less than its V, and at most 255^2 of
 * them are of each of the k: so V of those that count is no less than the rectangle's less 255^2 k, which is taken instead.
 *
 * V is made in binary32 of integers. With u = 2^-24, S_FF and S_F^2 / n_V are at most 65025 n_V in a channel, and n_V at most 552. In one
 * channel their roundings are off by at most u and 2 u of that, and their difference by u 2^14 n_V: less than 7 in all, where 16 or more are
 * taken off. In three, the sum of all S_FF by 3 u, of each S_F^2 / n_V by 2 u, and each of three differences by 3 u: less than 39, where 48 or
 * more are taken off. The factor 1 - 2^-19 is for the root, which is off by 2 u, and two products.
 *
 * That needs f >= 0. Where f < 0, S_FT says nothing: so a best score whose f is not above 0 is not known to be the best.
 *
 * S_FT is compared by its higher 16 of 24 bits, p = floor(S_FT / 256), and the limit is stored as an addend a of 16 bits, so that p + a > 0
 * where S_FT may reach it: with v = length f sqrt(V) / 256, a is the least integer that is not below 1 - v, and p >= floor(v) = 1 - a.
 * Where length f is 258 or more, and the window is not flat, its V is at least 1 - 1 / n, and S_FT must be above 256: so v may be taken for
 * at least 1.5, with a = 0, which flat windows, whose S_FT is 0, do not pass.
 *
 * The roots need no score: in a block's first step they are made while there is none yet. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_SCORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_SCORE_CUH
#include "lcc/cuda/tensor/bound_template.cuh"

/* A score is good where its product with length is this or more: it leaves out flat windows. */
enum { TM_BOUND_GOOD_SUM = 300 };

/* A score to reach: v = factor * sqrt(V), where the root is taken for least_root at least. */
struct tm_bound_score {
    float minus_factor, least_root;

    __device__ __forceinline__ tm_bound_score(const tm_bound_template &t, int order)
    {
        const float s = tm_score_of_order(order), f = s > 0 ? tm_rounded_least(t.angle, s) : 0.0f;
        const float factor = fmaxf(f, 0.0f) * t.length * (float)(1 - 0x1p-19) / 256;
        minus_factor = -factor;
        least_root = factor >= 258.0f / 256 ? 1.5f / factor : 0.0f;
    }

    /* An addend, in the low bits of an integer. Outside the map nothing reaches a limit. slack: a whole number that v is less by. */
    __device__ __forceinline__ int addend(float root, bool in_map, float slack = 0) const
    {
        const float NO_LIMIT = -0x1p14f; // which no sum exceeds
        return __float_as_int(__fmaf_ru(fmaxf(root, least_root), in_map ? minus_factor : 0.0f, 0x1.8p23f + (in_map ? 1.0f + slack : NO_LIMIT)));
    }
};

/* Adds a word's bytes, times bytes with a sign. */
__device__ __forceinline__ int tm_bound_add(unsigned bytes, int factors, int sum)
{
    int d;
    asm("dp4a.u32.s32 %0, %1, %2, %3;" : "=r"(d) : "r"(bytes), "r"(factors), "r"(sum));
    return d;
}

/* Sums of so many bins of neighbouring lanes, from this lane's bin i on, i < 4. pairs: of its bins 0, 1 and 2, 3; firsts: bins 0 and 2. */
__device__ __forceinline__ void tm_bound_across(int bins, int (&sums)[4], const int (&pairs)[2], const int (&firsts)[2])
{
    const int lanes = bins / 4, rest = bins % 4, all = pairs[0] + pairs[1];
    const int bin[4] = {firsts[0], pairs[0] - firsts[0], firsts[1], pairs[1] - firsts[1]};
    const auto number = [&](int i) { return i & 2 ? i & 1 ? bin[3] : bin[2] : i & 1 ? bin[1] : bin[0]; };
    sums[0] = lanes ? all : 0;
#pragma unroll
    for (int i = 1; i < lanes; i++)
        sums[0] += __shfl_down_sync(~0u, all, i);
    if (rest)
        sums[0] += __shfl_down_sync(~0u, rest == 1 ? firsts[0] : rest == 2 ? pairs[0] : pairs[0] + firsts[1], lanes);
#pragma unroll
    for (int i = 0; i < 3; i++)
        sums[i + 1] = sums[i] - bin[i] + __shfl_down_sync(~0u, number((rest + i) % 4), lanes + (rest + i) / 4);
}

__device__ __forceinline__ float tm_bound_root(float v)
{
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(v));
    return root;
}

#endif
