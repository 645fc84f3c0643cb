/* SPDX-License-Identifier: MIT */
/* From sums of products in double precision to integers, whoever made the sums. */
#ifndef TMATCH_FFT_CUDA_SCORES_CUH
#define TMATCH_FFT_CUDA_SCORES_CUH

#include "fft/cuda/kernels.cuh"

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

/* Calls use(part, place in job.sums, position in the map, columns of the map from there on)
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
        const int64_t place = tm_fft_sums_place(band, part, row) + at;
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

/* The same where 32 bits hold the integer: 1.5 * 2^52 leaves no room for a fraction. */
static __device__ __forceinline__ int32_t tm_nearest32(double sum)
{
#ifdef TM_FFT_PROBE
    return (int32_t)tm_nearest(sum);
#else
    return __double2loint(sum + 0x1.8p52);
#endif
}

/* Stores the sums of COUNT windows, every STEP-th one, as far as w has them. */
template <class W>
static __device__ __forceinline__ void tm_store_sums(const tm_fft_job &job, const W &w)
{
#pragma unroll
    for (int m = 0; m < W::COUNT; m++) {
        const int64_t place = w.place + m * W::STEP;
        if (!w.has(m))
            continue;
        if (job.narrow)
            ((int32_t *)job.sums)[place] = tm_nearest32(w.sum(m));
        else
            ((int64_t *)job.sums)[place] = tm_nearest(w.sum(m));
    }
}

/* The same where sums are the metric: into the map, if there is one, and the best of them into *best. */
template <class W>
static __device__ __forceinline__ void tm_rank_sums(const tm_fft_job &job, const W &w, tm_candidate *best)
{
    const tm_device_job &d = job.job;

#pragma unroll
    for (int m = 0; m < W::COUNT; m++) {
        if (!w.has(m))
            continue;
        const tm_candidate candidate = {tm_nearest(w.sum(m)) + TM_FFT_CENTRE * d.sum, w.position + m * W::STEP};
        if (d.map)
            ((int64_t *)d.map)[candidate.position] = candidate.value;
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

#endif
