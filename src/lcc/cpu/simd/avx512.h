/* SPDX-License-Identifier: MIT */
/* Vectors of 16 lanes: AVX-512 F, BW, DQ and VL. */
#ifndef TMATCH_LCC_CPU_SIMD_AVX512_H
#define TMATCH_LCC_CPU_SIMD_AVX512_H

#include <immintrin.h>
#include <stdint.h>

#define LANES 16
typedef __m512i vi;
typedef __m512 vf;
typedef __m512d vd;

static inline vi v_load(const void *p) { return _mm512_load_si512(p); }
static inline vi v_loadu(const void *p) { return _mm512_loadu_si512(p); }
static inline void v_store(void *p, vi a) { _mm512_store_si512(p, a); }
static inline void v_storeu(void *p, vi a) { _mm512_storeu_si512(p, a); }
static inline vi v_zero(void) { return _mm512_setzero_si512(); }
static inline vi v_set1(int32_t a) { return _mm512_set1_epi32(a); }
static inline vi v_add(vi a, vi b) { return _mm512_add_epi32(a, b); }
static inline vi v_sub(vi a, vi b) { return _mm512_sub_epi32(a, b); }
static inline vi v_add16(vi a, vi b) { return _mm512_add_epi16(a, b); }
static inline vi v_sub16(vi a, vi b) { return _mm512_sub_epi16(a, b); }
static inline vi v_and(vi a, vi b) { return _mm512_and_si512(a, b); }
static inline vi v_or(vi a, vi b) { return _mm512_or_si512(a, b); }
static inline vi v_andnot(vi a, vi b) { return _mm512_andnot_si512(a, b); }
#define v_srl16(a, n) _mm512_srli_epi16(a, n)
#define v_sll16(a, n) _mm512_slli_epi16(a, n)
#define v_srl(a, n) _mm512_srli_epi32(a, n)
#define v_sll(a, n) _mm512_slli_epi32(a, n)
#define v_sra(a, n) _mm512_srai_epi32(a, n)
static inline vi v_srav(vi a, int n) { return _mm512_sra_epi32(a, _mm_cvtsi32_si128(n)); }
static inline vi v_srlv(vi a, int n) { return _mm512_srl_epi32(a, _mm_cvtsi32_si128(n)); }
static inline vi v_madd(vi a, vi b) { return _mm512_madd_epi16(a, b); }
static inline vi v_bytes(vi a, vi order) { return _mm512_shuffle_epi8(a, order); }
static inline vi v_set1_128(__m128i a) { return _mm512_broadcast_i32x4(a); }

/* Every other lane of both. */
static inline vi v_even(vi a, vi b)
{
    const vi even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
    return _mm512_permutex2var_epi32(a, even, b);
}

/* LANES samples, or 2 * LANES of 8 bits, each in a wider lane. */
static inline vi v_u8_32(const void *p) { return _mm512_cvtepu8_epi32(_mm_loadu_si128(p)); }
static inline vi v_u16_32(const void *p) { return _mm512_cvtepu16_epi32(_mm256_loadu_si256(p)); }
static inline vi v_u8_16(const void *p) { return _mm512_cvtepu8_epi16(_mm256_loadu_si256(p)); }
static inline vi v_s8_16(const void *p) { return _mm512_cvtepi8_epi16(_mm256_loadu_si256(p)); }

/* Sum of the lanes up to each, and the last lane everywhere. */
static inline vi v_scan(vi a)
{
    vi zero = v_zero();
    a = v_add(a, _mm512_alignr_epi32(a, zero, 15));
    a = v_add(a, _mm512_alignr_epi32(a, zero, 14));
    a = v_add(a, _mm512_alignr_epi32(a, zero, 12));
    return v_add(a, _mm512_alignr_epi32(a, zero, 8));
}
static inline vi v_last(vi a) { return _mm512_permutexvar_epi32(v_set1(15), a); }

static inline vf vf_set1(float a) { return _mm512_set1_ps(a); }
static inline vf vf_of_s32(vi a) { return _mm512_cvtepi32_ps(a); }
static inline vf vf_of_u32(vi a) { return _mm512_cvtepu32_ps(a); }
static inline vf vf_add(vf a, vf b) { return _mm512_add_ps(a, b); }
static inline vf vf_mul(vf a, vf b) { return _mm512_mul_ps(a, b); }
static inline vf vf_msub(vf a, vf b, vf c) { return _mm512_fmsub_ps(a, b, c); }
static inline vf vf_nmadd(vf a, vf b, vf c) { return _mm512_fnmadd_ps(a, b, c); }
static inline vf vf_div(vf a, vf b) { return _mm512_div_ps(a, b); }
static inline vf vf_sqrt(vf a) { return _mm512_sqrt_ps(a); }
/* A root, of what is greater than 0, to within 2^-11 of it. */
static inline vf vf_root(vf a) { return _mm512_mul_ps(a, _mm512_rsqrt14_ps(a)); }
static inline vf vf_max(vf a, vf b) { return _mm512_max_ps(a, b); }
static inline vf vf_min(vf a, vf b) { return _mm512_min_ps(a, b); }
/* a where b is not 0, else 0 */
static inline vf vf_unless0(vf a, vf b)
{
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(b, _mm512_setzero_ps(), _CMP_NEQ_UQ), a);
}
static inline unsigned vf_not_le(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLE_UQ); }
static inline unsigned vf_ge(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GE_OQ); }
static inline unsigned vf_ge_lanes(vf a, vf b) { return vf_ge(a, b); } /* a bit for each */
static inline unsigned vf_gt(vf a, vf b) { return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ); }
static inline vf vf_loadu(const float *p) { return _mm512_loadu_ps(p); }
static inline void vf_storeu(float *p, vf a) { _mm512_storeu_ps(p, a); }

/* Halves of a vector as doubles, and back; all inputs are exact in a double. */
static inline vd vd_set1(double a) { return _mm512_set1_pd(a); }
static inline vd vd_s32_lo(vi a) { return _mm512_cvtepi32_pd(_mm512_castsi512_si256(a)); }
static inline vd vd_s32_hi(vi a) { return _mm512_cvtepi32_pd(_mm512_extracti64x4_epi64(a, 1)); }
static inline vd vd_u32_lo(vi a) { return _mm512_cvtepu32_pd(_mm512_castsi512_si256(a)); }
static inline vd vd_u32_hi(vi a) { return _mm512_cvtepu32_pd(_mm512_extracti64x4_epi64(a, 1)); }
static inline vd vd_mul(vd a, vd b) { return _mm512_mul_pd(a, b); }
static inline vd vd_msub(vd a, vd b, vd c) { return _mm512_fmsub_pd(a, b, c); }
static inline vf vf_of_halves(vd lo, vd hi)
{
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(lo)), _mm512_cvtpd_ps(hi), 1);
}

/* Writes 4 phases in column order. */
static inline void vf_interleave(float *p, vf a, vf b, vf c, vf d)
{
    vf ab = _mm512_unpacklo_ps(a, b), AB = _mm512_unpackhi_ps(a, b);
    vf cd = _mm512_unpacklo_ps(c, d), CD = _mm512_unpackhi_ps(c, d);
    __m512d q0 = _mm512_unpacklo_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    __m512d q1 = _mm512_unpackhi_pd(_mm512_castps_pd(ab), _mm512_castps_pd(cd));
    __m512d q2 = _mm512_unpacklo_pd(_mm512_castps_pd(AB), _mm512_castps_pd(CD));
    __m512d q3 = _mm512_unpackhi_pd(_mm512_castps_pd(AB), _mm512_castps_pd(CD));
    /* q_k holds quads k, 4 + k, 8 + k, 12 + k */
    __m512d t0 = _mm512_shuffle_f64x2(q0, q1, 0x44), t1 = _mm512_shuffle_f64x2(q2, q3, 0x44);
    __m512d t2 = _mm512_shuffle_f64x2(q0, q1, 0xee), t3 = _mm512_shuffle_f64x2(q2, q3, 0xee);
    _mm512_storeu_pd(p, _mm512_shuffle_f64x2(t0, t1, 0x88));
    _mm512_storeu_pd(p + 16, _mm512_shuffle_f64x2(t0, t1, 0xdd));
    _mm512_storeu_pd(p + 32, _mm512_shuffle_f64x2(t2, t3, 0x88));
    _mm512_storeu_pd(p + 48, _mm512_shuffle_f64x2(t2, t3, 0xdd));
}

#endif
