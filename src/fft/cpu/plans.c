/* SPDX-License-Identifier: MIT */
#include "fft/cpu/plans.h"

#include <stdlib.h>

/* Spectra are kept up to this size altogether, and a template's in any case. */
#define SPECTRA_BYTES ((size_t)128 << 20)

static void drop_plan(tm_fft_plan *plan)
{
    tm_fft_transform_free(plan->transform);
    *plan = (tm_fft_plan){0};
}

const tm_fft_plan *tm_fft_plan_fetch(tm_fft_plans *plans, int length, bool measure,
                                     uint32_t features, const tm_fft_plan *other)
{
    tm_fft_plan *plan = NULL;
    for (int i = 0; i < TM_FFT_PLANS; i++) {
        if (plans->plans[i].length != length)
            continue;
        plan = &plans->plans[i];
        if (plan->measured || !measure || !tm_fft_measures)
            return plan;
    }
    if (!plan) {
        if (&plans->plans[plans->next] == other)
            plans->next = (plans->next + 1) % TM_FFT_PLANS;
        plan = &plans->plans[plans->next];
        plans->next = (plans->next + 1) % TM_FFT_PLANS;
    }
    drop_plan(plan);
    tm_fft_transform *transform = tm_fft_transform_make(length, measure, features);
    if (!transform)
        return NULL;
    *plan = (tm_fft_plan){.length = length, .measured = measure, .transform = transform};
    return plan;
}

void tm_fft_plans_free(tm_fft_plans *plans)
{
    for (int i = 0; i < TM_FFT_PLANS; i++)
        drop_plan(&plans->plans[i]);
}

static void drop(tm_fft_spectrum_set *s)
{
    tm_template_destroy(&s->key);
    free(s->points);
    *s = (tm_fft_spectrum_set){0};
}

/* Returns a free place, after dropping the sets that were not used for longest until size fits. */
static tm_fft_spectrum_set *make_room(tm_fft_spectra *spectra, size_t size)
{
    for (;;) {
        tm_fft_spectrum_set *oldest = NULL, *unused = NULL;
        size_t total = size;
        for (int i = 0; i < TM_FFT_SPECTRA; i++) {
            tm_fft_spectrum_set *s = &spectra->sets[i];
            total += s->size;
            if (!s->points)
                unused = s;
            else if (!oldest || s->used < oldest->used)
                oldest = s;
        }
        if (unused && (total <= SPECTRA_BYTES || !oldest))
            return unused;
        drop(oldest);
    }
}

/* Copies what the taps are made of. */
static tm_template *copy_template(const tm_template *t)
{
    tm_template *copy = NULL;
    const tm_image image = {.samples = t->samples,
                            .width = t->width,
                            .height = t->height,
                            .stride = (ptrdiff_t)(t->width * t->channels * tm_sample_size(t->type)),
                            .type = t->type,
                            .channels = t->channels,
                            .mask = t->mask,
                            .mask_stride = (ptrdiff_t)t->width};
    return tm_template_prepare(&copy, &image) == TM_OK ? copy : NULL;
}

const tm_fft_point *tm_fft_spectra_fetch(tm_fft_spectra *spectra, const tm_fft_tile_column *tiles,
                                         const tm_fft_scratch *scratch)
{
    const tm_template *tmpl = tiles->job->tmpl;
    const tm_fft_tiling *t = tiles->tiling;
    const tm_metric metric = tiles->f32 ? tiles->job->metric : TM_METRIC_LCC;
    const unsigned taken = tiles->f32 ? tiles->f32->taken : 1;
    const size_t points = tm_fft_spectrum_points(t);
    const size_t size = (size_t)__builtin_popcount(taken) * points * sizeof(tm_fft_point);

    for (int i = 0; i < TM_FFT_SPECTRA; i++) {
        tm_fft_spectrum_set *s = &spectra->sets[i];
        if (s->points && s->length_x == t->length_x && s->length_y == t->length_y &&
            s->metric == metric && s->taps == taken && tm_template_equal(s->key, tmpl)) {
            s->used = ++spectra->clock;
            return s->points;
        }
    }
    tm_fft_spectrum_set *s = make_room(spectra, size);
    *s = (tm_fft_spectrum_set){copy_template(tmpl),
                               t->length_x,
                               t->length_y,
                               metric,
                               taken,
                               aligned_alloc(64, (size + 63) / 64 * 64),
                               size,
                               ++spectra->clock};
    if (!s->points || !s->key) {
        drop(s);
        return NULL;
    }
    tm_fft_point *to = s->points;
    for (int taps = 0; taken >> taps; taps++) {
        if (taken >> taps & 1) {
            tm_fft_spectrum(tmpl, metric, taps, t, tiles->plan_x, tiles->plan_y, scratch, to);
            to += points;
        }
    }
    return s->points;
}

void tm_fft_spectra_free(tm_fft_spectra *spectra)
{
    for (int i = 0; i < TM_FFT_SPECTRA; i++)
        drop(&spectra->sets[i]);
}
