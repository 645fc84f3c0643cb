/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/simd/avx512.h"

#define TILE_ROWS 6
#define v_dot(sums, samples, taps) _mm512_dpbusd_epi32(sums, samples, taps)
#include "lcc/cpu/simd/quads.h"

void tm_cpu_kernels_init_avx512vnni(tm_cpu_kernels *kernels)
{
    kernels->name = "avx512vnni";
    assign_quads(kernels);
}
