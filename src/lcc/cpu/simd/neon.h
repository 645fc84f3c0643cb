/* SPDX-License-Identifier: MIT */
/* Vectors of 4 lanes: arm64. */
#ifndef TMATCH_LCC_CPU_SIMD_NEON_H
#define TMATCH_LCC_CPU_SIMD_NEON_H

#include <arm_neon.h>
#include <stdint.h>

#define LANES 4
typedef int32x4_t vi;
typedef float32x4_t vf;
typedef float64x2_t vd;

#define NEON16(a) vreinterpretq_s16_s32(a)
#define NEON32(a) vreinterpretq_s32_s16(a)

static inline vi v_loadu(const void *p) { return vreinterpretq_s32_u8(vld1q_u8(p)); }
static inline vi v_load(const void *p) { return v_loadu(p); }
static inline void v_store(void *p, vi a) { vst1q_u8(p, vreinterpretq_u8_s32(a)); }
static inline void v_storeu(void *p, vi a) { v_store(p, a); }
static inline vi v_set1(int32_t a) { return vdupq_n_s32(a); }
static inline vi v_zero(void) { return v_set1(0); }
static inline vi v_add(vi a, vi b) { return vaddq_s32(a, b); }
static inline vi v_sub(vi a, vi b) { return vsubq_s32(a, b); }
static inline vi v_add16(vi a, vi b) { return NEON32(vaddq_s16(NEON16(a), NEON16(b))); }
static inline vi v_sub16(vi a, vi b) { return NEON32(vsubq_s16(NEON16(a), NEON16(b))); }
static inline vi v_and(vi a, vi b) { return vandq_s32(a, b); }
static inline vi v_or(vi a, vi b) { return vorrq_s32(a, b); }
static inline vi v_andnot(vi a, vi b) { return vbicq_s32(b, a); }
#define v_srl16(a, n) vreinterpretq_s32_u16(vshrq_n_u16(vreinterpretq_u16_s32(a), n))
#define v_sll16(a, n) NEON32(vshlq_n_s16(NEON16(a), n))
#define v_srl(a, n) vreinterpretq_s32_u32(vshrq_n_u32(vreinterpretq_u32_s32(a), n))
#define v_sll(a, n) vshlq_n_s32(a, n)
#define v_sra(a, n) vshrq_n_s32(a, n)
static inline vi v_srav(vi a, int n) { return vshlq_s32(a, vdupq_n_s32(-n)); }
static inline vi v_srlv(vi a, int n) { return vreinterpretq_s32_u32(vshlq_u32(vreinterpretq_u32_s32(a), vdupq_n_s32(-n))); }
static inline vi v_madd(vi a, vi b)
{
    return vpaddq_s32(vmull_s16(vget_low_s16(NEON16(a)), vget_low_s16(NEON16(b))),
                      vmull_high_s16(NEON16(a), NEON16(b)));
}

/* LANES samples, or 2 * LANES of 8 bits, each in a wider lane. */
static inline vi v_u16_32(const void *p)
{
    return vreinterpretq_s32_u32(vmovl_u16(vld1_u16(p)));
}
static inline vi v_u8_16(const void *p) { return vreinterpretq_s32_u16(vmovl_u8(vld1_u8(p))); }
static inline vi v_s8_16(const void *p) { return NEON32(vmovl_s8(vld1_s8(p))); }
static inline vi v_u8_32(const void *p)
{
    return vreinterpretq_s32_u32(vmovl_u16(vget_low_u16(vmovl_u8(vld1_u8(p)))));
}

static inline vi v_scan(vi a)
{
    a = v_add(a, vextq_s32(v_zero(), a, 3));
    return v_add(a, vextq_s32(v_zero(), a, 2));
}
static inline vi v_last(vi a) { return vdupq_laneq_s32(a, 3); }

static inline vf vf_set1(float a) { return vdupq_n_f32(a); }
static inline vf vf_of_s32(vi a) { return vcvtq_f32_s32(a); }
static inline vf vf_of_u32(vi a) { return vcvtq_f32_u32(vreinterpretq_u32_s32(a)); }
static inline vf vf_add(vf a, vf b) { return vaddq_f32(a, b); }
static inline vf vf_mul(vf a, vf b) { return vmulq_f32(a, b); }
static inline vf vf_msub(vf a, vf b, vf c) { return vsubq_f32(vmulq_f32(a, b), c); }
static inline vf vf_nmadd(vf a, vf b, vf c) { return vfmsq_f32(c, a, b); }
static inline vf vf_div(vf a, vf b) { return vdivq_f32(a, b); }
static inline vf vf_sqrt(vf a) { return vsqrtq_f32(a); }
static inline vf vf_root(vf a) { return vf_sqrt(a); }
static inline vf vf_max(vf a, vf b) { return vmaxq_f32(a, b); }
static inline vf vf_min(vf a, vf b) { return vminq_f32(a, b); }
static inline vf vf_unless0(vf a, vf b)
{
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(a), vceqzq_f32(b)));
}
/* Not 0 where a lane holds. */
static inline unsigned vf_not_le(vf a, vf b) { return vmaxvq_u32(vmvnq_u32(vcleq_f32(a, b))); }
static inline unsigned vf_ge(vf a, vf b) { return vmaxvq_u32(vcgeq_f32(a, b)); }
/* a bit for each */
static inline unsigned vf_ge_lanes(vf a, vf b)
{
    const uint32x4_t bits = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcgeq_f32(a, b), bits));
}
static inline unsigned vf_gt(vf a, vf b) { return vmaxvq_u32(vcgtq_f32(a, b)); }
static inline vf vf_loadu(const float *p) { return vld1q_f32(p); }
static inline void vf_storeu(float *p, vf a) { vst1q_f32(p, a); }

static inline vd vd_set1(double a) { return vdupq_n_f64(a); }
static inline vd vd_s32_lo(vi a) { return vcvtq_f64_s64(vmovl_s32(vget_low_s32(a))); }
static inline vd vd_s32_hi(vi a) { return vcvtq_f64_s64(vmovl_high_s32(a)); }
static inline vd vd_u32_lo(vi a)
{
    return vcvtq_f64_u64(vmovl_u32(vget_low_u32(vreinterpretq_u32_s32(a))));
}
static inline vd vd_u32_hi(vi a)
{
    return vcvtq_f64_u64(vmovl_high_u32(vreinterpretq_u32_s32(a)));
}
static inline vd vd_mul(vd a, vd b) { return vmulq_f64(a, b); }
static inline vd vd_msub(vd a, vd b, vd c) { return vsubq_f64(vmulq_f64(a, b), c); }
static inline vf vf_of_halves(vd lo, vd hi) { return vcvt_high_f32_f64(vcvt_f32_f64(lo), hi); }

static inline void vf_interleave(float *p, vf a, vf b, vf c, vf d)
{
    vst4q_f32(p, (float32x4x4_t){{a, b, c, d}});
}

#endif
