/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/simd/neon.h"

/* sdot takes signed bytes on both sides. With F - 128 for F, the sums lack
 * 128 * (sum of taps), with which they start. */
static inline vi load_signed(const void *p)
{
    return vreinterpretq_s32_u8(veorq_u8(vld1q_u8(p), vdupq_n_u8(0x80)));
}

#define TILE_ROWS 6
#define v_samples(p) load_signed(p)
#define v_dot(sums, samples, taps) \
    vdotq_s32(sums, vreinterpretq_s8_s32(samples), vreinterpretq_s8_s32(taps))
#define START(packed) ((packed)->start)
#define SAMPLES_BIAS 0x80808080
#include "lcc/cpu/simd/family.h"
#include "lcc/cpu/simd/levels.h"
#include "lcc/cpu/simd/quads.h"
#include "lcc/cpu/simd/rows.h"

void tm_cpu_kernels_init_dotprod(tm_cpu_kernels *kernels)
{
    kernels->pack = pack_quads;
    kernels->expand = expand_quads;
    kernels->correlate = correlate_quads;
    assign_rows(kernels);
    assign_levels(kernels);
    assign_family(kernels);
    kernels->window_product = window_product_quads;
}
