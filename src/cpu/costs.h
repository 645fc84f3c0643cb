/* SPDX-License-Identifier: MIT */
/* What the algorithms cost on the CPU, in nanoseconds. bench/fit_costs.py writes the blocks
 * marked 'fitted' from what tmatch-bench measured:
 *
 *     build/bench/tmatch-bench costs --devices cpu --json costs.json
 *     bench/fit_costs.py costs.json
 *
 * A wrong number makes a match slower, never different. */
#ifndef TMATCH_CPU_COSTS_H
#define TMATCH_CPU_COSTS_H

#include "fft/tiling.h"
#include "lcc/direct_costs.h"

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

#endif
