/* SPDX-License-Identifier: MIT */
/* Rows of float windows, from sums of columns and the correlations. */
#include <string.h>

#include "fft/cpu_tile.h"
#include "integers.h"

/* Sums of w columns each, without a difference: those up to the next multiple of w,
 * and those from there on. */
static void add_columns(const tm_fft_real_scratch *s, int part, int slide, int64_t count, int64_t w,
                        double *restrict to)
{
    const double *restrict column = s->column[part][slide], *restrict rest = s->rest[part][slide];
    double *restrict values = s->values, *restrict suffix = s->suffix;
    const int64_t columns = count + w - 1;

    for (int64_t x = 0; x < columns; x++)
        values[x] = column[x] + rest[x];
    for (int64_t first = 0; first < count; first += w) {
        double sum = 0;
        for (int64_t x = first + w - 1; x >= first; x--)
            suffix[x] = sum += values[x];
        to[first] = suffix[first];
        sum = 0;
        for (int64_t x = first + 1; x < smaller(first + w, count); x++) {
            sum += values[x + w - 1];
            to[x] = suffix[x] + sum;
        }
    }
}

/* Every sum of the row's windows. */
static void make_sums(const tm_fft_strip *strip, const tm_fft_scratch *scratch,
                      const tm_fft_row *row)
{
    const tm_fft_real *real = strip->real;
    const tm_fft_real_scratch *s = scratch->real;
    const int64_t tile =
        tm_fft_row_stride(strip->tiling->length_x) * strip->tiling->length_y;

    for (int i = 0; i < real->sums; i++) {
        const double *restrict from = row->sums + 2 * i * tile;
        double *restrict to = s->sums[real->sum[i]];
        for (int64_t x = 0; x < row->count; x++)
            to[x] = from[2 * x];
    }
    for (int i = 0; i < real->slides; i++)
        add_columns(s, row->part, i, row->count, strip->job->tmpl->width,
                    s->sums[real->slide[i].sum]);
}

static double sum_of(const tm_fft_real_scratch *s, int sum, int64_t i)
{
    return s->sums[sum] ? s->sums[sum][i] : 0;
}

static tm_fft_real_sums window_of(const tm_fft_real_scratch *s, int64_t i)
{
    tm_fft_real_sums sums = {.products = s->sums[TM_REAL_PRODUCTS][i],
                             .magnitudes = sum_of(s, TM_REAL_MAGNITUDES, i),
                             .s_ff = sum_of(s, TM_REAL_SQUARES, i),
                             .squares = sum_of(s, TM_REAL_RAW_SQUARES, i)};
    for (int c = 0; c < s->rule.scorer.channels; c++)
        sums.s_f[c] = sum_of(s, TM_REAL_F + c, i);
    return sums;
}

/* Of windows that are flat it is known without their sums what they score where means
 * are taken off, and where they are black. */
static bool score_flat(const tm_fft_real_scratch *s, int part, int64_t i, double *score)
{
    const tm_real_scorer *scorer = &s->rule.scorer;
    const tm_real_sums black = {
        .products = tm_is_distance(scorer->metric) ? scorer->sum_sq : 0};

    *score = 0;
    if (tm_needs_s_f(scorer->metric))
        return true;
    for (int c = 0; c < scorer->channels; c++) {
        if (s->before[part][c][i] != 0)
            return false;
    }
    return tm_real_score_of(scorer, &black, score);
}

/* False where the sums are not near enough. */
static bool score_window(const tm_fft_real_scratch *s, int part, int64_t h, int64_t i,
                         double *score)
{
    if (s->same[part][i] >= h && score_flat(s, part, i, score))
        return true;
    const tm_fft_real_sums sums = window_of(s, i);
    if (!tm_fft_real_near(&s->rule, &sums))
        return false;
    const tm_real_sums scored = tm_fft_real_scored(&s->rule, &sums);
    return tm_real_score_of(&s->rule.scorer, &scored, score);
}

/* Windows that are scored together. */
typedef struct block {
    int64_t first;
    int count;
    bool skipped[TM_REAL_BLOCK], again[TM_REAL_BLOCK];
    tm_value value[TM_REAL_BLOCK];
} block;

/* Returns how many must be done again. */
static int score_block(const tm_fft_strip *strip, const tm_fft_real_scratch *s, int part, block *b)
{
    const tm_metric metric = strip->job->metric;
    int again = 0;

    for (int i = 0; i < b->count; i++) {
        double score = 0;
        b->again[i] = false;
        b->skipped[i] = strip->job->frame.mask && s->sums[TM_REAL_TOUCHED][b->first + i] > 0.5;
        if (b->skipped[i]) {
            b->value[i] = tm_skipped_value(metric);
            continue;
        }
        b->again[i] = !score_window(s, part, strip->job->tmpl->height, b->first + i, &score);
        b->value[i] = tm_real_value(metric, score);
        again += b->again[i];
    }
    return again;
}

/* The direct way. The patch is staged unless it is there from the block before. */
static void do_again(tm_fft_real_scratch *s, const tm_fft_row *row, block *b, int64_t *staged)
{
    tm_real_patch *p = &s->patch;
    tm_real_block sums;

    if (*staged < b->first + b->count) {
        p->x = row->x + b->first;
        p->y = row->y;
        p->width = smaller(TM_FFT_PATCH, row->count - b->first);
        p->height = 1;
        *staged = b->first + p->width;
        tm_real_patch_stage(p);
    }
    tm_real_patch_sums(p, row->x + b->first, row->y, &sums);
    for (int i = 0; i < b->count; i++) {
        if (b->again[i])
            b->value[i] = tm_real_patch_value(p, &sums, row->x + b->first + i, row->y, i);
    }
}

void tm_fft_score_real_row(const tm_fft_strip *strip, const tm_fft_scratch *scratch,
                           const tm_fft_row *row, tm_candidate *best)
{
    tm_fft_real_scratch *s = scratch->real;
    int64_t staged = 0; /* windows before this one, or their patch, are there */
    block b;

    make_sums(strip, scratch, row);
    for (b.first = 0; b.first < row->count; b.first += TM_REAL_BLOCK) {
        b.count = (int)smaller(TM_REAL_BLOCK, row->count - b.first);
        const int again = score_block(strip, s, row->part, &b);
        if (again)
            do_again(s, row, &b, &staged);
        s->again += again;
        for (int i = 0; i < b.count; i++) {
            const int64_t x = row->x + b.first + i;
            const tm_candidate candidate = {b.value[i].rank,
                                            row->y * row->job->geometry.map_width + x};
            tm_job_store(row->job, x, row->y, &b.value[i]);
            if (!b.skipped[i] && tm_candidate_beats(candidate, *best))
                *best = candidate;
        }
    }
}
