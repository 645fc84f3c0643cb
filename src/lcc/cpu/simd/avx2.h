/* SPDX-License-Identifier: MIT */
/* Vectors of 8 lanes: AVX2 and FMA. */
#ifndef TMATCH_LCC_CPU_SIMD_AVX2_H
#define TMATCH_LCC_CPU_SIMD_AVX2_H

#include <immintrin.h>
#include <stdint.h>

#define LANES 8
typedef __m256i vi;
typedef __m256 vf;
typedef __m256d vd;

static inline vi v_load(const void *p) { return _mm256_load_si256(p); }
static inline vi v_loadu(const void *p) { return _mm256_loadu_si256(p); }
static inline void v_store(void *p, vi a) { _mm256_store_si256(p, a); }
static inline void v_storeu(void *p, vi a) { _mm256_storeu_si256(p, a); }
static inline vi v_zero(void) { return _mm256_setzero_si256(); }
static inline vi v_set1(int32_t a) { return _mm256_set1_epi32(a); }
static inline vi v_add(vi a, vi b) { return _mm256_add_epi32(a, b); }
static inline vi v_sub(vi a, vi b) { return _mm256_sub_epi32(a, b); }
static inline vi v_add16(vi a, vi b) { return _mm256_add_epi16(a, b); }
static inline vi v_sub16(vi a, vi b) { return _mm256_sub_epi16(a, b); }
static inline vi v_and(vi a, vi b) { return _mm256_and_si256(a, b); }
static inline vi v_or(vi a, vi b) { return _mm256_or_si256(a, b); }
static inline vi v_andnot(vi a, vi b) { return _mm256_andnot_si256(a, b); }
#define v_srl16(a, n) _mm256_srli_epi16(a, n)
#define v_sll16(a, n) _mm256_slli_epi16(a, n)
#define v_srl(a, n) _mm256_srli_epi32(a, n)
#define v_sll(a, n) _mm256_slli_epi32(a, n)
#define v_sra(a, n) _mm256_srai_epi32(a, n)
static inline vi v_srav(vi a, int n) { return _mm256_sra_epi32(a, _mm_cvtsi32_si128(n)); }
static inline vi v_srlv(vi a, int n) { return _mm256_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline vi v_madd(vi a, vi b) { return _mm256_madd_epi16(a, b); }
static inline vi v_bytes(vi a, vi order) { return _mm256_shuffle_epi8(a, order); }
static inline vi v_set1_128(__m128i a) { return _mm256_broadcastsi128_si256(a); }

/* Every other lane of both. */
static inline vi v_even(vi a, vi b)
{
    const __m256 even = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(even), 0xd8);
}

/* LANES samples, or 2 * LANES of 8 bits, each in a wider lane. */
static inline vi v_u8_32(const void *p) { return _mm256_cvtepu8_epi32(_mm_loadl_epi64(p)); }
static inline vi v_u16_32(const void *p) { return _mm256_cvtepu16_epi32(_mm_loadu_si128(p)); }
static inline vi v_u8_16(const void *p) { return _mm256_cvtepu8_epi16(_mm_loadu_si128(p)); }
static inline vi v_s8_16(const void *p) { return _mm256_cvtepi8_epi16(_mm_loadu_si128(p)); }

static inline vi v_scan(vi a)
{
    a = v_add(a, _mm256_slli_si256(a, 4));
    a = v_add(a, _mm256_slli_si256(a, 8));
    /* the low half's total, in the high half */
    return v_add(a, _mm256_shuffle_epi32(_mm256_permute2x128_si256(a, a, 0x08), 0xff));
}
static inline vi v_last(vi a) { return _mm256_permutevar8x32_epi32(a, v_set1(7)); }

static inline vf vf_set1(float a) { return _mm256_set1_ps(a); }
static inline vf vf_of_s32(vi a) { return _mm256_cvtepi32_ps(a); }
/* Drops the lowest bit. */
static inline vf vf_of_u32(vi a)
{
    vf half = _mm256_cvtepi32_ps(v_srl(a, 1));
    return _mm256_add_ps(half, half);
}
static inline vf vf_add(vf a, vf b) { return _mm256_add_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm256_mul_ps(a, b); }
static inline vf vf_msub(vf a, vf b, vf c) { return _mm256_fmsub_ps(a, b, c); }
static inline vf vf_nmadd(vf a, vf b, vf c) { return _mm256_fnmadd_ps(a, b, c); }
static inline vf vf_div(vf a, vf b) { return _mm256_div_ps(a, b); }
static inline vf vf_sqrt(vf a) { return _mm256_sqrt_ps(a); }
/* A root, of what is greater than 0, to within 2^-11 of it. */
static inline vf vf_root(vf a) { return _mm256_mul_ps(a, _mm256_rsqrt_ps(a)); }
static inline vf vf_max(vf a, vf b) { return _mm256_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm256_min_ps(a, b); }
static inline vf vf_unless0(vf a, vf b)
{
    return _mm256_and_ps(a, _mm256_cmp_ps(b, _mm256_setzero_ps(), _CMP_NEQ_UQ));
}
#define AVX2_MASK(a, b, how) (unsigned)_mm256_movemask_ps(_mm256_cmp_ps(a, b, how))
static inline unsigned vf_not_le(vf a, vf b) { return AVX2_MASK(a, b, _CMP_NLE_UQ); }
static inline unsigned vf_ge(vf a, vf b) { return AVX2_MASK(a, b, _CMP_GE_OQ); }
static inline unsigned vf_ge_lanes(vf a, vf b) { return vf_ge(a, b); } /* a bit for each */
static inline unsigned vf_gt(vf a, vf b) { return AVX2_MASK(a, b, _CMP_GT_OQ); }
static inline vf vf_loadu(const float *p) { return _mm256_loadu_ps(p); }
static inline void vf_storeu(float *p, vf a) { _mm256_storeu_ps(p, a); }

static inline vd vd_set1(double a) { return _mm256_set1_pd(a); }
static inline vd vd_s32_lo(vi a) { return _mm256_cvtepi32_pd(_mm256_castsi256_si128(a)); }
static inline vd vd_s32_hi(vi a) { return _mm256_cvtepi32_pd(_mm256_extracti128_si256(a, 1)); }
/* 2^52 + a has a in its low bits. */
static inline vd vd_u32(__m128i a)
{
    vi magic = _mm256_set1_epi64x(0x4330000000000000);
    return _mm256_sub_pd(_mm256_castsi256_pd(v_or(_mm256_cvtepu32_epi64(a), magic)),
                         _mm256_castsi256_pd(magic));
}
static inline vd vd_u32_lo(vi a) { return vd_u32(_mm256_castsi256_si128(a)); }
static inline vd vd_u32_hi(vi a) { return vd_u32(_mm256_extracti128_si256(a, 1)); }
static inline vd vd_mul(vd a, vd b) { return _mm256_mul_pd(a, b); }
static inline vd vd_msub(vd a, vd b, vd c) { return _mm256_fmsub_pd(a, b, c); }
static inline vf vf_of_halves(vd lo, vd hi)
{
    return _mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo));
}

static inline void vf_interleave(float *p, vf a, vf b, vf c, vf d)
{
    vf ab = _mm256_unpacklo_ps(a, b), AB = _mm256_unpackhi_ps(a, b);
    vf cd = _mm256_unpacklo_ps(c, d), CD = _mm256_unpackhi_ps(c, d);
    vf q0 = _mm256_shuffle_ps(ab, cd, 0x44), q1 = _mm256_shuffle_ps(ab, cd, 0xee);
    vf q2 = _mm256_shuffle_ps(AB, CD, 0x44), q3 = _mm256_shuffle_ps(AB, CD, 0xee);
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(q0, q1, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(q2, q3, 0x20));
    _mm256_storeu_ps(p + 16, _mm256_permute2f128_ps(q0, q1, 0x31));
    _mm256_storeu_ps(p + 24, _mm256_permute2f128_ps(q2, q3, 0x31));
}

#endif
