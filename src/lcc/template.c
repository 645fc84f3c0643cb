/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "hash.h"
#include "integers.h"
#include "lcc/f32.h"
#include "lcc/rounded.h"

static size_t packed_size(const tm_template *t)
{
    return (size_t)(t->n * t->channels * tm_sample_size(t->type));
}

static bool allocate(tm_template **tmpl, const tm_image *image)
{
    tm_template *t = *tmpl = calloc(1, sizeof *t);
    if (!t)
        return false;
    t->width = image->width;
    t->height = image->height;
    t->n = image->width * image->height;
    t->type = image->type;
    t->channels = tm_image_channels(image);
    t->samples = malloc(packed_size(t));
    return t->samples != NULL;
}

/* Copies the mask and counts its pixels. Where there is none, or one without a 0, all count. False
 * if memory ran out. */
static bool copy_mask(tm_template *t, const tm_image *image)
{
    t->count = t->n;
    if (!image->mask)
        return true;
    t->mask = malloc((size_t)t->n);
    if (!t->mask)
        return false;
    t->count = 0;
    for (int64_t y = 0; y < t->height; y++) {
        for (int64_t x = 0; x < t->width; x++) {
            uint8_t counts = image->mask[y * image->mask_stride + x] != 0;
            t->mask[y * t->width + x] = counts;
            t->count += counts;
        }
    }
    if (t->count == t->n) {
        free(t->mask);
        t->mask = NULL;
    }
    return true;
}

static int64_t sample_of(const tm_template *t, int64_t i)
{
    return tm_sample_at(t->samples, i, t->type);
}

static void add_up(tm_template *t)
{
    int64_t first[TM_MAX_CHANNELS];
    bool started = false;

    t->flat = true;
    for (int64_t i = 0; i < t->n; i++) {
        if (t->mask && !t->mask[i])
            continue;
        for (int c = 0; c < t->channels; c++) {
            int64_t sample = sample_of(t, i * t->channels + c);
            if (!started)
                first[c] = sample;
            t->flat = t->flat && sample == first[c];
            t->channel_sums[c] += sample;
            t->sum_sq += sample * sample;
        }
        started = true;
    }
    t->sum = t->channel_sums[0];
    if (t->type == TM_SAMPLE_U8 && t->channels == 1)
        t->variance = t->count * t->sum_sq - t->sum * t->sum;
}

static tm_status prepare(tm_template **tmpl, const tm_image *image, bool with_levels);

/* Makes a template of one byte of a channel's samples, or with channel -1 of the mask. */
static tm_status make_plane(tm_template **plane, const tm_template *t, int channel, int byte)
{
    uint8_t *samples = malloc((size_t)t->n);
    if (!samples)
        return TM_ERR_MEMORY;
    for (int64_t i = 0; i < t->n; i++) {
        int64_t sample = channel < 0 ? 1 : sample_of(t, i * t->channels + channel);
        samples[i] = (uint8_t)(t->mask && !t->mask[i] ? 0 : sample >> 8 * byte);
    }
    tm_image image = {.samples = samples,
                      .width = t->width,
                      .height = t->height,
                      .stride = (ptrdiff_t)t->width};
    tm_status status = prepare(plane, &image, false);
    free(samples);
    return status;
}

static tm_status make_planes(tm_template *t)
{
    const int bytes = (int)tm_sample_size(t->type);
    const int count = t->channels * bytes + (t->mask != NULL);

    if (count == 1)
        return TM_OK;
    t->planes = calloc((size_t)count, sizeof(tm_template *));
    if (!t->planes)
        return TM_ERR_MEMORY;
    t->plane_count = count;
    for (int i = 0; i < count; i++) {
        bool is_mask = i == t->channels * bytes;
        tm_status status = make_plane(&t->planes[i], t, is_mask ? -1 : i / bytes, i % bytes);
        if (status != TM_OK)
            return status;
    }
    return TM_OK;
}

/* The guess is made with so many cells across and down, if the template has that many pixels. */
enum { GUESS_CELLS = 6, LEAST_CELL = 4 };

/* The template for a first guess: means of cells. */
static tm_status make_coarse(tm_template *t)
{
    tm_levels *l = &t->levels;
    const int64_t cell_x = ceil_div(t->width, GUESS_CELLS), cell_y = ceil_div(t->height, GUESS_CELLS);
    const int64_t across = t->width / cell_x, down = t->height / cell_y;

    if (!l->count || cell_x * cell_y < LEAST_CELL)
        return TM_OK;
    uint8_t cells[GUESS_CELLS * GUESS_CELLS];
    for (int64_t i = 0; i < across * down; i++) {
        const uint8_t *corner = t->samples + i / across * cell_y * t->width + i % across * cell_x;
        int64_t sum = 0;
        for (int64_t k = 0; k < cell_x * cell_y; k++)
            sum += corner[k / cell_x * t->width + k % cell_x];
        cells[i] = (uint8_t)((sum + cell_x * cell_y / 2) / (cell_x * cell_y));
    }
    const tm_image image = {
        .samples = cells, .width = across, .height = down, .stride = (ptrdiff_t)across};
    const tm_status status = prepare(&l->coarse, &image, false);
    if (status == TM_OK && l->coarse->variance == 0)
        tm_template_destroy(&l->coarse);
    l->cell_x = (int)cell_x;
    l->cell_y = (int)cell_y;
    return status;
}

static tm_status make_levels(tm_template *t)
{
    if (t->type != TM_SAMPLE_U8 || t->channels != 1 || t->mask)
        return TM_OK;
    return tm_levels_make(&t->levels, t->samples, t->width, t->height, t->variance)
               ? make_coarse(t)
               : TM_ERR_MEMORY;
}

/* Makes t->rounded, by steps that take the samples' range to that of 8 bits. A range that is less stays as it is. */
static tm_status make_rounded(tm_template *t)
{
    if (t->type != TM_SAMPLE_U16 || t->channels != 1 || t->mask || t->flat)
        return TM_OK;
    int64_t least = UINT16_MAX, most = 0, product = 0;
    for (int64_t i = 0; i < t->n; i++) {
        least = smaller(least, sample_of(t, i));
        most = larger(most, sample_of(t, i));
    }
    const int64_t range = larger(most - least, UINT8_MAX);
    uint8_t *samples = malloc((size_t)t->n);
    if (!samples)
        return TM_ERR_MEMORY;
    for (int64_t i = 0; i < t->n; i++) {
        samples[i] = (uint8_t)(((sample_of(t, i) - least) * UINT8_MAX + range / 2) / range);
        product += sample_of(t, i) * samples[i];
    }
    const tm_image image = {.samples = samples, .width = t->width, .height = t->height, .stride = (ptrdiff_t)t->width};
    const tm_status status = prepare(&t->rounded, &image, false);
    free(samples);
    if (status != TM_OK)
        return status;
    const double covariance = (double)((tm_int128)t->n * product - (tm_int128)t->sum * t->rounded->sum);
    const double variance = (double)((tm_int128)t->n * t->sum_sq - (tm_int128)t->sum * t->sum);
    t->rounded_sine = tm_rounded_sine(covariance * covariance / (variance * (double)t->rounded->variance));
    return TM_OK;
}

static tm_status prepare(tm_template **tmpl, const tm_image *image, bool with_levels)
{
    tm_template *t;
    tm_status status = TM_ERR_MEMORY;

    if (allocate(&t, image) && copy_mask(t, image)) {
        const size_t row = (size_t)(t->width * t->channels * tm_sample_size(t->type));
        for (int64_t y = 0; y < t->height; y++)
            memcpy(t->samples + (size_t)y * row, image->samples + y * image->stride, row);
        if (tm_sample_is_float(t->type)) {
            status = tm_f32_prepare(t) ? TM_OK : TM_ERR_MEMORY;
        } else {
            add_up(t);
            t->hash = hash_bytes(0, &t->width, sizeof t->width);
            t->hash = hash_bytes(t->hash, t->samples, packed_size(t));
            status = make_planes(t);
            if (status == TM_OK)
                status = make_rounded(t);
            if (status == TM_OK && with_levels)
                status = make_levels(t);
        }
    }
    if (status == TM_OK)
        *tmpl = t;
    else
        tm_template_destroy(&t);
    return status;
}

tm_status tm_template_prepare(tm_template **tmpl, const tm_image *image)
{
    return prepare(tmpl, image, true);
}

tm_status tm_template_prepare_plane(tm_template **tmpl, const tm_image *image)
{
    return prepare(tmpl, image, false);
}

bool tm_template_equal(const tm_template *a, const tm_template *b)
{
    return a->hash == b->hash && a->width == b->width && a->height == b->height &&
           a->type == b->type && a->channels == b->channels && !a->mask == !b->mask &&
           memcmp(a->samples, b->samples, packed_size(a)) == 0 &&
           (!a->mask || memcmp(a->mask, b->mask, (size_t)a->n) == 0);
}

void tm_template_destroy(tm_template **tmpl)
{
    if (!tmpl || !*tmpl)
        return;
    tm_template *t = *tmpl;
    for (int i = 0; i < t->plane_count; i++)
        tm_template_destroy(&t->planes[i]);
    tm_f32_free(&t->f32);
    tm_template_destroy(&t->rounded);
    tm_template_destroy(&t->levels.coarse);
    tm_levels_free(&t->levels);
    free(t->planes);
    free(t->mask);
    free(t->samples);
    free(t);
    *tmpl = NULL;
}

tm_scorer tm_scorer_make(const tm_template *t, tm_metric metric)
{
    const tm_int128 most = tm_sample_most(t->type);
    tm_scorer s = {.metric = metric,
                   .channels = t->channels,
                   .n = t->count,
                   .s_tt = t->sum_sq};

    memcpy(s.s_t, t->channel_sums, sizeof s.s_t);
    s.int128 = (tm_int128)t->count * t->count * t->channels * most * most >> 62 != 0;
    switch (tm_divisor_of(metric)) {
    case TM_BY_DEVIATIONS:
        s.norm = tm_or_one(tm_centred(s.n, t->sum_sq, s.s_t, s.s_t, s.channels, s.int128)) *
                 TM_SCORE_SCALE;
        break;
    case TM_BY_PIXELS:
        s.norm = (float)t->count;
        break;
    default:
        s.norm = tm_or_one((float)t->sum_sq) * TM_SCORE_SCALE;
    }
    return s;
}

tm_status tm_template_normalized(const tm_template *tmpl, float *out)
{
    if (!tmpl || !out || tmpl->channels != 1)
        return TM_ERR_INVALID;
    if (tmpl->flat)
        return TM_ERR_FLAT_TEMPLATE;

    if (tmpl->f32) {
        const double length = sqrt(tmpl->f32->variance);
        for (int64_t i = 0; i < tmpl->n; i++)
            out[i] = (float)(tmpl->f32->taps[i] / length);
        return TM_OK;
    }

    /* ||T - mean||^2 = var_T / n, and T - mean = (n*T - S_T) / n. */
    const int64_t n = tmpl->count;
    const tm_int128 variance = (tm_int128)n * tmpl->sum_sq - (tm_int128)tmpl->sum * tmpl->sum;
    const double norm = sqrt((double)variance * (double)n);
    for (int64_t i = 0; i < tmpl->n; i++) {
        const bool counts = !tmpl->mask || tmpl->mask[i];
        out[i] = counts ? (float)((double)(n * sample_of(tmpl, i) - tmpl->sum) / norm) : 0;
    }
    return TM_OK;
}
