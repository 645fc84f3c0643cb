/* SPDX-License-Identifier: MIT */
#include "lcc/f32.h"

#include <stdlib.h>
#include <string.h>

static bool counts(const tm_template *t, int64_t i)
{
    return !t->mask || t->mask[i];
}

static double mean_of(const tm_template *t, const double *plane)
{
    tm_partial_sum sum = {0};
    for (int64_t i = 0; i < t->n; i++)
        if (counts(t, i))
            tm_partial_sum_add(&sum, plane[i]);
    return tm_partial_sum_total(&sum) / (double)t->count;
}

/* T - mean, whose own mean is taken off once more: after that what is left is the
 * rounding of small numbers. Returns the first one. */
static double centre(const tm_template *t, double *taps, const double *plane)
{
    const double mean = mean_of(t, plane);
    for (int64_t i = 0; i < t->n; i++)
        taps[i] = counts(t, i) ? plane[i] - mean : 0;
    const double rest = mean_of(t, taps);
    for (int64_t i = 0; i < t->n; i++)
        taps[i] = counts(t, i) ? taps[i] - rest : 0;
    return mean;
}

static bool is_constant(const tm_template *t, const double *plane)
{
    int64_t first = -1;
    for (int64_t i = 0; i < t->n; i++) {
        if (!counts(t, i))
            continue;
        if (first < 0)
            first = i;
        if (plane[i] != plane[first])
            return false;
    }
    return true;
}

bool tm_f32_prepare(tm_template *t)
{
    const float *samples = (const float *)(const void *)t->samples;
    const size_t size = (size_t)(t->n * t->channels) * sizeof(double);
    tm_partial_sum variance = {0}, spread = {0}, sum_sq = {0};

    tm_f32_samples *f32 = t->f32 = calloc(1, sizeof *f32);
    if (!f32 || !(f32->taps = malloc(size)) || !(f32->samples = malloc(size)))
        return false;
    t->flat = true;
    for (int c = 0; c < t->channels; c++) {
        double *plane = f32->samples + c * t->n, *taps = f32->taps + c * t->n;
        tm_partial_sum sum = {0};
        for (int64_t i = 0; i < t->n; i++)
            plane[i] = counts(t, i) ? (double)samples[i * t->channels + c] : 0;
        t->flat = t->flat && is_constant(t, plane);
        f32->means[c] = centre(t, taps, plane);
        for (int64_t i = 0; i < t->n; i++) {
            tm_partial_sum_add(&sum, taps[i]);
            tm_partial_sum_add(&variance, taps[i] * taps[i]);
            const double rough = counts(t, i) ? plane[i] - f32->means[c] : 0;
            tm_partial_sum_add(&spread, rough * rough);
            tm_partial_sum_add(&sum_sq, plane[i] * plane[i]);
        }
        f32->sums[c] = tm_partial_sum_total(&sum);
    }
    f32->variance = tm_partial_sum_total(&variance);
    f32->spread = tm_partial_sum_total(&spread);
    f32->sum_sq = tm_partial_sum_total(&sum_sq);
    return true;
}

void tm_f32_free(tm_f32_samples **f32)
{
    if (!*f32)
        return;
    free((*f32)->taps);
    free((*f32)->samples);
    free(*f32);
    *f32 = NULL;
}

bool tm_f32_is_finite(const tm_image *image, int64_t first, int64_t end)
{
    uint32_t sums = 0;
    for (int64_t y = first; y < end; y++) {
        const float *row = tm_f32_row(image, y);
        for (int64_t i = 0; i < image->width * tm_image_channels(image); i++) {
            uint32_t bits;
            memcpy(&bits, &row[i], sizeof bits);
            sums |= (bits & 0x7fffffff) + 0x00800000; /* bit 31: the greatest exponent */
        }
    }
    return !(sums >> 31);
}

tm_f32_scorer tm_f32_scorer_make(const tm_template *t, tm_metric metric)
{
    tm_f32_scorer s = {.metric = metric,
                       .channels = t->channels,
                       .n = (double)t->count,
                       .variance = t->f32->variance,
                       .sum_sq = t->f32->sum_sq};
    for (int c = 0; c < t->channels; c++)
        s.means[c] = t->f32->sums[c] / s.n;
    return s;
}

tm_f32_rule tm_f32_rule_make(const tm_template *t, tm_metric metric)
{
    const double terms = (double)(t->n * t->channels);
    const double part = terms < TM_PARTIAL_TERMS ? terms : TM_PARTIAL_TERMS;

    tm_f32_rule rule = {.scorer = tm_f32_scorer_make(t, metric),
                            .spread = t->f32->spread,
                            .spread_error =
                                (part + terms / TM_PARTIAL_TERMS + 8) * 0x1p-53 * t->f32->spread,
                            .added = (double)(t->width + 8) * 0x1p-53};
    rule.norm = sqrt(tm_needs_s_f(metric)     ? t->f32->variance
                     : tm_is_distance(metric) ? t->f32->spread
                                              : t->f32->sum_sq);
    return rule;
}

/* Whether all pixels of a window inside the frame have the same bits. That is quick to see, and
 * most flat windows are so. */
static bool same_bits(const tm_job *job, int64_t left, int64_t top)
{
    const tm_template *t = job->tmpl;
    const tm_image *frame = &job->frame;
    const size_t pixel = (size_t)t->channels * sizeof(float), row = (size_t)t->width * pixel;

    if (left < 0 || top < 0 || left + t->width > frame->width || top + t->height > frame->height)
        return false;
    const uint8_t *first = frame->samples + top * frame->stride + left * (int64_t)pixel;
    bool same = memcmp(first, first + pixel, row - pixel) == 0;
    for (int64_t v = 1; same && v < t->height; v++)
        same = memcmp(first, first + v * frame->stride, row) == 0;
    return same;
}

/* The mean of the pixels that count, and whether all are equal. */
static double window_mean(const tm_job *job, int64_t left, int64_t top, int c, bool *flat)
{
    const tm_template *t = job->tmpl;
    tm_partial_sum sum = {0};
    float first = 0;
    bool started = false;

    *flat = true;
    for (int64_t v = 0, i = 0; v < t->height; v++) {
        for (int64_t u = 0; u < t->width; u++, i++) {
            if (!counts(t, i))
                continue;
            const float f = tm_f32_sample(&job->frame, left + u, top + v, c);
            if (!started)
                first = f;
            started = true;
            *flat = *flat && f == first;
            tm_partial_sum_add(&sum, (double)f);
        }
    }
    return *flat ? (double)first : tm_partial_sum_total(&sum) / (double)t->count;
}

double tm_f32_window(const tm_job *job, int64_t x, int64_t y)
{
    const tm_template *t = job->tmpl;
    const int64_t left = x - job->geometry.pad_x, top = y - job->geometry.pad_y;
    const tm_f32_scorer scorer = tm_f32_scorer_make(t, job->metric);
    tm_partial_sum products = {0}, s_ff = {0};
    tm_f32_sums sums = {0};
    bool all_flat = true;
    double score;

    if (same_bits(job, left, top))
        return 0;
    for (int c = 0; c < t->channels; c++) {
        tm_partial_sum s_f = {0};
        bool flat;
        const double mean = window_mean(job, left, top, c, &flat);
        all_flat = all_flat && flat;
        for (int64_t v = 0, i = 0; !flat && v < t->height; v++) {
            for (int64_t u = 0; u < t->width; u++, i++) {
                if (!counts(t, i))
                    continue;
                const double f = (double)tm_f32_sample(&job->frame, left + u, top + v, c) - mean;
                tm_partial_sum_add(&products, f * t->f32->taps[c * t->n + i]);
                tm_partial_sum_add(&s_f, f);
                tm_partial_sum_add(&s_ff, f * f);
            }
        }
        tm_f32_centre(&scorer, &sums, c, tm_partial_sum_total(&s_f));
    }
    sums.products += tm_partial_sum_total(&products);
    sums.s_ff = tm_partial_sum_total(&s_ff);
    return !all_flat && tm_f32_score_of(&scorer, &sums, &score) ? score : 0;
}
