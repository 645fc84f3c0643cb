/* SPDX-License-Identifier: MIT */
/* The formulas of all metrics, for every kind of picture: C and CUDA include the
 * same copy. score.h has LCC of 8-bit gray alone, which this gives bit for bit.
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
 * nearest even, with exponents that never overflow or underflow:
 *
 *     lcc            num / sqrt(var_F' * var_T')      within [-1, 1]
 *     ccorr_normed   S_FT / sqrt(S_FF' * S_TT')       at most 1
 *     sqdiff_normed  diff / sqrt(S_FF' * S_TT')
 *     ccoeff         num / n
 *     ccorr          S_FT                             an integer
 *     sqdiff         diff                             an integer
 *
 * where ' counts 0 as 1: a flat window has num = 0, a black one S_FT = 0. */
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

/* What a job of float pictures has for CCORR and SQDIFF, whose values are no integers then. */
#define TM_METRIC_CCORR_F32 ((tm_metric)6)
#define TM_METRIC_SQDIFF_F32 ((tm_metric)7)

typedef struct tm_sums {
    int64_t s_ft, s_ff;
    int64_t s_f[TM_MAX_CHANNELS];
} tm_sums;

/* A metric with a template's part of it. */
typedef struct tm_scorer {
    tm_metric metric;
    int channels;
    bool wide;     /* num and var_F may leave 64 bits */
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

TM_HOST_DEVICE bool tm_is_integer(tm_metric metric)
{
    return metric == TM_METRIC_CCORR || metric == TM_METRIC_SQDIFF;
}

TM_HOST_DEVICE bool tm_is_distance(tm_metric metric)
{
    return metric == TM_METRIC_SQDIFF || metric == TM_METRIC_SQDIFF_NORMED ||
           metric == TM_METRIC_SQDIFF_F32;
}

/* Which sums a metric is made of, besides S_FT. */
TM_HOST_DEVICE bool tm_needs_s_f(tm_metric metric)
{
    return metric == TM_METRIC_LCC || metric == TM_METRIC_CCOEFF;
}

TM_HOST_DEVICE bool tm_needs_s_ff(tm_metric metric)
{
    return metric != TM_METRIC_CCORR && metric != TM_METRIC_CCOEFF;
}

TM_HOST_DEVICE float tm_float_of(int64_t value)
{
#ifdef __CUDA_ARCH__
    return __ll2float_rn(value);
#else
    return (float)value;
#endif
}

/* To nearest even: what is cut off below 62 bits leaves a bit that says whether it
 * was 0, far below the 24 bits that are kept. */
TM_HOST_DEVICE float tm_float_of_wide(tm_int128 value)
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

/* n*product - the sum over the channels of a[c]*b[c]. Inlined, with channels and
 * wide known when compiled where speed matters: channels may be more than there
 * are, whose sums are 0. */
TM_HOST_DEVICE float tm_centred(int64_t n, int64_t product, const int64_t *a, const int64_t *b,
                                int channels, bool wide)
{
    if (wide) {
        tm_int128 value = (tm_int128)n * product;
        for (int c = 0; c < channels; c++)
            value -= (tm_int128)a[c] * b[c];
        return tm_float_of_wide(value);
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

TM_HOST_DEVICE float tm_metric_score(const tm_scorer *s, const tm_sums *w, int channels, bool wide)
{
    switch (s->metric) {
    case TM_METRIC_LCC:
        return tm_lcc_clamp(tm_normed(s, tm_centred(s->n, w->s_ft, w->s_f, s->s_t, channels, wide),
                                      tm_centred(s->n, w->s_ff, w->s_f, w->s_f, channels, wide)),
                            false);
    case TM_METRIC_CCORR_NORMED:
        return tm_lcc_clamp(tm_normed(s, tm_float_of(w->s_ft), tm_float_of(w->s_ff)), false);
    case TM_METRIC_SQDIFF_NORMED:
        return tm_normed(s, tm_float_of(w->s_ff - 2 * w->s_ft + s->s_tt), tm_float_of(w->s_ff));
    default: {
        const float num = tm_centred(s->n, w->s_ft, w->s_f, s->s_t, channels, wide);
#ifdef __CUDA_ARCH__
        return __fdiv_rn(num, s->norm);
#else
        return num / s->norm;
#endif
    }
    }
}

TM_HOST_DEVICE tm_value tm_score_as(const tm_scorer *s, const tm_sums *w, int channels, bool wide)
{
    tm_value value = {0, 0, 0};
    if (tm_is_integer(s->metric)) {
        value.integer =
            s->metric == TM_METRIC_CCORR ? w->s_ft : w->s_ff - 2 * w->s_ft + s->s_tt;
        value.rank = value.integer;
    } else {
        value.score = tm_metric_score(s, w, channels, wide);
        value.rank = tm_score_order(value.score);
    }
    if (tm_is_distance(s->metric))
        value.rank = -value.rank;
    return value;
}

TM_HOST_DEVICE tm_value tm_score_of(const tm_scorer *s, const tm_sums *w)
{
    return tm_score_as(s, w, s->channels, s->wide);
}

/* What the map holds where a position was skipped. */
TM_HOST_DEVICE tm_value tm_skipped_value(tm_metric metric)
{
    bool distance = tm_is_distance(metric);
    tm_value value = {distance ? INT64_MAX : INT64_MIN, distance ? FLT_MAX : -FLT_MAX, INT64_MIN};
    return value;
}

/* The score that a rank stands for, as a double. */
TM_HOST_DEVICE double tm_score_of_rank(tm_metric metric, int64_t rank)
{
    int64_t value = tm_is_distance(metric) ? -rank : rank;
    return tm_is_integer(metric) ? (double)value : (double)tm_score_of_order((int32_t)value);
}

#endif
