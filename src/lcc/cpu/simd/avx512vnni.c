/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/simd/avx512.h"

#define TILE_ROWS 6
#define v_dot(sums, samples, taps) _mm512_dpbusd_epi32(sums, samples, taps)
#define v_pairs(sums, pairs, taps) add_pairs(sums, pairs, taps)

/* The intrinsic makes GCC 12 copy the sums back and forth in loops. */
static inline vi add_pairs(vi sums, vi pairs, vi taps)
{
    __asm__("vpdpwssd %2, %1, %0" : "+v"(sums) : "v"(pairs), "v"(taps));
    return sums;
}
#include "lcc/cpu/simd/levels.h"
#include "lcc/cpu/simd/quads.h"

void tm_pack_avx512vnni(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride)
{
    pack_quads(packed, samples, stride);
}

void tm_expand_avx512vnni(uint32_t *planes, const uint8_t *staged, ptrdiff_t stride, int rows,
                          const tm_packed_taps *packed)
{
    expand_quads(planes, staged, stride, rows, packed);
}

void tm_correlate_avx512vnni(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed,
                             const uint8_t *staged, const uint32_t *planes, ptrdiff_t stride,
                             int rows, int blocks)
{
    correlate_quads(sft, sft_stride, packed, staged, planes, stride, rows, blocks);
}

void tm_cpu_kernels_init_avx512vnni(tm_cpu_kernels *kernels)
{
    kernels->pack = tm_pack_avx512vnni;
    kernels->expand = tm_expand_avx512vnni;
    kernels->expand_wide = NULL;
    kernels->correlate_folded = NULL;
    kernels->correlate = tm_correlate_avx512vnni;
    kernels->pass_windows = pass_windows;
    kernels->window_product = window_product_quads;
}
