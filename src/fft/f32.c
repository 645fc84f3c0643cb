/* SPDX-License-Identifier: MIT */
#include "fft/f32.h"

#include "integers.h"

/* Whether there are samples of either sign. */
typedef struct signs {
    bool negative, positive;
} signs;

static void look_at(signs *s, const float *samples, int64_t count)
{
    bool negative = false, positive = false;
    for (int64_t i = 0; i < count; i++) {
        negative |= samples[i] < 0;
        positive |= samples[i] > 0;
    }
    s->negative |= negative;
    s->positive |= positive;
}

/* Whether products of the frame and the template may have both signs, so that their sum cancels. */
static bool signs_differ(const tm_job *job)
{
    const tm_image *frame = &job->frame;
    const tm_template *t = job->tmpl;
    signs of_frame = {false, false}, of_template = {false, false};

    look_at(&of_template, (const float *)(const void *)t->samples, t->n * t->channels);
    for (int64_t y = 0; y < frame->height; y++)
        look_at(&of_frame, tm_f32_row(frame, y), frame->width * t->channels);
    return (of_frame.negative && of_frame.positive) ||
           (of_template.negative && of_template.positive);
}

/* Adds a sum of all channels' correlations; taps are those of channel 0. */
static void add_terms(tm_fft_f32 *r, int sum, tm_fft_source source, int channels, int taps,
                      double norm)
{
    r->taps_norm[sum] = norm;
    r->sum[r->sums++] = sum;
    for (int c = 0; c < channels; c++) {
        r->taken |= 1u << (taps + c);
        r->term[r->terms++] = (tm_fft_f32_term){r->planes, sum, taps + c};
        r->plane[r->planes++] = (tm_fft_plane){source, c};
    }
}

/* Adds the sum of a plane's values over the pixels that count. With a mask that is a correlation;
 * samples are transformed already. */
static void add_plane(tm_fft_f32 *r, int sum, tm_fft_source source, int channel)
{
    const tm_template *t = r->job->tmpl;

    if (!t->mask) {
        r->slide[r->slides].plane = (tm_fft_plane){source, channel};
        r->slide[r->slides++].sum = sum;
    } else if (source == TM_FFT_SAMPLES) {
        r->taps_norm[sum] = sqrt((double)t->count);
        r->sum[r->sums++] = sum;
        r->taken |= 1u << TM_F32_MASK;
        r->term[r->terms++] = (tm_fft_f32_term){channel, sum, TM_F32_MASK};
    } else {
        add_terms(r, sum, source, 1, TM_F32_MASK, sqrt((double)t->count));
    }
}

void tm_fft_f32_make(tm_fft_f32 *r, const tm_job *job)
{
    const tm_template *t = job->tmpl;
    const tm_metric metric = job->metric;
    const bool centred = tm_needs_s_f(metric), distance = tm_is_distance(metric);
    const bool sums_products = !distance && !tm_f32_needs_s_ff(metric);

    *r = (tm_fft_f32){.job = job};
    r->rule = tm_f32_rule_make(t, metric);
    for (int c = 0; c < t->channels && distance; c++)
        r->pivots[c] = t->f32->means[c];
    add_terms(r, TM_F32_PRODUCTS, TM_FFT_SAMPLES, t->channels, TM_F32_TAPS, r->rule.norm);
    if (sums_products && signs_differ(job))
        add_terms(r, TM_F32_MAGNITUDES, TM_FFT_MAGNITUDES, t->channels, TM_F32_TAP_MAGNITUDES,
                  r->rule.norm);
    for (int c = 0; c < t->channels && centred; c++)
        add_plane(r, TM_F32_F + c, TM_FFT_SAMPLES, c);
    if (!sums_products)
        add_plane(r, TM_F32_SQUARES, TM_FFT_SQUARES, 0);
    if (tm_fft_f32_needs_raw_squares(metric))
        add_plane(r, TM_F32_RAW_SQUARES, TM_FFT_RAW_SQUARES, 0);
    if (job->frame.mask)
        add_plane(r, TM_F32_TOUCHED, TM_FFT_LEFT_OUT, 0);
}

double tm_fft_f32_tap(const tm_template *t, tm_metric metric, int taps, int64_t i)
{
    const bool counts = !t->mask || t->mask[i];
    const int c = taps % TM_MAX_CHANNELS;

    if (taps == TM_F32_MASK || !counts)
        return counts;
    if (taps >= TM_F32_TAP_MAGNITUDES)
        return fabs(t->f32->samples[c * t->n + i]);
    if (tm_needs_s_f(metric))
        return t->f32->taps[c * t->n + i];
    return t->f32->samples[c * t->n + i] - (tm_is_distance(metric) ? t->f32->means[c] : 0);
}
