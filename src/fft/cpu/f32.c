/* SPDX-License-Identifier: MIT */
/* Columns of tiles of float frames: their memory, their planes' rows, and by how much a tile's
 * sums may be off. */
#include <stdlib.h>
#include <string.h>

#include "fft/cpu/f32.h"
#include "integers.h"

/* A pivot is made of so many rows and columns of pixels. */
enum { PIVOT_SIDE = 16 };

size_t tm_fft_f32_carve(tm_fft_f32_scratch *s, char *data, const tm_fft_f32 *f32,
                        tm_f32_block_fn *block, const tm_fft_tiling *t)
{
    const size_t x = (size_t)t->length_x, channels = (size_t)f32->job->tmpl->channels;
    const size_t row = (x * sizeof(double) + 63) / 64 * 64;
    size_t used = 0;

#define TAKE(field, bytes)                                                                         \
    (field = data ? (void *)(data + used) : NULL, used += ((bytes) + 63) / 64 * 64)
    *s = (tm_fft_f32_scratch){.staged = tm_f32_staged_of(f32->job, block, TM_FFT_STAGED, 1)};
    for (size_t c = 0; c < channels; c++)
        TAKE(s->pixels[c], row);
    TAKE(s->left_out, row);
    TAKE(s->values, row);
    TAKE(s->suffix, row);
    for (int part = 0; part < 2; part++) {
        TAKE(s->same[part], row);
        for (size_t c = 0; c < channels; c++)
            TAKE(s->before[part][c], row);
        for (int i = 0; i < f32->slides; i++) {
            TAKE(s->column[part][i], row);
            TAKE(s->rest[part][i], row);
        }
    }
    for (int i = 0; i < f32->sums; i++)
        TAKE(s->sums[f32->sum[i]], row);
    for (int i = 0; i < f32->slides; i++)
        TAKE(s->sums[f32->slide[i].sum], row);
    TAKE(s->norms, (size_t)((f32->planes + 2) * t->length_y) * sizeof(double));
    TAKE(s->staged.samples, (size_t)tm_f32_staged_samples(&s->staged) * sizeof(double));
    TAKE(s->staged.columns, (size_t)tm_f32_staged_columns(&s->staged) * sizeof(double));
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

static double *norms_of(const tm_fft_tile_column *tiles, const tm_fft_f32_scratch *s, int64_t y)
{
    return s->norms + y % tiles->tiling->length_y * (tiles->f32->planes + 2);
}

static void load(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y,
                 int64_t at)
{
    const tm_fft_f32 *f32 = tiles->f32;
    const tm_fft_tiling *t = tiles->tiling;
    const int channels = tiles->job->tmpl->channels;
    tm_fft_f32_scratch *s = scratch->f32;
    double *norms = norms_of(tiles, s, y);

    memset(norms, 0, (size_t)(f32->planes + 2) * sizeof *norms);
    for (int part = 0; part < 2; part++) {
        tm_fft_f32_fetch(tiles, s, part, y);
        for (int i = 0; i < f32->planes; i++) {
            const double *restrict values = tm_fft_f32_plane_row(tiles, s, &f32->plane[i], part);
            double *restrict to =
                scratch->tile[(i * t->length_y + at) * tm_fft_row_stride(t->length_x)];
            for (int x = 0; x < t->length_x; x++)
                to[2 * x + part] = values[x];
            const double norm = sum_of_squares(values, t->length_x);
            norms[i] += norm;
            norms[f32->planes] += i < channels ? norm : 0;
        }
        for (int c = 0; c < channels && tm_fft_f32_needs_raw_squares(tiles->job->metric); c++) {
            for (int x = 0; x < t->length_x; x++)
                s->values[x] = (double)s->pixels[c][x];
            norms[f32->planes + 1] += sum_of_squares(s->values, t->length_x);
        }
    }
    s->seen[0] += norms[f32->planes];
    s->seen[1] += norms[f32->planes + 1];
}

static int ascending(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* The median of some of the pixels that a part of the column of tiles reads, in one channel. A
 * mean would be drawn away from all other tiles by a single bright one. */
static double pivot_of(const tm_fft_tile_column *tiles, int part, int c)
{
    const int channels = tiles->job->tmpl->channels;
    const int64_t top = tiles->first * tiles->tiling->step_y;
    const int64_t rows = (tiles->last - tiles->first) * tiles->tiling->step_y +
                         tiles->job->geometry.template_height - 1;
    float samples[PIVOT_SIDE * PIVOT_SIDE];
    size_t count = 0;

    for (int64_t i = 0; i < PIVOT_SIDE; i++) {
        int64_t y = top + rows * (2 * i + 1) / (2 * PIVOT_SIDE), left, first, last;
        const float *row = tm_fft_f32_frame_row(tiles, part, &y, &left, &first, &last);
        for (int64_t k = 0; row && k < PIVOT_SIDE; k++) {
            const int64_t x = first + (last - first) * (2 * k + 1) / (2 * PIVOT_SIDE);
            samples[count++] = row[(left + x) * channels + c];
        }
    }
    qsort(samples, count, sizeof *samples, ascending);
    return count ? (double)samples[count / 2] : 0;
}

static void start(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t top)
{
    tm_fft_f32_scratch *s = scratch->f32;
    for (int part = 0; part < 2; part++) {
        for (int c = 0; c < tiles->job->tmpl->channels; c++)
            s->pivots[part][c] =
                tm_needs_s_f(tiles->job->metric) ? pivot_of(tiles, part, c) : tiles->f32->pivots[c];
    }
    s->seen[0] = s->seen[1] = 0;
    tm_fft_f32_fill_sums(tiles, scratch, top);
}

/* How much the transforms may put a sum of the tile off. */
static double transform_error(const tm_fft_tile_column *tiles, const double *norms, int sum)
{
    const tm_fft_f32 *f32 = tiles->f32;
    double norm = 0;
    for (int i = 0; i < f32->terms; i++)
        norm += f32->term[i].sum == sum ? norms[f32->term[i].plane] : 0;
    return tm_fft_f32_error(tiles->tiling, sqrt(norm), f32->taps_norm[sum]);
}

static double *error_of(tm_f32_estimates *error, int sum)
{
    return sum == TM_F32_PRODUCTS      ? &error->products
           : sum == TM_F32_MAGNITUDES  ? &error->magnitudes
           : sum == TM_F32_SQUARES     ? &error->s_ff
           : sum == TM_F32_RAW_SQUARES ? &error->squares
                                       : &error->s_f[0];
}

/* Sets the rule by the errors of the tile whose first row is top. After n additions a column's
 * sum with its rest is off by at most n^2 * 2^-106 of the greatest sum so far. */
static void loaded(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t top)
{
    const tm_fft_f32 *f32 = tiles->f32;
    const tm_fft_tiling *t = tiles->tiling;
    const double w = (double)tiles->job->tmpl->width, h = (double)tiles->job->tmpl->height;
    tm_fft_f32_scratch *s = scratch->f32;
    double norms[TM_F32_PLANES + 2] = {0};

    for (int64_t y = top; y < top + t->step_y + tiles->job->tmpl->height - 1; y++)
        for (int i = 0; i < f32->planes + 2; i++)
            norms[i] += norms_of(tiles, s, y)[i];

    double steps = s->steps + 2 * t->step_y;
    if (!(steps * steps * s->seen[0] <= 0x1p40 * norms[f32->planes]) ||
        !(steps * steps * s->seen[1] <= 0x1p40 * norms[f32->planes + 1])) {
        s->seen[0] = norms[f32->planes];
        s->seen[1] = norms[f32->planes + 1];
        tm_fft_f32_fill_sums(tiles, scratch, top);
        steps = s->steps + 2 * t->step_y;
    }
    const double columns = w * steps * steps * 0x1p-106;
    tm_f32_estimates errors = {.s_f = {columns * sqrt(h * s->seen[0])},
                              .s_ff = columns * s->seen[0],
                              .squares = columns * s->seen[1]};
    for (int i = 0; i < f32->sums; i++) {
        if (f32->sum[i] == TM_F32_TOUCHED) /* counts, which are off by far less than 1/2 */
            continue;
        double *error = error_of(&errors, f32->sum[i]);
        *error = fmax(*error, transform_error(tiles, norms, f32->sum[i]));
    }
    s->rule = f32->rule;
    tm_f32_rule_at(&s->rule, &errors);
}

const tm_fft_samples tm_fft_f32_samples = {.start = start,
                                           .load = load,
                                           .loaded = loaded,
                                           .slide = tm_fft_f32_slide,
                                           .score = tm_fft_score_f32_row};
