/* SPDX-License-Identifier: MIT */
/* A frame's and a template's samples as the transforms take them. */
#ifndef TMATCH_FFT_CUDA_SAMPLES_CUH
#define TMATCH_FFT_CUDA_SAMPLES_CUH

#include "fft/cuda/kernels.cuh"

/* Samples from a place in the frame on, as far as there are any. */
typedef struct tm_samples {
    const uint8_t *at;
    int count;
} tm_samples;

static __device__ __forceinline__ tm_samples tm_samples_at(const tm_fft_job &job, int64_t x,
                                                           int64_t y)
{
    const int64_t count = (int64_t)job.job.pitch - x;
    tm_samples s = {job.job.frame + y * (int64_t)job.job.pitch + x, 0};
    if (y < job.frame_rows && count > 0)
        s.count = (int)min(count, (int64_t)INT32_MAX);
    return s;
}

/* What lies beyond is in no window. */
static __device__ __forceinline__ double tm_sample(const tm_samples &s, int i)
{
    return i < s.count ? s.at[i] - TM_FFT_CENTRE : 0;
}

/* F - pivot at a place of a padded frame of floats; what lies beyond that is in no window. */
static __device__ __forceinline__ double tm_f32_at(const tm_fft_job &job, int64_t x, int64_t y)
{
    const tm_fft_f32_channel &r = job.f32;
    const int64_t from_x = x - r.pad_x, from_y = y - r.pad_y;
    if (x >= job.job.map_width + job.job.width - 1 || y >= job.job.map_height + job.job.height - 1)
        return 0;
    if (from_x < 0 || from_y < 0 || from_x >= r.width || from_y >= r.height)
        return -r.pivot;
    return (double)r.samples[(from_y * r.width + from_x) * r.channels + r.channel] - r.pivot;
}

/* T - mean of a template of floats, and 0 beside it. */
static __device__ __forceinline__ double tm_f32_tap(const tm_fft_job &job, int row, int i)
{
    if (row >= job.job.height || i >= job.job.width)
        return 0;
    return job.f32.taps[(int64_t)row * job.job.width + i] - job.f32.mean;
}

#endif
