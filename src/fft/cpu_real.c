/* SPDX-License-Identifier: MIT */
/* Strips of float frames: their memory, their planes' tiles, and what sums may be off by. */
#include <stdlib.h>
#include <string.h>

#include "fft/cpu_real.h"
#include "integers.h"

/* Rows and columns of pixels that a strip's pivots are made of. */
enum { PIVOT_SIDE = 16 };

size_t tm_fft_real_carve(tm_fft_real_scratch *s, char *data, const tm_fft_real *real,
                         tm_real_block_fn *block, const tm_fft_tiling *t)
{
    const size_t x = (size_t)t->length_x, channels = (size_t)real->job->tmpl->channels;
    const size_t row = (x * sizeof(double) + 63) / 64 * 64;
    size_t used = 0;

#define TAKE(field, bytes)                                                                         \
    (field = data ? (void *)(data + used) : NULL, used += ((bytes) + 63) / 64 * 64)
    *s = (tm_fft_real_scratch){.patch = tm_real_patch_of(real->job, block, TM_FFT_PATCH, 1)};
    for (size_t c = 0; c < channels; c++)
        TAKE(s->pixels[c], row);
    TAKE(s->left_out, row);
    TAKE(s->values, row);
    TAKE(s->suffix, row);
    for (int part = 0; part < 2; part++) {
        TAKE(s->same[part], row);
        for (size_t c = 0; c < channels; c++)
            TAKE(s->before[part][c], row);
        for (int i = 0; i < real->slides; i++) {
            TAKE(s->column[part][i], row);
            TAKE(s->rest[part][i], row);
        }
    }
    for (int i = 0; i < real->sums; i++)
        TAKE(s->sums[real->sum[i]], row);
    for (int i = 0; i < real->slides; i++)
        TAKE(s->sums[real->slide[i].sum], row);
    TAKE(s->norms, (size_t)((real->planes + 2) * t->length_y) * sizeof(double));
    TAKE(s->patch.samples, (size_t)tm_real_patch_samples(&s->patch) * sizeof(double));
    TAKE(s->patch.columns, (size_t)tm_real_patch_columns(&s->patch) * sizeof(double));
#undef TAKE
    return used;
}

static double sum_of_squares(const double *values, int count)
{
    double sums[8] = {0};
    for (int i = 0; i < count; i++)
        sums[i % 8] += values[i] * values[i];
    return sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5] + sums[6] + sums[7];
}

static double *norms_of(const tm_fft_strip *strip, const tm_fft_real_scratch *s, int64_t y)
{
    return s->norms + y % strip->tiling->length_y * (strip->real->planes + 2);
}

static void load(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y, int64_t at)
{
    const tm_fft_real *real = strip->real;
    const tm_fft_tiling *t = strip->tiling;
    const int channels = strip->job->tmpl->channels;
    tm_fft_real_scratch *s = scratch->real;
    double *norms = norms_of(strip, s, y);

    memset(norms, 0, (size_t)(real->planes + 2) * sizeof *norms);
    for (int part = 0; part < 2; part++) {
        tm_fft_real_fetch(strip, s, part, y);
        for (int i = 0; i < real->planes; i++) {
            const double *restrict values = tm_fft_real_plane_row(strip, s, &real->plane[i], part);
            double *restrict to =
                scratch->tile[(i * t->length_y + at) * tm_fft_row_stride(t->length_x)];
            for (int x = 0; x < t->length_x; x++)
                to[2 * x + part] = values[x];
            const double norm = sum_of_squares(values, t->length_x);
            norms[i] += norm;
            norms[real->planes] += i < channels ? norm : 0;
        }
        for (int c = 0; c < channels && strip->job->metric == TM_METRIC_SQDIFF_NORMED; c++) {
            for (int x = 0; x < t->length_x; x++)
                s->values[x] = (double)s->pixels[c][x];
            norms[real->planes + 1] += sum_of_squares(s->values, t->length_x);
        }
    }
    s->seen[0] += norms[real->planes];
    s->seen[1] += norms[real->planes + 1];
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of a channel of some of a part's pixels in the strip: a mean would follow
 * one bright tile away from all others. */
static double pivot_of(const tm_fft_strip *strip, int part, int c)
{
    const int channels = strip->job->tmpl->channels;
    const int64_t top = strip->first * strip->tiling->step_y;
    const int64_t rows = (strip->last - strip->first) * strip->tiling->step_y +
                         strip->job->geometry.template_height - 1;
    float samples[PIVOT_SIDE * PIVOT_SIDE];
    size_t count = 0;

    for (int64_t i = 0; i < PIVOT_SIDE; i++) {
        int64_t y = top + rows * (2 * i + 1) / (2 * PIVOT_SIDE), left, first, last;
        const float *row = tm_fft_real_frame_row(strip, part, &y, &left, &first, &last);
        for (int64_t k = 0; row && k < PIVOT_SIDE; k++) {
            const int64_t x = first + (last - first) * (2 * k + 1) / (2 * PIVOT_SIDE);
            samples[count++] = row[(left + x) * channels + c];
        }
    }
    qsort(samples, count, sizeof *samples, ascending);
    return count ? (double)samples[count / 2] : 0;
}

static void start(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t top)
{
    tm_fft_real_scratch *s = scratch->real;
    for (int part = 0; part < 2; part++) {
        for (int c = 0; c < strip->job->tmpl->channels; c++)
            s->pivots[part][c] = tm_needs_s_f(strip->job->metric) ? pivot_of(strip, part, c)
                                                                  : strip->real->pivots[c];
    }
    s->seen[0] = s->seen[1] = 0;
    tm_fft_real_fill_sums(strip, scratch, top);
}

/* Of a sum that terms make. */
static double transform_error(const tm_fft_strip *strip, const double *norms, int sum)
{
    const tm_fft_real *real = strip->real;
    double norm = 0;
    for (int i = 0; i < real->terms; i++)
        norm += real->term[i].sum == sum ? norms[real->term[i].plane] : 0;
    return tm_fft_real_error(strip->tiling, sqrt(norm), real->taps_norm[sum]);
}

static double *error_of(tm_fft_real_sums *error, int sum)
{
    return sum == TM_REAL_PRODUCTS      ? &error->products
           : sum == TM_REAL_MAGNITUDES  ? &error->magnitudes
           : sum == TM_REAL_SQUARES     ? &error->s_ff
           : sum == TM_REAL_RAW_SQUARES ? &error->squares
                                        : &error->s_f[0];
}

/* The errors of the tile from row top on. The rest of n additions to a column's sum is
 * off by at most n^2 * 2^-106 of the greatest sum so far. */
static void loaded(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t top)
{
    const tm_fft_real *real = strip->real;
    const tm_fft_tiling *t = strip->tiling;
    const double w = (double)strip->job->tmpl->width, h = (double)strip->job->tmpl->height;
    tm_fft_real_scratch *s = scratch->real;
    double norms[TM_REAL_PLANES + 2] = {0};

    for (int64_t y = top; y < top + t->step_y + strip->job->tmpl->height - 1; y++)
        for (int i = 0; i < real->planes + 2; i++)
            norms[i] += norms_of(strip, s, y)[i];

    double steps = s->steps + 2 * t->step_y;
    if (!(steps * steps * s->seen[0] <= 0x1p40 * norms[real->planes]) ||
        !(steps * steps * s->seen[1] <= 0x1p40 * norms[real->planes + 1])) {
        s->seen[0] = norms[real->planes];
        s->seen[1] = norms[real->planes + 1];
        tm_fft_real_fill_sums(strip, scratch, top);
        steps = s->steps + 2 * t->step_y;
    }
    const double columns = w * steps * steps * 0x1p-106;
    tm_fft_real_sums errors = {.s_f = {columns * sqrt(h * s->seen[0])},
                               .s_ff = columns * s->seen[0],
                               .squares = columns * s->seen[1]};
    for (int i = 0; i < real->sums; i++) {
        if (real->sum[i] == TM_REAL_TOUCHED) /* whole numbers: off by far less than 1/2 */
            continue;
        double *error = error_of(&errors, real->sum[i]);
        *error = fmax(*error, transform_error(strip, norms, real->sum[i]));
    }
    s->rule = real->rule;
    tm_fft_real_rule_at(&s->rule, &errors);
}

const tm_fft_kind tm_fft_reals = {.start = start,
                                  .load = load,
                                  .loaded = loaded,
                                  .slide = tm_fft_real_slide,
                                  .score = tm_fft_score_real_row};
