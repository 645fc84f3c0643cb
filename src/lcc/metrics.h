/* SPDX-License-Identifier: MIT */
/* All metrics, for every kind of picture, for C and CUDA: a table, and the formulas that it
 * names. score.h has LCC of 8-bit gray alone, which this gives bit for bit.
 *
 * A window F and a template T of C channels, over the n pixels that count:
 *
 *     S_FT = sum of F*T, S_FF = sum of F^2, S_TT = sum of T^2 over all channels
 *     S_F[c], S_T[c] = sums of channel c
 *     num   = n*S_FT - sum over c of S_F[c]*S_T[c]
 *     var_F = n*S_FF - sum over c of S_F[c]^2,    var_T likewise
 *     diff  = S_FF - 2*S_FT + S_TT
 *
 * These are exact integers, and so is each score below up to its conversions,
 * product, root and quotient, which are single binary32 operations rounded to
 * nearest even, with exponents that never overflow or underflow. A score is
 *
 *     S_FT    TM_CORRELATION          as it is, an integer     TM_BY_ONE
 *     num     TM_COVARIANCE     over  n                        TM_BY_PIXELS
 *     diff    TM_DIFFERENCE           sqrt(S_FF' * S_TT')      TM_BY_NORMS
 *                                     sqrt(var_F' * var_T')    TM_BY_DEVIATIONS
 *
 * where ' counts 0 as 1: a flat window has num = 0, a black one S_FT = 0. S_FT and num over
 * a root are clamped to [-1, 1]. What a metric needs and whether the least is best follow
 * from this. num, which 64 bits may not hold, is not taken as it is; and deviations are for
 * num alone. */
#ifndef TMATCH_LCC_METRICS_H
#define TMATCH_LCC_METRICS_H

#include <float.h>

#include "lcc/score.h"
#include "tmatch/tmatch.h"

__extension__ typedef __int128 tm_int128;
__extension__ typedef unsigned __int128 tm_uint128;

/* A factor of every operand keeps the product of 2^81 * 2^81 below 2^128. Powers
 * of two are exact, so no bit of the quotient depends on it. */
#define TM_SCORE_SCALE 0x1p-40f

/* The order is tm_metric's. */
#define TM_EACH_METRIC(X)                                            \
    X(LCC, "lcc", TM_COVARIANCE, TM_BY_DEVIATIONS)                   \
    X(CCORR, "ccorr", TM_CORRELATION, TM_BY_ONE)                     \
    X(CCORR_NORMED, "ccorr_normed", TM_CORRELATION, TM_BY_NORMS)     \
    X(CCOEFF, "ccoeff", TM_COVARIANCE, TM_BY_PIXELS)                 \
    X(SQDIFF, "sqdiff", TM_DIFFERENCE, TM_BY_ONE)                    \
    X(SQDIFF_NORMED, "sqdiff_normed", TM_DIFFERENCE, TM_BY_NORMS)

#define TM_ONE_MORE(NAME, name, dividend, divisor) +1
enum { TM_METRICS = 0 TM_EACH_METRIC(TM_ONE_MORE) };
#undef TM_ONE_MORE

typedef enum tm_dividend { TM_CORRELATION, TM_COVARIANCE, TM_DIFFERENCE } tm_dividend;

typedef enum tm_divisor { TM_BY_ONE, TM_BY_PIXELS, TM_BY_NORMS, TM_BY_DEVIATIONS } tm_divisor;

/* The table as one number, so that a look into it is a shift on every device, and nothing where the
 * metric is known when it is compiled. A metric takes 4 of its 64 bits: there may be at most 16. */
#define TM_FORMULA(NAME, name, dividend, divisor)                                                  \
    | (uint64_t)((unsigned)(dividend) | (unsigned)(divisor) << 2) << 4 * TM_METRIC_##NAME
#define TM_FORMULAS (UINT64_C(0) TM_EACH_METRIC(TM_FORMULA))

TM_HOST_DEVICE tm_dividend tm_dividend_of(tm_metric metric)
{
    return (tm_dividend)(TM_FORMULAS >> 4 * (unsigned)metric & 3);
}

TM_HOST_DEVICE tm_divisor tm_divisor_of(tm_metric metric)
{
    return (tm_divisor)(TM_FORMULAS >> (4 * (unsigned)metric + 2) & 3);
}

/* Whether integer pictures have integers for scores. Float pictures never have: see tm_job_is_integer. */
TM_HOST_DEVICE bool tm_is_integer(tm_metric metric)
{
    return tm_divisor_of(metric) == TM_BY_ONE;
}

/* Whether the least score is the best. */
TM_HOST_DEVICE bool tm_is_distance(tm_metric metric)
{
    return tm_dividend_of(metric) == TM_DIFFERENCE;
}

/* Whether scores lie in [-1, 1]. */
TM_HOST_DEVICE bool tm_is_normed(tm_metric metric)
{
    return tm_divisor_of(metric) >= TM_BY_NORMS && !tm_is_distance(metric);
}

/* Whether a metric is made of S_F, and of S_FF, besides S_FT. */
TM_HOST_DEVICE bool tm_needs_s_f(tm_metric metric)
{
    return tm_dividend_of(metric) == TM_COVARIANCE;
}

TM_HOST_DEVICE bool tm_needs_s_ff(tm_metric metric)
{
    return tm_is_distance(metric) || tm_divisor_of(metric) >= TM_BY_NORMS;
}

typedef struct tm_sums {
    int64_t s_ft, s_ff;
    int64_t s_f[TM_MAX_CHANNELS];
} tm_sums;

/* A metric and what it needs of the template. */
typedef struct tm_scorer {
    tm_metric metric;
    int channels;
    bool int128; /* num and var_F may leave 64 bits and are made in 128 */
    int64_t n;
    int64_t s_t[TM_MAX_CHANNELS];
    int64_t s_tt;
    float norm;    /* the template's operand of the product, scaled; ccoeff: n */
} tm_scorer;

/* A score as the map and the ranking take it. */
typedef struct tm_value {
    int64_t integer; /* or */
    float score;
    int64_t rank;    /* greater is better */
} tm_value;

TM_HOST_DEVICE float tm_float_of(int64_t value)
{
#ifdef __CUDA_ARCH__
    return __ll2float_rn(value);
#else
    return (float)value;
#endif
}

/* Rounds to nearest even: what is cut off below 62 bits leaves a bit that says whether it was 0,
 * far below the 24 bits that are kept. */
TM_HOST_DEVICE float tm_float_of_int128(tm_int128 value)
{
    tm_uint128 magnitude = value < 0 ? -(tm_uint128)value : (tm_uint128)value;
    float scale = 1.0f;
    while (magnitude >> 62) {
        magnitude = magnitude >> 16 | ((magnitude & 0xffff) != 0);
        scale *= 65536.0f;
    }
    float rounded = tm_float_of((int64_t)magnitude) * scale;
    return value < 0 ? -rounded : rounded;
}

/* n*product - the sum over the channels of a[c]*b[c]. Inlined, so that where speed matters channels
 * and int128 are known when it is compiled. There may be more channels than the picture has: their
 * sums are 0. */
TM_HOST_DEVICE float tm_centred(int64_t n, int64_t product, const int64_t *a, const int64_t *b,
                                int channels, bool int128)
{
    if (int128) {
        tm_int128 value = (tm_int128)n * product;
        for (int c = 0; c < channels; c++)
            value -= (tm_int128)a[c] * b[c];
        return tm_float_of_int128(value);
    }
    int64_t value = n * product;
    for (int c = 0; c < channels; c++)
        value -= a[c] * b[c];
    return tm_float_of(value);
}

/* A sum of squares or a variance, with 0 for 1. */
TM_HOST_DEVICE float tm_or_one(float value)
{
    return value < 1.0f ? 1.0f : value;
}

/* num / sqrt(a * norm) */
TM_HOST_DEVICE float tm_normed(const tm_scorer *s, float num, float a)
{
    return tm_lcc_quotient(num * TM_SCORE_SCALE, tm_or_one(a) * TM_SCORE_SCALE, s->norm);
}

/* The score by a metric whose scores are integers: S_FT or diff. */
TM_HOST_DEVICE int64_t tm_integer_score(const tm_scorer *s, const tm_sums *w)
{
    return tm_is_distance(s->metric) ? w->s_ff - 2 * w->s_ft + s->s_tt : w->s_ft;
}

/* The score by a metric that divides. */
TM_HOST_DEVICE float tm_metric_score(const tm_scorer *s, const tm_sums *w, int channels,
                                     bool int128)
{
    const tm_divisor divisor = tm_divisor_of(s->metric);
    const float dividend = tm_needs_s_f(s->metric)
                               ? tm_centred(s->n, w->s_ft, w->s_f, s->s_t, channels, int128)
                               : tm_float_of(tm_integer_score(s, w));
    if (divisor == TM_BY_PIXELS) {
#ifdef __CUDA_ARCH__
        return __fdiv_rn(dividend, s->norm);
#else
        return dividend / s->norm;
#endif
    }
    const float score = tm_normed(
        s, dividend,
        divisor == TM_BY_NORMS ? tm_float_of(w->s_ff)
                               : tm_centred(s->n, w->s_ff, w->s_f, w->s_f, channels, int128));
    return tm_is_distance(s->metric) ? score : tm_lcc_clamp(score, false);
}

TM_HOST_DEVICE tm_value tm_score_as(const tm_scorer *s, const tm_sums *w, int channels, bool int128)
{
    tm_value value = {0, 0, 0};
    if (tm_is_integer(s->metric)) {
        value.integer = tm_integer_score(s, w);
        value.rank = value.integer;
    } else {
        value.score = tm_metric_score(s, w, channels, int128);
        value.rank = tm_score_order(value.score);
    }
    if (tm_is_distance(s->metric))
        value.rank = -value.rank;
    return value;
}

TM_HOST_DEVICE tm_value tm_score_of(const tm_scorer *s, const tm_sums *w)
{
    return tm_score_as(s, w, s->channels, s->int128);
}

/* What the map holds where a position was skipped. */
TM_HOST_DEVICE tm_value tm_skipped_value(tm_metric metric)
{
    bool distance = tm_is_distance(metric);
    tm_value value = {distance ? INT64_MAX : INT64_MIN, distance ? FLT_MAX : -FLT_MAX, INT64_MIN};
    return value;
}

#endif
