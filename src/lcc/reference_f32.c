/* SPDX-License-Identifier: MIT */
/* The oracle of float pictures: the definition in long double, never optimised. */
#include "lcc/f32.h"

typedef struct sums {
    long double tf, ff, tt, diff; /* centred where the metric is */
    long double magnitude;        /* sum of |F*T| */
} sums;

/* The mean of a channel, of the frame's window or of the template. */
static long double mean_of(const tm_job *job, int64_t left, int64_t top, int c, bool of_frame,
                           bool *flat)
{
    const tm_template *t = job->tmpl;
    const float *samples = (const float *)(const void *)t->samples;
    long double sum = 0, first = 0;
    bool started = false;

    for (int64_t i = 0; i < t->n; i++) {
        if (t->mask && !t->mask[i])
            continue;
        const long double f =
            (long double)(of_frame ? tm_f32_sample(&job->frame, left + i % t->width,
                                                   top + i / t->width, c)
                                   : samples[i * t->channels + c]);
        if (!started)
            first = f;
        started = true;
        *flat = *flat && f == first;
        sum += f - first;
    }
    return first + sum / (long double)t->count;
}

static void add_channel(const tm_job *job, int64_t left, int64_t top, int c, sums *s, bool *flat)
{
    const tm_template *t = job->tmpl;
    const float *samples = (const float *)(const void *)t->samples;
    const bool centred = tm_needs_s_f(job->metric);
    bool ignored = true;
    const long double m = centred ? mean_of(job, left, top, c, true, flat) : 0;
    const long double mu = centred ? mean_of(job, left, top, c, false, &ignored) : 0;

    for (int64_t i = 0; i < t->n; i++) {
        if (t->mask && !t->mask[i])
            continue;
        const long double f =
            (long double)tm_f32_sample(&job->frame, left + i % t->width, top + i / t->width, c) - m;
        const long double g = (long double)samples[i * t->channels + c] - mu;
        s->tf += f * g;
        s->magnitude += fabsl(f * g);
        s->ff += f * f;
        s->tt += g * g;
        s->diff += (f - g) * (f - g);
    }
}

static bool touches_mask(const tm_job *job, int64_t left, int64_t top)
{
    const tm_template *t = job->tmpl;
    const tm_image *frame = &job->frame;
    for (int64_t i = 0; frame->mask && i < t->n; i++) {
        const int64_t x = left + i % t->width, y = top + i / t->width;
        if ((!t->mask || t->mask[i]) && x >= 0 && y >= 0 && x < frame->width && y < frame->height &&
            !frame->mask[y * frame->mask_stride + x])
            return true;
    }
    return false;
}

tm_truth tm_reference_truth(const tm_job *job, int64_t x, int64_t y)
{
    const int64_t left = x - job->geometry.pad_x, top = y - job->geometry.pad_y;
    sums s = {0};
    bool flat = true;
    long double score;

    if (touches_mask(job, left, top))
        return (tm_truth){.skipped = true};
    for (int c = 0; c < job->tmpl->channels; c++)
        add_channel(job, left, top, c, &s, &flat);
    const long double norm = sqrtl(s.ff) * sqrtl(s.tt);
    if (tm_is_distance(job->metric))
        score = s.diff;
    else
        score = tm_needs_s_f(job->metric) && flat ? 0 : s.tf;
    if (tm_is_normed(job->metric))
        score = norm > 0 ? score / norm : 0;
    else if (tm_divisor_of(job->metric) == TM_BY_NORMS)
        score = norm > 0 ? score / norm : score > 0 ? fmaxl(2, sqrtl(score)) : 0;
    else if (tm_divisor_of(job->metric) == TM_BY_PIXELS && !tm_needs_s_f(job->metric))
        score /= (long double)job->tmpl->count;
    const long double scale = tm_is_distance(job->metric) ? score
                              : tm_needs_s_f(job->metric) ? norm
                                                          : s.magnitude;
    return (tm_truth){.score = score, .scale = scale};
}

tm_value tm_reference_f32(const tm_job *job, int64_t x, int64_t y)
{
    const tm_truth truth = tm_reference_truth(job, x, y);
    return truth.skipped ? tm_skipped_value(job->metric)
                         : tm_f32_value(job->metric, (double)truth.score);
}

/* docs/exactness.md derives it. The last term is the rounding of what is below
 * binary32's normal numbers. */
double tm_f32_bound(tm_metric metric, const tm_truth *truth)
{
    const double score = (double)fabsl(truth->score), scale = (double)fabsl(truth->scale);
    double bound = 0x1p-24 * score + 0x1p-36 * scale;

    if (tm_is_normed(metric))
        bound = 0x1p-24;
    else if (tm_needs_s_f(metric))
        bound = 0x1p-24 * score + 0x1p-30 * scale;
    return bound + 0x1p-150;
}
