/* SPDX-License-Identifier: MIT */
/* Vectors of 4 lanes: SSE4.1. */
#ifndef TMATCH_LCC_CPU_SIMD_SSE41_H
#define TMATCH_LCC_CPU_SIMD_SSE41_H

#include <smmintrin.h>
#include <stdint.h>

#define LANES 4
typedef __m128i vi;
typedef __m128 vf;
typedef __m128d vd;

static inline vi v_load(const void *p) { return _mm_load_si128(p); }
static inline vi v_loadu(const void *p) { return _mm_loadu_si128(p); }
static inline void v_store(void *p, vi a) { _mm_store_si128(p, a); }
static inline void v_storeu(void *p, vi a) { _mm_storeu_si128(p, a); }
static inline vi v_zero(void) { return _mm_setzero_si128(); }
static inline vi v_set1(int32_t a) { return _mm_set1_epi32(a); }
static inline vi v_add(vi a, vi b) { return _mm_add_epi32(a, b); }
static inline vi v_sub(vi a, vi b) { return _mm_sub_epi32(a, b); }
static inline vi v_add16(vi a, vi b) { return _mm_add_epi16(a, b); }
static inline vi v_sub16(vi a, vi b) { return _mm_sub_epi16(a, b); }
static inline vi v_and(vi a, vi b) { return _mm_and_si128(a, b); }
static inline vi v_or(vi a, vi b) { return _mm_or_si128(a, b); }
static inline vi v_andnot(vi a, vi b) { return _mm_andnot_si128(a, b); }
#define v_srl16(a, n) _mm_srli_epi16(a, n)
#define v_sll16(a, n) _mm_slli_epi16(a, n)
#define v_srl(a, n) _mm_srli_epi32(a, n)
#define v_sll(a, n) _mm_slli_epi32(a, n)
#define v_sra(a, n) _mm_srai_epi32(a, n)
static inline vi v_srav(vi a, int n) { return _mm_sra_epi32(a, _mm_cvtsi32_si128(n)); }
static inline vi v_srlv(vi a, int n) { return _mm_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline vi v_madd(vi a, vi b) { return _mm_madd_epi16(a, b); }
static inline vi v_bytes(vi a, vi order) { return _mm_shuffle_epi8(a, order); }
static inline vi v_set1_128(__m128i a) { return a; }

/* Every other lane of both. */
static inline vi v_even(vi a, vi b)
{
    return _mm_castps_si128(_mm_shuffle_ps(_mm_castsi128_ps(a), _mm_castsi128_ps(b), 0x88));
}

/* LANES samples, or 2 * LANES of 8 bits, each in a wider lane. */
static inline vi v_u8_32(const void *p) { return _mm_cvtepu8_epi32(_mm_loadu_si32(p)); }
static inline vi v_u16_32(const void *p) { return _mm_cvtepu16_epi32(_mm_loadl_epi64(p)); }
static inline vi v_u8_16(const void *p) { return _mm_cvtepu8_epi16(_mm_loadl_epi64(p)); }
static inline vi v_s8_16(const void *p) { return _mm_cvtepi8_epi16(_mm_loadl_epi64(p)); }

static inline vi v_scan(vi a)
{
    a = v_add(a, _mm_slli_si128(a, 4));
    return v_add(a, _mm_slli_si128(a, 8));
}
static inline vi v_last(vi a) { return _mm_shuffle_epi32(a, 0xff); }

static inline vf vf_set1(float a) { return _mm_set1_ps(a); }
static inline vf vf_of_s32(vi a) { return _mm_cvtepi32_ps(a); }
/* Drops the lowest bit. */
static inline vf vf_of_u32(vi a)
{
    vf half = _mm_cvtepi32_ps(v_srl(a, 1));
    return _mm_add_ps(half, half);
}
static inline vf vf_add(vf a, vf b) { return _mm_add_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm_mul_ps(a, b); }
static inline vf vf_msub(vf a, vf b, vf c) { return _mm_sub_ps(_mm_mul_ps(a, b), c); }
static inline vf vf_nmadd(vf a, vf b, vf c) { return _mm_sub_ps(c, _mm_mul_ps(a, b)); }
static inline vf vf_div(vf a, vf b) { return _mm_div_ps(a, b); }
static inline vf vf_sqrt(vf a) { return _mm_sqrt_ps(a); }
/* A root, of what is greater than 0, to within 2^-11 of it. */
static inline vf vf_root(vf a) { return _mm_mul_ps(a, _mm_rsqrt_ps(a)); }
static inline vf vf_max(vf a, vf b) { return _mm_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm_min_ps(a, b); }
static inline vf vf_unless0(vf a, vf b)
{
    return _mm_and_ps(a, _mm_cmpneq_ps(b, _mm_setzero_ps()));
}
static inline unsigned vf_not_le(vf a, vf b) { return (unsigned)_mm_movemask_ps(_mm_cmpnle_ps(a, b)); }
static inline unsigned vf_ge(vf a, vf b) { return (unsigned)_mm_movemask_ps(_mm_cmpge_ps(a, b)); }
static inline unsigned vf_ge_lanes(vf a, vf b) { return vf_ge(a, b); } /* a bit for each */
static inline unsigned vf_gt(vf a, vf b) { return (unsigned)_mm_movemask_ps(_mm_cmpgt_ps(a, b)); }
static inline vf vf_loadu(const float *p) { return _mm_loadu_ps(p); }
static inline void vf_storeu(float *p, vf a) { _mm_storeu_ps(p, a); }

static inline vd vd_set1(double a) { return _mm_set1_pd(a); }
static inline vd vd_s32_lo(vi a) { return _mm_cvtepi32_pd(a); }
static inline vd vd_s32_hi(vi a) { return _mm_cvtepi32_pd(_mm_srli_si128(a, 8)); }
/* 2^52 + a has a in its low bits. */
static inline vd vd_u32_lo(vi a)
{
    vi magic = _mm_set1_epi64x(0x4330000000000000);
    return _mm_sub_pd(_mm_castsi128_pd(v_or(_mm_cvtepu32_epi64(a), magic)), _mm_castsi128_pd(magic));
}
static inline vd vd_u32_hi(vi a) { return vd_u32_lo(_mm_srli_si128(a, 8)); }
static inline vd vd_mul(vd a, vd b) { return _mm_mul_pd(a, b); }
/* Exact wherever it is used, so one rounding or two is the same. */
static inline vd vd_msub(vd a, vd b, vd c) { return _mm_sub_pd(_mm_mul_pd(a, b), c); }
static inline vf vf_of_halves(vd lo, vd hi)
{
    return _mm_movelh_ps(_mm_cvtpd_ps(lo), _mm_cvtpd_ps(hi));
}

static inline void vf_interleave(float *p, vf a, vf b, vf c, vf d)
{
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(p, a);
    _mm_storeu_ps(p + 4, b);
    _mm_storeu_ps(p + 8, c);
    _mm_storeu_ps(p + 12, d);
}

#endif
