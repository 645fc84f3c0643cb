/* SPDX-License-Identifier: MIT */
/* From sums of products in double precision to scores, whoever made the sums. */
#ifndef TMATCH_FFT_CUDA_SCORES_CUH
#define TMATCH_FFT_CUDA_SCORES_CUH

#include "fft/cuda/kernels.cuh"
#include "lcc/reject.h"

#ifdef TM_FFT_PROBE
/* For tests/fft/fft_error_cuda.c: the greatest distance of a sum from an integer so far,
 * as the bits of a double. */
static __device__ unsigned long long tm_probe_worst;

static inline cudaError_t tm_probe_read(double *worst)
{
    const unsigned long long zero = 0;
    cudaError_t error = cudaMemcpyFromSymbol(worst, tm_probe_worst, sizeof *worst);
    return error == cudaSuccess ? cudaMemcpyToSymbol(tm_probe_worst, &zero, sizeof zero) : error;
}
#endif

/* Calls use(part, place in job.windows, position in the map, columns of the map from there on)
 * for the window of either part whose sum is one point of a tile, where the map has its row.
 * left: columns from the band's left to the tile's; row: of the band; column: of the tile. */
template <class Use>
static __device__ __forceinline__ void tm_each_part(const tm_fft_job &job, int64_t left, int row,
                                                    int column, Use use)
{
    const tm_fft_band &band = job.band;
    const int columns = (int)min((int64_t)job.tiling.step_x, band.width - left) - column;
    if (row >= band.rows || columns <= 0)
        return;
    for (int part = 0; part < 2; part++) {
        const int64_t at = left + column;
        const int64_t x = band.x + at + part * job.tiling.shift_x;
        const int64_t y = band.y + row + part * job.tiling.shift_y;
        const int64_t place = ((int64_t)part * band.rows + row) * band.width + at;
        const int64_t position = y * job.job.map_width + x;
        const int there = (int)min((int64_t)columns, job.job.map_width - x);
        if (y < job.job.map_height)
            use(part, place, position, there);
    }
}

static __device__ __forceinline__ int64_t tm_nearest(double sum)
{
    const int64_t integer = __double2ll_rn(sum);
#ifdef TM_FFT_PROBE
    atomicMax(&tm_probe_worst, __double_as_longlong(fabs(sum - (double)integer)));
#endif
    return integer;
}

/* n * S_FT - S_F * S_T as binary32. Up to 2^18 pixels the products and their
 * difference are whole numbers below 2^53, so doubles have them exactly. */
static __device__ __forceinline__ float tm_numerator(const tm_device_job &d, int64_t s_ft,
                                                     uint32_t s_f)
{
    if (d.n <= 1 << 18)
        return __double2float_rn(fma((double)d.n, (double)s_ft, -((double)s_f * (double)d.sum)));
    return __ll2float_rn(d.n * s_ft - (int64_t)s_f * d.sum);
}

/* What a window's num^2 / var_F must reach for a score that may be the best: see lcc/reject.h.
 * Negative: no window is rejected. */
static __device__ __forceinline__ float tm_fft_reject_bound(const tm_fft_job &job, int64_t best)
{
    if (job.job.map || best <= 0)
        return -1;
    const float score = tm_score_of_order((int32_t)best);
    return tm_reject_boundf(score, job.job.variance);
}

/* Scores COUNT windows, every STEP-th one, as far as w has them: into the map, if there is one, and
 * the best of them into *best. */
template <class W>
static __device__ __forceinline__ void tm_score_windows(const tm_fft_job &job, const W &w,
                                                        tm_candidate *best, float bound)
{
    constexpr int COUNT = W::COUNT, STEP = W::STEP;
    const tm_device_job &d = job.job;
    const tm_window *from = job.windows + w.place;
    tm_window windows[COUNT];

#pragma unroll
    for (int m = 0; m < COUNT; m++) {
        if (job.metric == TM_METRIC_LCC && w.has(m))
            windows[m] = from[m * STEP];
    }
#pragma unroll
    for (int m = 0; m < COUNT; m++) {
        if (!w.has(m))
            continue;
        const int64_t s_ft = tm_nearest(w.sum(m)) + TM_FFT_CENTRE * d.sum;
        tm_candidate candidate = {s_ft, w.position + m * STEP};
        if (job.metric == TM_METRIC_LCC) {
            const float num = tm_numerator(d, s_ft, windows[m].s_f);
            if (bound >= 0 && (num <= 0 || num * num < bound * windows[m].variance))
                continue;
            const float variance = windows[m].variance;
            const float score =
                tm_lcc_clamp(tm_lcc_quotient(num, variance, d.variance), variance == 0);
            if (d.map)
                ((float *)d.map)[candidate.position] = score;
            candidate.value = tm_score_order(score);
        } else if (d.map) {
            ((int64_t *)d.map)[candidate.position] = s_ft;
        }
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

#endif
