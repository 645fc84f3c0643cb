/* SPDX-License-Identifier: MIT */
/* Float pictures. What they promise is accuracy, not equal bits: the bounds stand in
 * docs/exactness.md. Samples and their products are exact in binary64; what would
 * cancel is taken off before, sample by sample: T - mean, F - pivot, each difference
 * rounded once, relative to itself. Then
 *
 *     num   = sum of (F - pivot)*(T - mean)
 *     var_F = sum of (F - pivot)^2 - (sum of (F - pivot))^2 / n
 *
 * is accurate where the pivot lies within TM_F32_PIVOT_DISTANCE standard deviations of the
 * window's mean; elsewhere the window is done again with its own mean for a pivot. */
#ifndef TMATCH_LCC_F32_H
#define TMATCH_LCC_F32_H

#include "lcc/lcc.h"
#include "lcc/f32_rule.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a float template is prepared to: samples in planes, one channel after the other. */
typedef struct tm_f32_samples {
    double *taps;                  /* T - mean, 0 where pixels don't count */
    double *samples;               /* T, likewise */
    double sums[TM_MAX_CHANNELS];  /* of taps: the mean's rounding */
    double variance;               /* sum of (T - mean)^2 */
    double means[TM_MAX_CHANNELS]; /* as they were found first, rounded, */
    double spread;                 /* and the sum of (T - that)^2 */
    double sum_sq;
} tm_f32_samples;

/* Prepares a template whose samples, mask and count are set; sets flat. False if memory
 * ran out. */
bool tm_f32_prepare(tm_template *tmpl);
void tm_f32_free(tm_f32_samples **f32);

/* Whether rows [first, end) have finite samples only. */
bool tm_f32_is_finite(const tm_image *image, int64_t first, int64_t end);

/* Makes what scores need of the template. */
tm_f32_scorer tm_f32_scorer_make(const tm_template *tmpl, tm_metric metric);

/* Makes the rule but for the errors of a tile's estimates, which tm_f32_rule_at sets. */
tm_f32_rule tm_f32_rule_make(const tm_template *tmpl, tm_metric metric);

/* Scores a window by sums around its own mean. */
double tm_f32_window(const tm_job *job, int64_t x, int64_t y);

static inline const float *tm_f32_row(const tm_image *frame, int64_t y)
{
    return (const float *)(const void *)(frame->samples + y * frame->stride);
}

/* A sample of the frame, 0 outside it. */
static inline float tm_f32_sample(const tm_image *frame, int64_t x, int64_t y, int channel)
{
    if (x < 0 || y < 0 || x >= frame->width || y >= frame->height)
        return 0;
    return tm_f32_row(frame, y)[x * tm_image_channels(frame) + channel];
}

/* What the oracle knows of a position, in long double. */
typedef struct tm_truth {
    bool skipped;
    long double score;
    long double scale; /* that errors are relative to */
} tm_truth;

tm_truth tm_reference_truth(const tm_job *job, int64_t x, int64_t y);
tm_value tm_reference_f32(const tm_job *job, int64_t x, int64_t y);

/* How far a score may be from the oracle's. */
double tm_f32_bound(tm_metric metric, const tm_truth *truth);

#ifdef __cplusplus
}
#endif

#endif
