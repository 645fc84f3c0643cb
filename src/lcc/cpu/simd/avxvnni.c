/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/simd/avx2.h"

#define TILE_ROWS 3
#define v_dot(sums, samples, taps) _mm256_dpbusd_avx_epi32(sums, samples, taps)
#define v_pairs(sums, pairs, taps) _mm256_dpwssd_avx_epi32(sums, pairs, taps)
#include "lcc/cpu/simd/levels.h"
#include "lcc/cpu/simd/quads.h"

void tm_cpu_kernels_init_avxvnni(tm_cpu_kernels *kernels)
{
    kernels->pack = pack_quads;
    kernels->expand = expand_quads;
    kernels->expand_wide = NULL;
    kernels->correlate_folded = NULL;
    kernels->correlate = correlate_quads;
    kernels->pass_windows = pass_windows;
    kernels->window_product = window_product_quads;
}
