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

/* The direct algorithm in one thread, by its table of kernels; the last line is for plain C and
 * for tables that have no line. Measured on an AMD EPYC, family 25 model 17 (Zen 4). amx and
 * avxvnni are set by hand, from what a Xeon took (bench/results/cpu/xeon-isas.json, and
 * checkasm --bench), and avx512bw, avx2 and sse4.1, from checkasm --bench on that EPYC. */
static const tm_direct_costs tm_cpu_direct_costs[] = {
    /* cpu direct: fitted */
    {"amx", 0.57, 0.003, 0.0008},
    {"avx512vnni", 0.583, 0.00757, 0.00418},
    {"avx512bw", 0.7, 0.024, 0.0072},
    {"avxvnni", 0.83, 0.01, 0.0077},
    {"avx2", 0.9, 0.034, 0.0086},
    {"sse4.1", 1.7, 0.071, 0.0193},
    {NULL, 9.62, 0.0548, 0.0759},
};

/* Certified search in one thread. A window costs, where the level's blocks are not rounded and make few_pairs or
 * fewer: few, pair for each two of them, and sums where blocks alone leave too little out; else margin where blocks
 * leave columns or rows of the template over, window, square for each block across, and for each tap so much of tap
 * as the others do not decide alone. One that passes costs pass, and pixel for each of the template's. Set by hand:
 * few, pair and sums what checkasm --bench says of a Xeon of the fourth generation and, up to AVX2, of a Zen 3; the
 * others what a Zen 5 took, made as much slower as the direct algorithm is on the machine above. */
typedef struct tm_certified_costs {
    const char *kernels;
    int few_pairs;
    double few, pair, sums, window, margin, square, tap, pass, pixel;
} tm_certified_costs;

static const tm_certified_costs tm_cpu_certified_costs[] = {
    {"amx", 32, 0.45, 0.04, 0.45, 2.6, 0.25, 0.015, 0.02, 40, 0.024},
    {"avx512vnni", 32, 0.45, 0.04, 0.45, 2.6, 0.25, 0.015, 0.02, 40, 0.024},
    {"avx512bw", 16, 0.55, 0.065, 0.45, 2.4, 0.25, 0.015, 0.025, 40, 0.03},
    {"avxvnni", 16, 0.65, 0.12, 0.6, 2.4, 0.25, 0.025, 0.025, 30, 0.02},
    {"avx2", 16, 0.65, 0.115, 0.6, 2.4, 0.25, 0.025, 0.035, 30, 0.03},
    {"sse4.1", 16, 1.25, 0.23, 0.8, 3.5, 0.5, 0.05, 0.08, 20, 0.06},
    {NULL, 16, 6.5, 2.7, 2, 10, 1, 0.3, 0.8, 20, 0.5},
};

/* The direct algorithm for one channel of floats. Each sum that a score needs besides the products
 * adds TM_CPU_F32_SUM_NS to a window and TM_CPU_F32_SUM_ROW_NS to a row of it; under a mask each
 * sum takes as long as the products, too. Set by hand, from templates of 8^2 to 64^2 on the same
 * machine while others worked there. */
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

/* What a point takes in a transform of so many consecutive points: by FFTW, planned with
 * FFTW_ESTIMATE, on the same machine; by our own with AVX2, what those took beside FFTW's in turns
 * on a Zen 3 (bench/results/cpu/transforms.json), and what the points' way to and from FFTW's took
 * besides. A length is left out where a greater one takes less time in all. */
#if TM_HAVE_FFTW
static const tm_fft_length tm_cpu_fft_lengths[] = {
    /* cpu fftw lengths: fitted */
    {16, 2.93}, {32, 2.8}, {48, 2.89}, {64, 3.26}, {96, 3.22},
    {112, 3.7}, {128, 3.84}, {160, 3.85}, {224, 3.54}, {256, 3.38},
    {320, 3.49}, {448, 3.55}, {512, 3.55}, {640, 3.72}, {768, 4.27},
    {800, 4.63}, {1024, 3.91}, {1280, 4.19}, {1536, 4.71}, {1792, 4.9},
    {1920, 4.71}, {2048, 4.47}, {2304, 5.19}, {2560, 5.58}, {3072, 5.6},
    {3584, 6.31}, {3840, 6.92}, {4096, 7.07}, {6144, 10.3}, {8192, 10.1},
    {16384, 12.4}, {32768, 13},
};

#else
static const tm_fft_length tm_cpu_fft_lengths[] = {
    /* cpu own lengths: fitted */
    {16, 2.39}, {32, 2.13}, {48, 2.46}, {64, 2.37}, {80, 2.6},
    {96, 2.72}, {128, 2.67}, {144, 2.92}, {160, 2.92}, {192, 2.93},
    {240, 3.04}, {256, 2.94}, {288, 3.24}, {320, 3.03}, {384, 3.06},
    {512, 3.1}, {576, 3.44}, {640, 3.3}, {768, 3.65}, {800, 3.77},
    {864, 4}, {960, 3.74}, {1024, 3.54}, {1152, 3.78}, {1280, 3.85},
    {1536, 4.11}, {1920, 4.3}, {2048, 4.3}, {2304, 4.42}, {2560, 4.48},
    {3072, 4.39}, {3840, 5.18}, {4096, 5.21}, {6144, 5.64}, {8192, 6.36},
    {16384, 6.92}, {32768, 6.95},
};

#endif

/* Without AVX2 our own take so many times as long; FFTW has other ways. */
#define TM_CPU_PLAIN_TRANSFORMS (TM_HAVE_FFTW ? 1 : 1.9)

/* cpu fft: fitted */
#define TM_CPU_WINDOW_NS 2.71

/* For floats a window costs this, and each of its sums that slide from row to row adds the other. */
#define TM_CPU_F32_WINDOW_NS 16
#define TM_CPU_F32_SLIDE_NS 4

static const tm_fft_costs tm_cpu_fft_costs = {
    .lengths = tm_cpu_fft_lengths,
    .count = sizeof tm_cpu_fft_lengths / sizeof *tm_cpu_fft_lengths,
    .window_ns = TM_CPU_WINDOW_NS,
    .max_points = INT64_C(1) << 24, /* 256 MiB a thread */
};

/* Not fitted. A match by FFT wakes the threads, and the first one makes plans. Memory costs so much
 * a point when it is used for the first time: each thread has a tile, and the template another
 * one. Where the tiles' size is chosen, that cost is divided by a number of frames. */
#define TM_CPU_FFT_CALL_NS 2e4
#define TM_CPU_FFT_START_NS 3e5
#define TM_CPU_FFT_MEMORY_NS 9.0
#define TM_CPU_FFT_FRAMES 16

#endif
