/* SPDX-License-Identifier: MIT */
/* Float pictures whose sums are estimates, as those by FFT are: whether a window's are near
 * enough to the true ones for the promised bound, for C and CUDA. Where they are not, the
 * window is done again directly. docs/exactness.md has the proof. */
#ifndef TMATCH_LCC_F32_RULE_H
#define TMATCH_LCC_F32_RULE_H

#include <math.h>

#include "lcc/f32_score.h"

/* Estimates of a window's sums. F' = F - pivot and T' = T - mean. Metrics that take means off
 * allow any pivot; distances take the template's mean, which is taken off T too; the others
 * take nothing off either. What the metric does not need is 0. */
typedef struct tm_f32_estimates {
    double products;                   /* of F'*T' */
    double magnitudes;                 /* of |F*T|, for ccorr where signs differ */
    double s_f[TM_MAX_CHANNELS], s_ff; /* of F', F'^2 */
    double squares;                    /* of F^2, for sqdiff_normed */
} tm_f32_estimates;

typedef struct tm_f32_rule {
    tm_f32_scorer scorer;
    double norm;         /* ||T'|| */
    double spread;       /* of distances: its square, */
    double spread_error; /* and what that is off by at most */
    double added;        /* what adding up makes a sum off by, relative to the magnitudes' sum */
    /* A tile's: */
    tm_f32_estimates error; /* what else estimates are off by at most; s_f[0] is every channel's */
    double least;          /* variance, or s_ff, of a window whose products are near enough */
} tm_f32_rule;

/* Sets what depends on the tile, from the errors of its estimates. */
TM_HOST_DEVICE void tm_f32_rule_at(tm_f32_rule *r, const tm_f32_estimates *error)
{
    const double allowed = tm_is_normed(r->scorer.metric) ? 0x1p-27 : 0x1p-31;
    double room = allowed * r->norm, needed = error->products;

    r->error = *error;
    if (tm_needs_s_f(r->scorer.metric)) {
        double means = 0;
        for (int c = 0; c < r->scorer.channels; c++)
            means += fabs(r->scorer.means[c]);
        /* s_ff <= 2^-27 / added * variance where the variance is near enough */
        room -= sqrt(0x1p-27 * r->added * r->scorer.n) * means;
        needed += error->s_f[0] * means;
    }
    needed /= room;
    r->least = room > 0 ? needed * needed * (1 + 0x1p-40) : HUGE_VAL;
}

/* The sum of (F - T)^2. */
TM_HOST_DEVICE double tm_f32_distance(const tm_f32_rule *r, const tm_f32_estimates *s)
{
    return s->s_ff + (r->spread - 2 * s->products);
}

TM_HOST_DEVICE bool tm_f32_near_centred(const tm_f32_rule *r, const tm_f32_estimates *s)
{
    const double e_f = r->error.s_f[0], nth = 1 / r->scorer.n;
    double offset = 0;
    double e_var = r->error.s_ff + ((1 + 4 * r->scorer.channels) * r->added + 0x1p-50) * s->s_ff;

    for (int c = 0; c < r->scorer.channels; c++) {
        offset += s->s_f[c] * s->s_f[c] * nth;
        e_var += 2 * e_f * (fabs(s->s_f[c]) + e_f) * nth;
    }
    const double variance = s->s_ff - offset;
    return (variance > 0) & (variance >= r->least) & (e_var <= 0x1p-27 * variance);
}

/* Whether the estimates are near enough to be scored. */
TM_HOST_DEVICE bool tm_f32_near(const tm_f32_rule *r, const tm_f32_estimates *s)
{
    const double e_ff = r->error.s_ff + r->added * s->s_ff;

    if (tm_needs_s_f(r->scorer.metric))
        return tm_f32_near_centred(r, s);
    if (tm_is_normed(r->scorer.metric))
        return (s->s_ff > 0) & (s->s_ff >= r->least) & (e_ff <= 0x1p-27 * s->s_ff);
    if (!tm_is_distance(r->scorer.metric)) {
        const double a = fabs(s->products) - r->error.products;
        const double b = s->magnitudes - r->error.magnitudes;
        return r->error.products <= 0x1.cp-37 * (a > b ? a : b);
    }
    const double distance = tm_f32_distance(r, s);
    const double e_distance =
        e_ff + 2 * r->error.products + r->spread_error + 0x1p-50 * (s->s_ff + r->spread);
    const bool near = (distance > 0) & (e_distance <= 0x1.cp-37 * distance);
    if (tm_divisor_of(r->scorer.metric) != TM_BY_NORMS)
        return near;
    return near & (s->squares > 0) &
           (r->error.squares + r->added * s->squares <= 0x1p-39 * s->squares);
}

/* The sums that scores are made of, from the estimates. */
TM_HOST_DEVICE tm_f32_sums tm_f32_scored(const tm_f32_rule *r, const tm_f32_estimates *s)
{
    const bool distance = tm_is_distance(r->scorer.metric);
    tm_f32_sums sums = {0, 0, 0};

    sums.products = distance ? tm_f32_distance(r, s) : s->products;
    sums.s_ff = distance ? s->squares : s->s_ff;
    for (int c = 0; c < r->scorer.channels && tm_needs_s_f(r->scorer.metric); c++)
        tm_f32_centre(&r->scorer, &sums, c, s->s_f[c]);
    return sums;
}

#endif
