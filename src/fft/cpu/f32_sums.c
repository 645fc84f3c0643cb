/* SPDX-License-Identifier: MIT */
/* Rows of a float frame's planes, and the columns' sums that slide over them. */
#include <string.h>

#include "fft/cpu/f32.h"
#include "integers.h"

const float *tm_fft_f32_frame_row(const tm_fft_tile_column *tiles, int part, int64_t *y,
                                  int64_t *left, int64_t *first, int64_t *last)
{
    const tm_geometry *g = &tiles->job->geometry;
    const tm_fft_tiling *t = tiles->tiling;

    *y += part * t->shift_y - g->pad_y;
    *left = tiles->x + part * t->shift_x - g->pad_x;
    *first = clamp(-*left, 0, t->length_x);
    *last = clamp(g->frame_width - *left, *first, t->length_x);
    return *y >= 0 && *y < g->frame_height && *first < *last ? tm_f32_row(&tiles->job->frame, *y)
                                                             : NULL;
}

/* How many columns of a part's row y any window has. Those beyond are made 0, so that they add
 * nothing to the errors. */
static int covered(const tm_fft_tile_column *tiles, int part, int64_t y)
{
    const tm_geometry *g = &tiles->job->geometry;
    const tm_fft_tiling *t = tiles->tiling;

    if (y + part * t->shift_y >= g->map_height + g->template_height - 1)
        return 0;
    return (int)clamp(g->map_width + g->template_width - 1 - tiles->x - part * t->shift_x, 0,
                      t->length_x);
}

void tm_fft_f32_fetch(const tm_fft_tile_column *tiles, tm_fft_f32_scratch *s, int part, int64_t y)
{
    const tm_image *frame = &tiles->job->frame;
    const int channels = tiles->job->tmpl->channels, length = tiles->tiling->length_x;
    int64_t left, first, last;
    s->covered = covered(tiles, part, y);
    const float *row = tm_fft_f32_frame_row(tiles, part, &y, &left, &first, &last);

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

const double *tm_fft_f32_plane_row(const tm_fft_tile_column *tiles, const tm_fft_f32_scratch *s,
                                   const tm_fft_plane *plane, int part)
{
    const int channels = tiles->job->tmpl->channels, length = s->covered;
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
            add_squares(to, s->pixels[c], plane->source == TM_FFT_SQUARES ? s->pivots[part][c] : 0,
                        length);
        break;
    case TM_FFT_LEFT_OUT:
        return s->left_out;
    }
    memset(to + length, 0, (size_t)(tiles->tiling->length_x - length) * sizeof *to);
    return to;
}

/* Adds values to sums; what is rounded off is added to the rest. */
static void add_row(double *restrict sum, double *restrict rest, const double *restrict values,
                    double sign, int count)
{
    for (int x = 0; x < count; x++) {
        const double a = sum[x], b = sign * values[x], s = a + b, t = s - a;
        rest[x] += (a - (s - t)) + (b - t);
        sum[x] = s;
    }
}

/* Whether two pixels are equal, as numbers. */
static bool equal(float *const a[TM_MAX_CHANNELS], int64_t x, float *const b[TM_MAX_CHANNELS],
                  int64_t u, int channels)
{
    for (int c = 0; c < channels; c++) {
        if (!(a[c][x] == b[c][u]))
            return false;
    }
    return true;
}

/* Counts the row that was fetched to the rows in which windows are flat. */
static void count_same(const tm_fft_tile_column *tiles, tm_fft_f32_scratch *s, int part)
{
    const int channels = tiles->job->tmpl->channels, length = tiles->tiling->length_x;
    const int64_t w = tiles->job->geometry.template_width;
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

void tm_fft_f32_slide(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y,
                      bool enters)
{
    const tm_fft_f32 *f32 = tiles->f32;
    tm_fft_f32_scratch *s = scratch->f32;
    for (int part = 0; part < 2; part++) {
        tm_fft_f32_fetch(tiles, s, part, y);
        for (int i = 0; i < f32->slides; i++)
            add_row(s->column[part][i], s->rest[part][i],
                    tm_fft_f32_plane_row(tiles, s, &f32->slide[i].plane, part), enters ? 1 : -1,
                    tiles->tiling->length_x);
        if (enters)
            count_same(tiles, s, part);
    }
    s->steps++;
}

void tm_fft_f32_fill_sums(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                          int64_t top)
{
    tm_fft_f32_scratch *s = scratch->f32;
    const size_t size = (size_t)tiles->tiling->length_x * sizeof(double);

    for (int part = 0; part < 2; part++) {
        memset(s->same[part], 0, (size_t)tiles->tiling->length_x * sizeof *s->same[part]);
        for (int i = 0; i < tiles->f32->slides; i++) {
            memset(s->column[part][i], 0, size);
            memset(s->rest[part][i], 0, size);
        }
    }
    s->steps = 0;
    for (int64_t y = top; y < top + tiles->job->geometry.template_height - 1; y++)
        tm_fft_f32_slide(tiles, scratch, y, true);
}
