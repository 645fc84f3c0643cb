/* SPDX-License-Identifier: MIT */
/* Strips of float frames: rows of planes, sums of columns, and what the sums may be
 * off by. */
#include <string.h>

#include "fft/cpu_tile.h"
#include "integers.h"

/* Rows that a strip's pivots are made of. */
enum { PIVOT_ROWS = 256 };

size_t tm_fft_real_carve(tm_fft_real_scratch *s, char *data, const tm_fft_real *real,
                         tm_real_block_fn *block, const tm_fft_tiling *t)
{
    const size_t x = (size_t)t->length_x, channels = (size_t)real->job->tmpl->channels;
    const size_t row = (x * sizeof(double) + 63) / 64 * 64;
    size_t used = 0;

#define TAKE(field, bytes) \
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

/* The columns of a part's row that lie in the frame, [first, last), if any, and the
 * frame's row. */
static const float *frame_row(const tm_fft_strip *strip, int part, int64_t *y, int64_t *left,
                              int64_t *first, int64_t *last)
{
    const tm_geometry *g = &strip->job->geometry;
    const tm_fft_tiling *t = strip->tiling;

    *y += part * t->shift_y - g->pad_y;
    *left = strip->x + part * t->shift_x - g->pad_x;
    *first = clamp(-*left, 0, t->length_x);
    *last = clamp(g->frame_width - *left, *first, t->length_x);
    return *y >= 0 && *y < g->frame_height && *first < *last
               ? tm_real_row(&strip->job->frame, *y) : NULL;
}

/* How many columns of a part's row y any window has: what lies beyond them is no part
 * of the frame, and may be what adds nothing to errors. */
static int covered(const tm_fft_strip *strip, int part, int64_t y)
{
    const tm_geometry *g = &strip->job->geometry;
    const tm_fft_tiling *t = strip->tiling;

    if (y + part * t->shift_y >= g->map_height + g->template_height - 1)
        return 0;
    return (int)clamp(g->map_width + g->template_width - 1 - strip->x - part * t->shift_x, 0,
                      t->length_x);
}

/* Map row y of one part into pixels, and left_out where the frame has a mask. */
static void fetch(const tm_fft_strip *strip, tm_fft_real_scratch *s, int part, int64_t y)
{
    const tm_image *frame = &strip->job->frame;
    const int channels = strip->job->tmpl->channels, length = strip->tiling->length_x;
    int64_t left, first, last;
    s->covered = covered(strip, part, y);
    const float *row = frame_row(strip, part, &y, &left, &first, &last);

    for (int c = 0; c < channels; c++) {
        float *restrict to = s->pixels[c];
        if (!row || last - first < length)
            memset(to, 0, (size_t)length * sizeof *to);
        if (row && channels == 1)
            memcpy(to + first, row + left + first, (size_t)(last - first) * sizeof *to);
        for (int64_t x = first; row && channels > 1 && x < last; x++)
            to[x] = row[(left + x) * channels + c];
    }
    if (!frame->mask)
        return;
    memset(s->left_out, 0, (size_t)length * sizeof *s->left_out);
    for (int64_t x = first; row && x < last; x++)
        s->left_out[x] = frame->mask[y * frame->mask_stride + left + x] == 0;
}

static void add_squares(double *restrict to, const float *restrict row, double pivot, int count)
{
    for (int x = 0; x < count; x++) {
        const double f = (double)row[x] - pivot;
        to[x] += f * f;
    }
}

/* The plane's values of the row that was fetched, 0 where no window is. */
static const double *make_row(const tm_fft_strip *strip, const tm_fft_real_scratch *s,
                              const tm_fft_plane *plane, int part)
{
    const int channels = strip->job->tmpl->channels, length = s->covered;
    const float *restrict row = s->pixels[plane->channel];
    const double pivot = s->pivots[part][plane->channel];
    double *restrict to = s->values;

    switch (plane->source) {
    case TM_FFT_SAMPLES:
        for (int x = 0; x < length; x++)
            to[x] = (double)row[x] - pivot;
        break;
    case TM_FFT_MAGNITUDES:
        for (int x = 0; x < length; x++)
            to[x] = fabs((double)row[x]);
        break;
    case TM_FFT_SQUARES:
    case TM_FFT_RAW_SQUARES:
        memset(to, 0, (size_t)length * sizeof *to);
        for (int c = 0; c < channels; c++)
            add_squares(to, s->pixels[c],
                        plane->source == TM_FFT_SQUARES ? s->pivots[part][c] : 0, length);
        break;
    case TM_FFT_LEFT_OUT:
        return s->left_out;
    }
    memset(to + length, 0, (size_t)(strip->tiling->length_x - length) * sizeof *to);
    return to;
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
        fetch(strip, s, part, y);
        for (int i = 0; i < real->planes; i++) {
            const double *restrict values = make_row(strip, s, &real->plane[i], part);
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

/* What is rounded off the sum is kept. */
static void add_row(double *restrict sum, double *restrict rest, const double *restrict values,
                    double sign, int count)
{
    for (int x = 0; x < count; x++) {
        const double a = sum[x], b = sign * values[x], s = a + b, t = s - a;
        rest[x] += (a - (s - t)) + (b - t);
        sum[x] = s;
    }
}

/* Whether pixels at two places of rows are equal, as numbers. */
static bool equal(float *const a[TM_MAX_CHANNELS], int64_t x, float *const b[TM_MAX_CHANNELS],
                  int64_t u, int channels)
{
    for (int c = 0; c < channels; c++) {
        if (!(a[c][x] == b[c][u]))
            return false;
    }
    return true;
}

/* Counts on where windows are flat so far, with the row that was fetched. */
static void count_same(const tm_fft_strip *strip, tm_fft_real_scratch *s, int part)
{
    const int channels = strip->job->tmpl->channels, length = strip->tiling->length_x;
    const int64_t w = strip->job->geometry.template_width;
    int32_t *same = s->same[part];
    int64_t run = 0; /* equal pixels from x on */

    for (int64_t x = length - 1; x >= 0; x--) {
        run = x + 1 < length && equal(s->pixels, x, s->pixels, x + 1, channels) ? run + 1 : 1;
        if (run < w)
            same[x] = 0;
        else if (same[x] > 0 && equal(s->pixels, x, s->before[part], x, channels))
            same[x]++;
        else
            same[x] = 1;
    }
    for (int c = 0; c < channels; c++)
        memcpy(s->before[part][c], s->pixels[c], (size_t)length * sizeof(float));
}

static void slide(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y, bool enters)
{
    tm_fft_real_scratch *s = scratch->real;
    for (int part = 0; part < 2; part++) {
        fetch(strip, s, part, y);
        for (int i = 0; i < strip->real->slides; i++)
            add_row(s->column[part][i], s->rest[part][i],
                    make_row(strip, s, &strip->real->slide[i].plane, part), enters ? 1 : -1,
                    strip->tiling->length_x);
        if (enters)
            count_same(strip, s, part);
    }
    s->steps++;
}

/* Empty sums, then the first windows' rows but the last. */
static void fill_sums(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t top)
{
    tm_fft_real_scratch *s = scratch->real;
    const size_t size = (size_t)strip->tiling->length_x * sizeof(double);

    for (int part = 0; part < 2; part++) {
        memset(s->same[part], 0, (size_t)strip->tiling->length_x * sizeof *s->same[part]);
        for (int i = 0; i < strip->real->slides; i++) {
            memset(s->column[part][i], 0, size);
            memset(s->rest[part][i], 0, size);
        }
    }
    s->steps = 0;
    for (int64_t y = top; y < top + strip->job->geometry.template_height - 1; y++)
        slide(strip, scratch, y, true);
}

/* The mean of a channel of some of a part's rows in the strip. */
static double pivot_of(const tm_fft_strip *strip, int part, int c)
{
    const int channels = strip->job->tmpl->channels;
    const int64_t top = strip->first * strip->tiling->step_y;
    const int64_t rows = (strip->last - strip->first) * strip->tiling->step_y +
                         strip->job->geometry.template_height - 1;
    double sum = 0, count = 0;

    for (int64_t i = 0; i < rows; i += ceil_div(rows, PIVOT_ROWS)) {
        int64_t y = top + i, left, first, last;
        const float *row = frame_row(strip, part, &y, &left, &first, &last);
        for (int64_t x = first; row && x < last; x++)
            sum += (double)row[(left + x) * channels + c];
        count += row ? (double)(last - first) : 0;
    }
    return count > 0 ? sum / count : 0;
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
    fill_sums(strip, scratch, top);
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
        fill_sums(strip, scratch, top);
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
                                  .slide = slide,
                                  .score = tm_fft_score_real_row};
