/* SPDX-License-Identifier: MIT */
/* One float window by all threads of a warp, and the pivot for a row of windows. */
#ifndef TMATCH_LCC_CUDA_FLOAT_WINDOW_CUH
#define TMATCH_LCC_CUDA_FLOAT_WINDOW_CUH

#include "lcc/cuda/float/sums.cuh"

#define TM_ALL_LANES 0xffffffffu

static __device__ __forceinline__ double tm_warp_sum(const tm_partial_sum &sum)
{
    double all = tm_partial_sum_total(&sum);
    for (int offset = 16; offset > 0; offset /= 2)
        all += __shfl_xor_sync(TM_ALL_LANES, all, offset);
    return all;
}

/* The median of samples along the middle of the windows. Outliers do not move it, and where most
 * samples are equal it makes their F' 0. */
static __device__ double tm_f32_pivot_of(const tm_f32_launch &l, const tm_f32_tile &t, int channel)
{
    const int64_t left = max(t.left, (int64_t)0);
    const int64_t right = min(t.left + TM_F32_TILE_WIDTH + l.width - 1, l.frame_width);
    const int64_t x = left + (right - left - 1) * t.lane / (TM_F32_LANES - 1);
    const int first = threadIdx.x % 32 - t.lane; /* the row's lane in the warp */
    const double own = tm_f32_sample_of(l, x, t.top + t.row + l.height / 2, channel);
    int before = 0;

    for (int i = 0; i < TM_F32_LANES; i++) {
        const double other = __shfl_sync(TM_ALL_LANES, own, first + i);
        before += other < own || (other == own && i < t.lane);
    }
    const unsigned median = __ballot_sync(TM_ALL_LANES, before == TM_F32_LANES / 2) >> first;
    return __shfl_sync(TM_ALL_LANES, own, first + __ffs(median) - 1);
}

/* The score by sums around the window's own mean, as tm_f32_window makes it. */
static __device__ __noinline__ double tm_f32_window_score(const tm_f32_launch &l, int64_t x,
                                                          int64_t y)
{
    const int64_t left = x - l.pad_x, top = y - l.pad_y;
    const unsigned n = (unsigned)l.width * (unsigned)l.height, width = (unsigned)l.width;
    const unsigned lane = threadIdx.x % 32;
    tm_partial_sum products = {}, s_ff = {};
    tm_f32_sums sums = {};
    bool all_flat = true;
    double score;

    for (int c = 0; c < l.scorer.channels; c++) {
        const double some =
            tm_f32_sample_of(l, left + l.first % l.width, top + l.first / l.width, c);
        tm_partial_sum above = {}, s_f = {};
        bool differs = false;
        for (unsigned i = lane; i < n; i += 32) {
            if (l.counts && !l.counts[i])
                continue;
            const double f = tm_f32_sample_of(l, left + i % width, top + i / width, c);
            differs = differs || f != some;
            tm_partial_sum_add(&above, f - some);
        }
        if (!__any_sync(TM_ALL_LANES, differs))
            continue;
        all_flat = false;
        const double mean = some + tm_warp_sum(above) / l.scorer.n;
        for (unsigned i = lane; i < n; i += 32) {
            if (l.counts && !l.counts[i])
                continue;
            const double f = tm_f32_sample_of(l, left + i % width, top + i / width, c) - mean;
            tm_partial_sum_add(&products, f * l.taps[(int64_t)c * n + i]);
            tm_partial_sum_add(&s_f, f);
            tm_partial_sum_add(&s_ff, f * f);
        }
        tm_f32_centre(&l.scorer, &sums, c, tm_warp_sum(s_f));
    }
    sums.products += tm_warp_sum(products);
    sums.s_ff = tm_warp_sum(s_ff);
    return !all_flat && tm_f32_score_of(&l.scorer, &sums, &score) ? score : 0;
}

#endif
