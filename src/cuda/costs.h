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

/* Measured on one H200, of so many multiprocessors, such a clock and such memory. What is not measured
 * of another device is scaled by what its driver says of these. */
#define TM_CUDA_FITTED_MULTIPROCESSORS 132
#define TM_CUDA_FITTED_GHZ 1.98
#define TM_CUDA_FITTED_GBS 4900

/* Not fitted: a step takes so many times as long where tensor cores make a quarter of Hopper's products a
 * clock, by the datasheets: what they are busy for on the H200, and the rest as there. */
#define TM_CUDA_FEW_PRODUCTS 1.6

/* Not fitted: the share of its time that FFT waits for memory, by the bytes that 4096^2 with 128^2 moves. */
#define TM_CUDA_FFT_MEMORY 0.3

/* The direct algorithm without tensor cores, for any template. A window costs nothing besides its
 * rows. */
static const tm_direct_costs tm_cuda_direct_costs = {
    /* cuda direct: fitted */
    .row = 0.000597, .tap = 6.49e-05,
};

/* The direct algorithm for one channel of floats, in double precision: set by hand, from
 * tmatch-bench formats, and right within 4 % at 8² to 128². By FFT a window's sums cost
 * TM_CUDA_F32_SUMS_NS besides the transforms, and TM_CUDA_F32_SUMS_TAP_NS a tap. */
static const tm_direct_costs tm_cuda_f32_costs = {NULL, 0.039, 0.00045, 0.000135};
#define TM_CUDA_F32_SUMS_NS 0.08
#define TM_CUDA_F32_SUMS_TAP_NS 3.5e-05

/* The direct algorithm on the tensor cores. A window costs window + h * (row + steps * step), where
 * a step is 16 columns of a template row, and the windows are those of one multiprocessor. A
 * block that is alone on its multiprocessor has steps of its own, as nothing hides its latency. */
/* cuda tensor: fitted */
#define TM_CUDA_TENSOR_CALL_NS 9.86e+03
#define TM_CUDA_TENSOR_WINDOW_NS 0.149
#define TM_CUDA_TENSOR_ROW_NS 0.000926
#define TM_CUDA_TENSOR_STEP_NS 0.00489
#define TM_CUDA_TENSOR_LONE_STEP_NS 0.00548

/* Not fitted: products in tiles of 128 x 64 windows, by wgmma_tall.cu and its likes on compute capability 9.0, as an H100 took for
 * 2048^2 with 64^2 to 140^2: a unit of 16 columns of a template row, for a window of one multiprocessor; and what a window of planes takes
 * besides. */
#define TM_CUDA_TALL_UNIT_NS 0.0022
#define TM_CUDA_TALL_PLANES_WINDOW_NS 1.4

/* Certified search of a template: what it costs, a cell window and each instruction of its products, of 32 cell windows; and
 * its scores, as a share of what all take, or where eps is above TM_CUDA_CERTIFIED_EPS as much as all. The smallest cells
 * have a kernel of their own, and leave more windows in the mean of templates that are in the frame and that are not. Where
 * all windows of a score below TM_CUDA_CERTIFIED_FLOOR are asked for, too many are left. Set by hand. */
typedef struct tm_cells_costs {
    double call, cell, product, scored;
} tm_cells_costs;

static const tm_cells_costs tm_cuda_certified_costs = {2.2e4, 0.0043, 0.00048, 0.1},
                                tm_cuda_small_certified_costs = {1.0e4, 0.003, 0.00012, 0.45};
#define TM_CUDA_CERTIFIED_CUT_NS 4e4 /* to find peaks for a cut, and to come back from the host */
#define TM_CUDA_CERTIFIED_EPS 0.8
#define TM_CUDA_CERTIFIED_FLOOR 0.5f

/* To find the best of a map's peaks, a window: the least of what was measured. */
#define TM_CUDA_PEAKS_NS 0.006

static const tm_fft_length tm_cuda_fft_lengths[] = {
    /* cuda lengths: fitted */
    {256, 0.00351}, {512, 0.00387}, {768, 0.005}, {1024, 0.00482}, {1152, 0.00466},
    {1536, 0.00588}, {2048, 0.00438}, {2304, 0.00742}, {4096, 0.00863}, {8192, 0.0103},
};

/* FFT. Besides its points and windows a match costs TM_CUDA_FFT_CALL_NS, and
 * TM_CUDA_FFT_SERIAL_NS a row of the template. */
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

/* cuFFT transforms whole tiles, and passes over their points come between; both are in these times.
 * Set by hand, from transforms of 2048^2 to 8192^2 in double precision. */
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

/* What the copy of a byte takes, of a large frame and of a map, by tm_transfer. */
static const double tm_cuda_in_ns[] = {
    /* cuda copies in: fitted */
    0, 0.0188, 0.101,
};

static const double tm_cuda_out_ns[] = {
    /* cuda copies out: fitted */
    0, 0.0183, 0.0947,
};

/* Not fitted: how long the bus rests between the copies of two chunks (docs/lab/devices.md), and
 * how long a chunk's launch waits after its copy, by what calls took from pinned memory. */
#define TM_CUDA_CHUNK_COPY_NS 7.5e3
#define TM_CUDA_CHUNK_LAUNCH_NS 1e4

/* Not fitted: what a product of planes costs, as a multiple of a match of 8-bit gray. Directly the
 * products of a job share launches; by FFT their sums go through memory. */
#define TM_CUDA_DIRECT_PRODUCT 0.93
#define TM_CUDA_FFT_PRODUCT 1.17

/* Not fitted: how much longer FFT takes where double precision runs at 1/64 of the speed of
 * single precision, not at 1/2. */
#define TM_CUDA_SLOW_DOUBLE 20.0

#endif
