/* SPDX-License-Identifier: MIT */
/* What the algorithms cost, in nanoseconds. bench/fit_costs.py writes the blocks
 * marked 'fitted' from what tmatch-bench measured:
 *
 *     build/bench/tmatch-bench costs --devices cpu --json costs.json
 *     bench/fit_costs.py costs.json
 *
 * A wrong number makes a match slower, never different. */
#ifndef TMATCH_MATCH_COSTS_H
#define TMATCH_MATCH_COSTS_H

#include "match/plan.h"

/* One thread of the direct algorithm on the CPU, by its table of kernels. A
 * window costs window + h * (row + w * tap). NULL: plain C and names not listed.
 * AMD EPYC, family 25 model 17 (Zen 4); amx and avxvnni by hand, from a Xeon's
 * bench/results/cpu/xeon-isas.json and checkasm --bench. */
static const tm_direct_costs tm_cpu_direct_costs[] = {
    /* cpu direct: fitted */
    {"amx", 0.57, 0.003, 0.0008},
    {"avx512vnni", 0.583, 0.00757, 0.00418},
    {"avx512bw", 0.662, 0.0156, 0.0103},
    {"avxvnni", 0.83, 0.01, 0.0077},
    {"avx2", 0.83, 0.036, 0.013},
    {"sse4.1", 1.64, 0.0653, 0.0258},
    {NULL, 9.62, 0.0548, 0.0759},
};

/* The same of a channel of floats, and what a window and its rows cost more for each of
 * the sums besides the products, which under a mask take as long as those. By hand, from
 * templates of 8^2 to 64^2 on the same machine while others worked. */
static const tm_direct_costs tm_cpu_f32_costs[] = {
    {"amx", 10, 0.8, 0.055},
    {"avx512vnni", 10, 0.8, 0.055},
    {"avx512bw", 10, 0.8, 0.055},
    {"avxvnni", 10, 0.8, 0.055},
    {"avx2", 10, 0.8, 0.055},
    {NULL, 20, 0.8, 0.2},
};
#define TM_CPU_F32_SUM_NS 6
#define TM_CPU_F32_SUM_ROW_NS 0.6

/* A point of a transform, of consecutive points, planned with FFTW_ESTIMATE; only
 * lengths that no greater one undercuts. The same machine. */
static const tm_fft_length tm_cpu_fft_lengths[] = {
    /* cpu lengths: fitted */
    {16, 2.93}, {32, 2.8}, {48, 2.89}, {64, 3.26}, {96, 3.22},
    {112, 3.7}, {128, 3.84}, {160, 3.85}, {224, 3.54}, {256, 3.38},
    {320, 3.49}, {448, 3.55}, {512, 3.55}, {640, 3.72}, {768, 4.27},
    {800, 4.63}, {1024, 3.91}, {1280, 4.19}, {1536, 4.71}, {1792, 4.9},
    {1920, 4.71}, {2048, 4.47}, {2304, 5.19}, {2560, 5.58}, {3072, 5.6},
    {3584, 6.31}, {3840, 6.92}, {4096, 7.07}, {6144, 10.3}, {8192, 10.1},
    {16384, 12.4}, {32768, 13},
};

/* cpu fft: fitted */
#define TM_CPU_WINDOW_NS 2.71

/* Floats, likewise: a window, and each of its sums that slide. */
#define TM_CPU_F32_WINDOW_NS 16
#define TM_CPU_F32_SLIDE_NS 4

static const tm_fft_costs tm_cpu_fft_costs = {
    .lengths = tm_cpu_fft_lengths,
    .count = sizeof tm_cpu_fft_lengths / sizeof *tm_cpu_fft_lengths,
    .window_ns = TM_CPU_WINDOW_NS,
    .max_points = INT64_C(1) << 24, /* 256 MiB a thread */
};

/* Not fitted: waking the threads; a matcher's first plans; a point of memory, used
 * for the first time, of which each thread has a tile's and the template one more;
 * and the number of frames that are to share the cost of that, when a tile's size
 * is chosen. */
#define TM_CPU_FFT_CALL_NS 2e4
#define TM_CPU_FFT_START_NS 3e5
#define TM_CPU_FFT_MEMORY_NS 9.0
#define TM_CPU_FFT_FRAMES 16

/* A CUDA device: one H200 of 132 multiprocessors; another is taken to be as fast a
 * multiprocessor. Measured on it:
 *
 *     build/bench/tmatch-bench costs --devices cuda:0 --json costs.json
 *     bench/fit_costs.py costs.json */
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

/* Not fitted: what the program takes longer than on the CPU, a frame of 1920x1080 given
 * three times, the median of 11 starts. */
#define TM_CUDA_START_MS 250

#endif
