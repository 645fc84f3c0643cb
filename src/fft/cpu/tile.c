/* SPDX-License-Identifier: MIT */
#include "fft/cpu/tile.h"

#include <string.h>

#include "integers.h"

/* Copies samples [x, x + count) of frame row y, zeros outside the frame. */
static void copy_row(uint8_t *to, const tm_image *frame, int64_t x, int64_t y, int64_t count)
{
    int64_t left = x < 0 ? smaller(-x, count) : 0;
    int64_t inside = smaller(count - left, frame->width - x - left);

    if (y < 0 || y >= frame->height || inside <= 0) {
        memset(to, 0, (size_t)count);
        return;
    }
    memset(to, 0, (size_t)left);
    memcpy(to + left, frame->samples + y * frame->stride + x + left, (size_t)inside);
    memset(to + left + inside, 0, (size_t)(count - left - inside));
}

/* Copies the samples that one part of map row y begins with. */
static void fetch_row(const tm_fft_tile_column *tiles, uint8_t *to, int part, int64_t y)
{
    const tm_geometry *g = &tiles->job->geometry;
    const tm_fft_tiling *t = tiles->tiling;
    copy_row(to, &tiles->job->frame, tiles->x + part * t->shift_x - g->pad_x,
             y + part * t->shift_y - g->pad_y, t->length_x);
}

static void load_row(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, int64_t y,
                     int64_t at)
{
    const uint8_t *restrict row = s->row;
    double *restrict to = s->tile[at * tm_fft_row_stride(tiles->tiling->length_x)];
    for (int part = 0; part < 2; part++) {
        fetch_row(tiles, s->row, part, y);
        for (int x = 0; x < tiles->tiling->length_x; x++)
            to[2 * x + part] = row[x] - TM_FFT_CENTRE;
    }
}

/* Some columns at a time: rows lie far apart, so that each would need a cache line of its own for a
 * single point. */
static void gather(const tm_fft_point *tile, int64_t stride, tm_fft_point *columns, int length)
{
    for (int y = 0; y < length; y++) {
        for (int c = 0; c < TM_FFT_COLUMNS; c++)
            memcpy(columns[c * length + y], tile[y * stride + c], sizeof *tile);
    }
}

static void scatter(tm_fft_point *tile, int64_t stride, tm_fft_point *columns, int length, int rows)
{
    for (int y = 0; y < rows; y++) {
        for (int c = 0; c < TM_FFT_COLUMNS; c++)
            memcpy(tile[y * stride + c], columns[c * length + y], sizeof *tile);
    }
}

static void multiply(double *restrict a, const double *restrict b, int count)
{
    for (int i = 0; i < count; i++) {
        double re = a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        double im = a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
        a[2 * i] = re;
        a[2 * i + 1] = im;
    }
}

static void multiply_add(double *restrict to, const double *restrict a, const double *restrict b,
                         int count)
{
    for (int i = 0; i < count; i++) {
        to[2 * i] += a[2 * i] * b[2 * i] - a[2 * i + 1] * b[2 * i + 1];
        to[2 * i + 1] += a[2 * i] * b[2 * i + 1] + a[2 * i + 1] * b[2 * i];
    }
}

/* Makes a column of a sum's spectrum. The planes' columns are count points apart. */
static void mix_column(const tm_fft_mix *mix, int sum, int64_t x, int length, int64_t count,
                       const tm_fft_point *columns, tm_fft_point *to)
{
    const size_t size = (size_t)length * sizeof *to;
    bool started = false;

    for (int i = 0; i < mix->terms; i++) {
        const tm_fft_term *term = &mix->term[i];
        if (term->sum != sum)
            continue;
        const tm_fft_point *plane = columns + term->plane * count;
        const double *spectrum = term->spectrum[x * length];
        if (started) {
            multiply_add(*to, *plane, spectrum, length);
        } else {
            if (to != plane)
                memcpy(to, plane, size);
            multiply(*to, spectrum, length);
        }
        started = true;
    }
}

static void correlate_columns(const tm_fft_tile_column *tiles, const tm_fft_scratch *s)
{
    const tm_fft_tiling *t = tiles->tiling;
    const tm_fft_mix *mix = tiles->mix;
    const int64_t stride = tm_fft_row_stride(t->length_x), tile = stride * t->length_y;
    const int64_t count = (int64_t)TM_FFT_COLUMNS * t->length_y;
    const int length = t->length_y;
    tm_fft_point *sums = s->columns + (mix->planes > 1 || mix->sums > 1 ? mix->planes * count : 0);

    for (int x = 0; x < t->length_x; x += TM_FFT_COLUMNS) {
        for (int i = 0; i < mix->planes; i++) {
            tm_fft_point *columns = s->columns + i * count;
            gather(s->tile + i * tile + x, stride, columns, length);
            for (int c = 0; c < TM_FFT_COLUMNS; c++, columns += length)
                tm_fft_forward(tiles->plan_y->transform, columns, s->work);
        }
        for (int i = 0; i < mix->sums; i++) {
            for (int c = 0; c < TM_FFT_COLUMNS; c++) {
                tm_fft_point *column = sums + c * length;
                mix_column(mix, i, x + c, length, count, s->columns + c * length, column);
                tm_fft_backward(tiles->plan_y->transform, column, s->work);
            }
            scatter(s->tile + i * tile + x, stride, sums, length, t->step_y);
        }
    }
}

static void slide(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, int64_t y, bool enters)
{
    const uint8_t *restrict row = s->row;
    for (int part = 0; part < 2; part++) {
        uint32_t *restrict sum = s->sum[part], *restrict sum_sq = s->sum_sq[part];
        fetch_row(tiles, s->row, part, y);
        if (enters) {
            for (int x = 0; x < tiles->tiling->length_x; x++) {
                sum[x] += row[x];
                sum_sq[x] += (uint32_t)(row[x] * row[x]);
            }
        } else {
            for (int x = 0; x < tiles->tiling->length_x; x++) {
                sum[x] -= row[x];
                sum_sq[x] -= (uint32_t)(row[x] * row[x]);
            }
        }
    }
}

static void start(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, int64_t top)
{
    for (int part = 0; part < 2; part++) {
        memset(s->sum[part], 0, (size_t)tiles->tiling->length_x * sizeof(uint32_t));
        memset(s->sum_sq[part], 0, (size_t)tiles->tiling->length_x * sizeof(uint32_t));
    }
    for (int64_t y = top; y < top + tiles->job->geometry.template_height - 1; y++)
        slide(tiles, s, y, true);
}

static void score(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, const tm_fft_row *row,
                  tm_candidate *best)
{
    (void)tiles, (void)s;
    tm_fft_score_row(row, best);
}

const tm_fft_samples tm_fft_integers = {
    .start = start, .load = load_row, .slide = slide, .score = score};

static void score_part(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, int64_t top,
                       int64_t y, int part, tm_candidate *best)
{
    const tm_geometry *g = &tiles->job->geometry;
    const tm_fft_tiling *t = tiles->tiling;
    const tm_fft_point *points = s->tile + (y - top) * tm_fft_row_stride(t->length_x);
    tm_fft_row row = {tiles->job,
                      part,
                      &points[0][part],
                      s->sum[part],
                      s->sum_sq[part],
                      s->prefix,
                      s->prefix_sq,
                      tiles->x + part * t->shift_x,
                      y + part * t->shift_y,
                      0,
                      NULL};

    row.count = smaller(smaller(t->step_x, t->range_x - tiles->x), g->map_width - row.x);
    if (row.y >= g->map_height || row.count <= 0)
        return;
    if (tiles->scans) {
        row.scan = row.job->map.data ? NULL : &tiles->scans[part];
        row.job = tm_peak_scan_row(&tiles->scans[part]);
    }
    tiles->samples->score(tiles, s, &row, best);
    if (tiles->scans)
        tm_peak_scan_row_done(&tiles->scans[part]);
}

static void score_rows(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, int64_t top,
                       tm_candidate *best)
{
    const tm_fft_tiling *t = tiles->tiling;
    const int64_t stride = tm_fft_row_stride(t->length_x), h = tiles->job->geometry.template_height;

    for (int64_t y = top; y < smaller(top + t->step_y, t->range_y); y++) {
        for (int i = 0; i < tiles->mix->sums; i++) {
            tm_fft_point *points = s->tile + (i * t->length_y + y - top) * stride;
            tm_fft_backward(tiles->plan_x->transform, points, s->work);
        }
        tiles->samples->slide(tiles, s, y + h - 1, true);
        for (int part = 0; part < 2; part++)
            score_part(tiles, s, top, y, part, best);
        tiles->samples->slide(tiles, s, y, false);
    }
}

/* Makes row number at of all planes' tiles and transforms it. */
static void make_row(const tm_fft_tile_column *tiles, const tm_fft_scratch *s, int64_t top,
                     int64_t at)
{
    const tm_fft_tiling *t = tiles->tiling;
    const int64_t stride = tm_fft_row_stride(t->length_x);
    const bool beyond = at >= t->step_y + tiles->job->geometry.template_height - 1;

    if (!beyond)
        tiles->samples->load(tiles, s, top + at, at);
    for (int i = 0; i < tiles->mix->planes; i++) {
        tm_fft_point *row = s->tile + (i * t->length_y + at) * stride;
        if (beyond) /* no window has this row */
            memset(row, 0, (size_t)stride * sizeof *row);
        else
            tm_fft_forward(tiles->plan_x->transform, row, s->work);
    }
}

void tm_fft_tile_column_match(const tm_fft_tile_column *tiles, const tm_fft_scratch *s,
                              tm_candidate *best)
{
    const tm_fft_tiling *t = tiles->tiling;
    const int64_t stride = tm_fft_row_stride(t->length_x);
    const int64_t shared = tiles->job->geometry.template_height - 1;
    int64_t top = tiles->first * t->step_y, ready = 0;

    tiles->samples->start(tiles, s, top);
    for (int64_t i = tiles->first; i < tiles->last; i++, top += t->step_y) {
        for (int64_t y = ready; y < t->length_y; y++)
            make_row(tiles, s, top, y);
        if (tiles->samples->loaded)
            tiles->samples->loaded(tiles, s, top);
        correlate_columns(tiles, s);
        score_rows(tiles, s, top, best);

        /* The columns' results have replaced the first step_y rows only: the rows
         * that the next tile shares with this one are still transformed. */
        ready = shared;
        for (int k = 0; k < tiles->mix->planes; k++) {
            tm_fft_point *tile = s->tile + k * stride * t->length_y;
            memmove(tile, tile + t->step_y * stride, (size_t)(ready * stride) * sizeof *tile);
        }
    }
}

void tm_fft_spectrum(const tm_template *tmpl, tm_metric metric, int taps, const tm_fft_tiling *t,
                     const tm_fft_plan *plan_x, const tm_fft_plan *plan_y, const tm_fft_scratch *s,
                     tm_fft_point *spectrum)
{
    int64_t stride = tm_fft_row_stride(t->length_x);
    double scale = 1.0 / ((double)t->length_x * t->length_y);

    memset(s->tile, 0, (size_t)(stride * t->length_y) * sizeof *s->tile);
    for (int64_t y = 0; y < tmpl->height; y++) {
        tm_fft_point *row = s->tile + y * stride;
        for (int64_t x = 0; x < tmpl->width; x++) {
            const int64_t i = y * tmpl->width + x;
            row[x][0] = tmpl->f32 ? tm_fft_f32_tap(tmpl, metric, taps, i) : tmpl->samples[i];
        }
        tm_fft_forward(plan_x->transform, row, s->work);
    }
    for (int x = 0; x < t->length_x; x += TM_FFT_COLUMNS) {
        gather(s->tile + x, stride, s->columns, t->length_y);
        for (int c = 0; c < TM_FFT_COLUMNS; c++) {
            tm_fft_point *column = s->columns + c * t->length_y;
            tm_fft_point *to = spectrum + (int64_t)(x + c) * t->length_y;
            tm_fft_forward(plan_y->transform, column, s->work);
            for (int y = 0; y < t->length_y; y++) {
                to[y][0] = column[y][0] * scale;
                to[y][1] = -column[y][1] * scale;
            }
        }
    }
}
