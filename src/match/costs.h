/* SPDX-License-Identifier: MIT */
/* What the algorithms cost, in nanoseconds. bench/fit_costs.py writes the blocks
 * marked 'fitted' from what measure_costs printed:
 *
 *     ninja -C build measure_costs
 *     build/measure_costs >costs.jsonl && bench/fit_costs.py costs.jsonl
 *
 * A wrong number makes a match slower, never different. */
#ifndef TMATCH_MATCH_COSTS_H
#define TMATCH_MATCH_COSTS_H

#include "match/plan.h"

/* One thread of the direct algorithm on the CPU, by its table of kernels. A
 * window costs window + h * (row + w * tap). NULL: plain C and names not listed.
 * AMD EPYC, family 25 model 17 (Zen 4). */
static const tm_direct_costs tm_cpu_direct_costs[] = {
    /* cpu direct: fitted */
    {"amx", 0.57, 0.003, 0.0008}, /* from bench/results/cpu/isas.json, a Xeon */
    {"avx512vnni", 0.595, 0.000404, 0.00461},
    {"avx512bw", 0.652, 0.00794, 0.0111},
    {"avxvnni", 2.0, 0.02, 0.0085},
    {"avx2", 0.903, 0.0124, 0.0143},
    {"sse4.1", 1.75, 0.0327, 0.0283},
    {NULL, 9.91, 0, 0.0809},
};

/* A point of a transform, of consecutive points, planned with FFTW_ESTIMATE; only
 * lengths that no greater one undercuts. The same machine. */
static const tm_fft_length tm_cpu_fft_lengths[] = {
    /* cpu lengths: fitted */
    {16, 2.71}, {32, 2.56}, {48, 2.65}, {64, 2.95}, {96, 2.92},
    {112, 3.21}, {128, 3.43}, {160, 3.48}, {224, 3.32}, {240, 3.31},
    {256, 3.28}, {320, 3.14}, {448, 3.41}, {512, 3.23}, {640, 3.5},
    {768, 3.88}, {800, 4.39}, {1024, 3.59}, {1280, 4}, {1536, 4.31},
    {2048, 4.04}, {2304, 4.67}, {2560, 5.15}, {3072, 5.08}, {3584, 5.8},
    {3840, 6.26}, {4096, 6.37}, {6144, 9.24}, {8192, 9.67}, {16384, 11.2},
    {32768, 11.9},
};

/* cpu fft: fitted */
#define TM_CPU_ROW_NS 0
#define TM_CPU_COLUMN_NS 1.43
#define TM_CPU_WINDOW_NS 3.27
#define TM_CPU_TILE_NS 0

static const tm_fft_costs tm_cpu_fft_costs = {
    .lengths = tm_cpu_fft_lengths,
    .count = sizeof tm_cpu_fft_lengths / sizeof *tm_cpu_fft_lengths,
    .row_ns = TM_CPU_ROW_NS,
    .column_ns = TM_CPU_COLUMN_NS,
    .window_ns = TM_CPU_WINDOW_NS,
    .tile_ns = TM_CPU_TILE_NS,
    .max_points = INT64_C(1) << 24, /* 256 MiB a thread */
};

/* Waking the threads; a matcher's first plans and memory. Not fitted. */
#define TM_CPU_FFT_CALL_NS 2e4
#define TM_CPU_FFT_START_NS 2e6

#endif
