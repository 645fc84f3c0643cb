/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu and wgmma_bound_pixels.cu: the rounded template. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_TEMPLATE_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_TEMPLATE_CUH
#include "lcc/cuda/device.cuh"
#include "lcc/rounded.h"

/* The rounded template (lcc/rounded.h), whose S_FT is the products' less none of S_F: its bytes have a sign, and those of each channel the
 * sum 0. */
struct tm_bound_template {
    float length; // at most the root of its squares' sum
    tm_rounding angle;
};

/* The sum of the warp's lanes, in each lane. */
static __device__ int64_t tm_bound_sum_lanes(int64_t value)
{
    for (int d = 16; d; d /= 2)
        value += __shfl_xor_sync(~0u, value, d);
    return value;
}

/* The sum of the lanes before this one. */
static __device__ int64_t tm_bound_sum_before(int64_t value)
{
    uint64_t sum = value;
    for (int d = 1; d < 32; d *= 2)
        tm_add_lane_before(sum, d);
    return (int64_t)sum - value;
}

/* A lane's part of n pixels. */
struct tm_bound_lane {
    int first, end;

    __device__ __forceinline__ explicit tm_bound_lane(int n)
    {
        const int each = (n + 31) / 32;
        first = min((int)(threadIdx.x % 32) * each, n), end = min(first + each, n);
    }
};

/* Rounds a template of pixels, of which n count, by one warp: in each channel the sums of the deviations from its mean, scaled, are rounded, and a byte is
 * the difference of two of them. The scale is such that no byte exceeds 127, nor any sum S_FT 24 bits: |S_FT| <= length sqrt(V), and V <= n
 * 127.5^2 in each channel. value_of(channel, i): pixel i, below 2^16; counts(i): whether it does; rounded[channel * pixels + i] becomes its
 * byte, and is 0 where it does not. */
template <int CHANNELS, typename F, typename G>
static __device__ void tm_bound_round(F value_of, G counts, int pixels, int n, int8_t *rounded, tm_bound_template *t)
{
    const tm_bound_lane part(pixels);
    const auto deviation = [&](int c, int i, int64_t sum) { return counts(i) ? n * value_of(c, i) - (int)sum : 0; };
    int64_t sum[CHANNELS] = {}, squares = 0, products = 0, length = 0;
    unsigned most = 1;
    for (int c = 0; c < CHANNELS; c++) {
        for (int i = part.first; i < part.end; i++)
            sum[c] += counts(i) ? value_of(c, i) : 0;
        sum[c] = tm_bound_sum_lanes(sum[c]);
        for (int i = part.first; i < part.end; i++) {
            const int d = deviation(c, i, sum[c]);
            most = max(most, (unsigned)abs(d)), squares += (int64_t)d * d;
        }
    }
    most = __reduce_max_sync(~0u, most), squares = tm_bound_sum_lanes(squares);
    const double scale = fmin(126.0 / most, 0.98 * 0x1p22 / (127.5 * sqrt((double)(CHANNELS * n) * (double)squares)));
    for (int c = 0; c < CHANNELS; c++) {
        int64_t deviations = 0;
        for (int i = part.first; i < part.end; i++)
            deviations += deviation(c, i, sum[c]);
        deviations = tm_bound_sum_before(deviations);
        int64_t before = llrint((double)deviations * scale);
        for (int i = part.first; i < part.end; i++) {
            const int d = deviation(c, i, sum[c]);
            deviations += d;
            const int64_t after = llrint((double)deviations * scale);
            rounded[c * pixels + i] = (int8_t)(after - before);
            length += (after - before) * (after - before), products += (after - before) * d;
            before = after;
        }
    }
    length = tm_bound_sum_lanes(length), products = tm_bound_sum_lanes(products);
    if (threadIdx.x)
        return;
    /* exact but for the last operations */
    t->length = __double2float_rd(sqrt((double)length) * (1 - 0x1p-50));
    t->angle = tm_rounding_of(tm_rounded_sine((double)products * (double)products / ((double)length * (double)squares)));
}

#endif
