/* SPDX-License-Identifier: MIT */
/* From the sums of a float window to its score: C and CUDA include the same copy. */
#ifndef TMATCH_LCC_F32_SCORE_H
#define TMATCH_LCC_F32_SCORE_H

#include "lcc/metrics.h"

/* A window's mean may lie so many of its standard deviations from the pivot. */
#define TM_F32_PIVOT_DISTANCE 64.0

/* Sums are made of parts of about this many terms. */
enum { TM_PARTIAL_TERMS = 512 };

/* A sum in parts, whose error grows with the length and the number of parts and not with the number
 * of terms. */
typedef struct tm_partial_sum {
    double part, whole;
    int terms;
} tm_partial_sum;

TM_HOST_DEVICE void tm_partial_sum_add(tm_partial_sum *sum, double term)
{
    sum->part += term;
    if (++sum->terms == TM_PARTIAL_TERMS) {
        sum->whole += sum->part;
        sum->part = 0;
        sum->terms = 0;
    }
}

TM_HOST_DEVICE double tm_partial_sum_total(const tm_partial_sum *sum)
{
    return sum->whole + sum->part;
}

/* A metric and what it needs of the template. */
typedef struct tm_f32_scorer {
    tm_metric metric;
    int channels;
    double n;                      /* pixels that count */
    double means[TM_MAX_CHANNELS]; /* of the taps: what rounding has left */
    double variance, sum_sq;       /* as in tm_f32_samples */
} tm_f32_scorer;

/* Whether a metric needs S_FF: a difference is the sum of (F - T)^2, sample by sample. */
TM_HOST_DEVICE bool tm_f32_needs_s_ff(tm_metric metric)
{
    return tm_needs_s_f(metric) || tm_divisor_of(metric) == TM_BY_NORMS;
}

/* The sums of a window, with F' = F - pivot. What the metric does not need stays 0. */
typedef struct tm_f32_sums {
    double products; /* F'*T' of centred metrics, else F*T; of distances (F - T)^2 */
    double s_ff;     /* of F' */
    double offset;   /* what tm_f32_centre takes off s_ff */
} tm_f32_sums;

/* Takes off what a channel's sum of F' adds to the others. */
TM_HOST_DEVICE void tm_f32_centre(const tm_f32_scorer *s, tm_f32_sums *w, int channel, double s_f)
{
    w->offset += s_f * (s_f / s->n);
    w->products -= s_f * s->means[channel];
}

/* The normed distance where window, template or both are black: 0 if they are equal, else 2 or
 * more, which is no match. */
TM_HOST_DEVICE double tm_f32_black(double diff)
{
    return diff == 0 ? 0 : fmax(2.0, sqrt(diff));
}

/* Writes the score. False where the pivot lies too far from the window's mean for the sums to
 * tell. */
TM_HOST_DEVICE bool tm_f32_score_of(const tm_f32_scorer *s, const tm_f32_sums *w, double *score)
{
    *score = w->products;
    const tm_divisor divisor = tm_divisor_of(s->metric);
    if (tm_needs_s_f(s->metric)) { /* without branches, for loops over windows */
        const double variance = w->s_ff - w->offset;
        const bool pivot = w->s_ff == 0; /* every sample is it */
        const double norm =
            divisor == TM_BY_DEVIATIONS ? sqrt(variance) * sqrt(s->variance) : 1;
        *score = pivot ? 0 : w->products / norm;
        return pivot | ((variance > 0) &
                        (w->offset <= TM_F32_PIVOT_DISTANCE * TM_F32_PIVOT_DISTANCE * variance));
    }
    if (divisor == TM_BY_PIXELS)
        *score = w->products / s->n;
    if (divisor == TM_BY_NORMS) {
        const double norm = sqrt(w->s_ff) * sqrt(s->sum_sq);
        *score = norm > 0                    ? w->products / norm
                 : tm_is_distance(s->metric) ? tm_f32_black(w->products)
                                             : 0;
    }
    return true;
}

TM_HOST_DEVICE double tm_f32_clamp(double value, double low, double high)
{
    return value < low ? low : value > high ? high : value;
}

/* The score as a binary32. Where that would be infinite it is the greatest float but one. */
TM_HOST_DEVICE tm_value tm_f32_value(tm_metric metric, double score)
{
    const double greatest = 0x1.fffffcp127;
    tm_value value = {0, 0, 0};

    if (tm_is_normed(metric))
        score = tm_f32_clamp(score, -1, 1);
    value.score = (float)tm_f32_clamp(score, -greatest, greatest);
    if (value.score == 0)
        value.score = 0; /* not -0 */
    value.rank = tm_score_order(value.score);
    if (tm_is_distance(metric))
        value.rank = -value.rank;
    return value;
}

#endif
