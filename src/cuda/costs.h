/* SPDX-License-Identifier: MIT */
/* What the algorithms cost on a CUDA device, in nanoseconds. bench/fit_costs.py writes the blocks
 * marked 'fitted' from what tmatch-bench measured:
 *
 *     build/bench/tmatch-bench costs --devices cuda:0 --json costs.json
 *     bench/fit_costs.py costs.json
 *
 * A wrong number makes a match slower, never different. */
#ifndef TMATCH_CUDA_COSTS_H
#define TMATCH_CUDA_COSTS_H

#include "fft/tiling.h"
#include "lcc/direct_costs.h"

/* Measured on one H200 of 132 multiprocessors; another device is taken to be as fast a
 * multiprocessor. */
#define TM_CUDA_FITTED_MULTIPROCESSORS 132

/* Not for the tensor cores: any template, and devices without them. A window costs
 * nothing besides its rows there. */
static const tm_direct_costs tm_cuda_direct_costs = {
    /* cuda direct: fitted */
    .row = 0.000597, .tap = 6.49e-05,
};

/* A channel of floats, by double precision: by hand, from tmatch-bench formats, within 4 %
 * at 8² to 128². By FFT, what a window's sums cost besides the transforms, and a tap there. */
static const tm_direct_costs tm_cuda_f32_costs = {NULL, 0.039, 0.00045, 0.000135};
#define TM_CUDA_F32_SUMS_NS 0.08
#define TM_CUDA_F32_SUMS_TAP_NS 3.5e-05

/* On the tensor cores a window costs window + h * (row + steps * step), a step being
 * 16 columns of a template row; windows are counted a multiprocessor. A block alone on
 * one has nothing to hide its latency. */
/* cuda tensor: fitted */
#define TM_CUDA_TENSOR_CALL_NS 9.86e+03
#define TM_CUDA_TENSOR_WINDOW_NS 0.149
#define TM_CUDA_TENSOR_ROW_NS 0.000926
#define TM_CUDA_TENSOR_STEP_NS 0.00489
#define TM_CUDA_TENSOR_LONE_STEP_NS 0.00548

static const tm_fft_length tm_cuda_fft_lengths[] = {
    /* cuda lengths: fitted */
    {256, 0.00351}, {512, 0.00387}, {768, 0.005}, {1024, 0.00482}, {1152, 0.00466},
    {1536, 0.00588}, {2048, 0.00438}, {2304, 0.00742}, {4096, 0.00863}, {8192, 0.0103},
};

/* A match costs call, and serial a template row, besides its points and windows. */
/* cuda fft: fitted */
#define TM_CUDA_WINDOW_NS 0.012
#define TM_CUDA_WINDOW_ROW_NS 1.58e-05
#define TM_CUDA_FFT_CALL_NS 4.05e+04
#define TM_CUDA_FFT_SERIAL_NS 44.6

static const tm_fft_costs tm_cuda_fft_costs = {
    .lengths = tm_cuda_fft_lengths,
    .count = sizeof tm_cuda_fft_lengths / sizeof *tm_cuda_fft_lengths,
    .window_ns = TM_CUDA_WINDOW_NS,
    .max_points = INT64_C(1) << 26,
};

/* cuFFT, of whole tiles, with the passes over their points between its transforms: by hand,
 * from transforms of 2048^2 to 8192^2 in double precision. */
static const tm_fft_length tm_cufft_lengths[] = {
    {256, 0.019},  {384, 0.022},  {512, 0.019},  {768, 0.022},  {1024, 0.019},  {1536, 0.022},
    {2048, 0.019}, {2560, 0.03},  {3072, 0.024}, {3584, 0.03},  {4096, 0.019},  {5120, 0.03},
    {6144, 0.024}, {7168, 0.03},  {8192, 0.021}, {10240, 0.03}, {12288, 0.026}, {16384, 0.022},
};

static const tm_fft_costs tm_cufft_costs = {
    .lengths = tm_cufft_lengths,
    .count = sizeof tm_cufft_lengths / sizeof *tm_cufft_lengths,
    .window_ns = TM_CUDA_WINDOW_NS,
    .max_points = INT64_C(1) << 26,
};

/* A byte of a large frame and of a map, by tm_transfer: none, pinned, pageable. */
static const double tm_cuda_in_ns[] = {
    /* cuda copies in: fitted */
    0, 0.0188, 0.101,
};

static const double tm_cuda_out_ns[] = {
    /* cuda copies out: fitted */
    0, 0.0183, 0.0947,
};

/* Not fitted: that the bus rests between the copies of two chunks (docs/lab/devices.md),
 * and that a chunk's launch waits for its copy, by what calls took from pinned memory. */
#define TM_CUDA_CHUNK_COPY_NS 7.5e3
#define TM_CUDA_CHUNK_LAUNCH_NS 1e4

/* Not fitted: what a correlation of planes costs among those of one job, as a multiple of
 * one of 8-bit gray: directly they share launches, by FFT their sums go to memory. */
#define TM_CUDA_DIRECT_PRODUCT 0.93
#define TM_CUDA_FFT_PRODUCT 1.17

/* Not fitted: where double precision runs at 1/64 of single, not 1/2. */
#define TM_CUDA_SLOW_DOUBLE 20.0

#endif
