/* SPDX-License-Identifier: MIT */
/* What the algorithms cost, in nanoseconds. Measured by bench/measure_costs and
 * written by bench/fit_costs.py; docs/exactness.md has no part in this: a wrong
 * number makes a match slower, never different. */
#ifndef TMATCH_MATCH_COSTS_H
#define TMATCH_MATCH_COSTS_H

#include "match/plan.h"

/* One thread of the direct algorithm on the CPU, by its table of kernels. A
 * window costs window + h * (row + w * tap). The last is for names not listed. */
static const tm_direct_costs tm_cpu_direct_costs[] = {
    /* kernels, window, row, tap */
    {"avx512vnni", 2.0, 0.01, 0.0044},
    {"avx512bw", 2.0, 0.02, 0.0085},
    {"avxvnni", 2.0, 0.02, 0.0085},
    {"avx2", 2.0, 0.02, 0.017},
    {"sse4.1", 3.0, 0.04, 0.034},
    {NULL, 6.0, 0.05, 0.08},
};

/* A point's transform of consecutive points, planned with FFTW_ESTIMATE. */
static const tm_fft_length tm_cpu_fft_lengths[] = {
    {16, 1.2},   {32, 1.2},   {64, 1.2},   {128, 1.5},  {160, 1.6},  {256, 1.7},   {320, 1.72},
    {400, 1.87}, {448, 1.76}, {512, 1.85}, {640, 1.95}, {768, 2.24}, {896, 2.27},  {1024, 1.99},
    {1280, 2.1}, {1536, 2.5}, {1792, 2.52}, {2048, 2.22}, {2560, 2.95}, {3072, 2.78}, {4096, 3.62},
    {6144, 4.2}, {8192, 4.5}, {16384, 5.5}, {32768, 6.5},
};

static const tm_fft_costs tm_cpu_fft_costs = {
    .lengths = tm_cpu_fft_lengths,
    .count = sizeof tm_cpu_fft_lengths / sizeof *tm_cpu_fft_lengths,
    .row_ns = 1.0,
    .column_ns = 4.0,
    .window_ns = 2.0,
    .tile_ns = 2000,
    .max_points = INT64_C(1) << 25, /* 512 MiB a thread */
};

/* Waking the threads, and a matcher's first plans and memory. */
#define TM_CPU_FFT_CALL_NS 2e4
#define TM_CPU_FFT_START_NS 2e6

/* A device, all of it: one H200. */
static const tm_direct_costs tm_cuda_direct_costs = {"cuda", 0.01, 0.0001, 0.00002};

static const tm_fft_length tm_cuda_fft_lengths[] = {
    {256, 0.004},  {512, 0.004},  {768, 0.004},  {1024, 0.004}, {1152, 0.004}, {1536, 0.004},
    {2048, 0.004}, {2304, 0.004}, {3072, 0.004}, {4096, 0.004}, {4608, 0.005}, {8192, 0.006},
};

static const tm_fft_costs tm_cuda_fft_costs = {
    .lengths = tm_cuda_fft_lengths,
    .count = sizeof tm_cuda_fft_lengths / sizeof *tm_cuda_fft_lengths,
    .row_ns = 0.004,
    .column_ns = 0.008,
    .window_ns = 0.01,
    .tile_ns = 0,
    .max_points = INT64_C(1) << 26,
};

#define TM_CUDA_CALL_NS 1e4
/* Where double precision runs at 1/64 of single, not 1/2. */
#define TM_CUDA_SLOW_DOUBLE 20.0

#endif
