/* SPDX-License-Identifier: MIT */
/* Scores rows of float windows from the columns' sums and the correlations. */
#include <string.h>

#include "fft/cpu/tile.h"
#include "integers.h"

/* So many runs are added up side by side, so that no addition waits for the one before it. */
enum { RUNS = 4 };

/* Sums of w columns each without differences, which would cancel: columns are cut into runs of w,
 * and a sum is the end of one run and the beginning of the next. Makes the sums that begin in
 * the given number of runs from column first on. */
static void add_runs(const double *restrict values, double *restrict suffix, double *restrict to,
                     int64_t first, int runs, int64_t count, int64_t w)
{
    double sums[RUNS] = {0};

    for (int64_t x = first + w - 1; x >= first; x--)
        for (int i = 0; i < runs; i++)
            suffix[x + i * w] = sums[i] += values[x + i * w];
    for (int i = 0; i < runs; i++) {
        to[first + i * w] = suffix[first + i * w];
        sums[i] = 0;
    }
    for (int64_t x = first + 1; x < first + w; x++) {
        for (int i = 0; i < runs && x + i * w < count; i++)
            to[x + i * w] = suffix[x + i * w] + (sums[i] += values[x + i * w + w - 1]);
    }
}

static void add_columns(const tm_fft_f32_scratch *s, int part, int slide, int64_t count, int64_t w,
                        double *to)
{
    const double *restrict column = s->column[part][slide], *restrict rest = s->rest[part][slide];
    const int64_t runs = ceil_div(count, w);

    for (int64_t x = 0; x < count + w - 1; x++)
        s->values[x] = column[x] + rest[x];
    int64_t i = 0;
    for (; i + RUNS < runs; i += RUNS) /* all of them whole */
        add_runs(s->values, s->suffix, to, i * w, RUNS, INT64_MAX, w);
    for (; i < runs; i++)
        add_runs(s->values, s->suffix, to, i * w, 1, count, w);
}

/* Makes all sums of the row's windows. */
static void make_sums(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                      const tm_fft_row *row)
{
    const tm_fft_f32 *f32 = tiles->f32;
    const tm_fft_f32_scratch *s = scratch->f32;
    const int64_t tile = tm_fft_row_stride(tiles->tiling->length_x) * tiles->tiling->length_y;

    for (int i = 0; i < f32->sums; i++) {
        const double *restrict from = row->sums + 2 * i * tile;
        double *restrict to = s->sums[f32->sum[i]];
        for (int64_t x = 0; x < row->count; x++)
            to[x] = from[2 * x];
    }
    for (int i = 0; i < f32->slides; i++)
        add_columns(s, row->part, i, row->count, tiles->job->tmpl->width,
                    s->sums[f32->slide[i].sum]);
}

/* Scores a flat window, which needs no sums where means are taken off or where it is black;
 * otherwise returns false. */
static bool score_flat(const tm_fft_f32_scratch *s, int part, int64_t i, double *score)
{
    const tm_f32_scorer *scorer = &s->rule.scorer;
    const tm_f32_sums black = {.products = tm_is_distance(scorer->metric) ? scorer->sum_sq : 0};

    for (int c = 0; c < scorer->channels && !tm_needs_s_f(scorer->metric); c++) {
        if (s->before[part][c][i] != 0)
            return false;
    }
    return tm_f32_score_of(scorer, &black, score); /* 0 where means are taken off */
}

/* Windows that are scored together. */
typedef struct block {
    int64_t first;
    int count;
    bool skipped[TM_F32_BLOCK];
    double score[TM_F32_BLOCK];
    double again[TM_F32_BLOCK];   /* 1 where the direct algorithm must score the window, else 0 */
    tm_value value[TM_F32_BLOCK]; /* its score there */
} block;

/* Scores count windows whose sums begin at these. Inlined for a metric and a number of channels
 * that are known, so that there are no branches. */
__attribute__((always_inline)) static inline void
score_sums(const tm_f32_rule *any, const double *const sums[TM_F32_SUMS], int count,
           tm_metric metric, int channels, double *restrict score, double *restrict again)
{
    const double *restrict products = sums[TM_F32_PRODUCTS];
    const double *restrict magnitudes = sums[TM_F32_MAGNITUDES];
    const double *restrict s_ff = sums[TM_F32_SQUARES];
    const double *restrict squares = sums[TM_F32_RAW_SQUARES];
    const double *s_f[TM_MAX_CHANNELS];
    for (int c = 0; c < channels; c++)
        s_f[c] = sums[TM_F32_F + c];
    tm_f32_rule rule = *any;
    rule.scorer.metric = metric;
    rule.scorer.channels = channels;
    for (int i = 0; i < count; i++) {
        tm_f32_estimates w = {.products = products[i],
                             .magnitudes = magnitudes[i],
                             .s_ff = s_ff[i],
                             .squares = squares[i]};
        for (int c = 0; c < channels; c++)
            w.s_f[c] = s_f[c][i];
        const tm_f32_sums scored = tm_f32_scored(&rule, &w);
        const bool near = tm_f32_near(&rule, &w);
        double value;
        again[i] = (tm_f32_score_of(&rule.scorer, &scored, &value) & near) ? 0 : 1;
        score[i] = value;
    }
}

static void score_all(const tm_f32_rule *rule, const double *const sums[TM_F32_SUMS], block *b)
{
    const tm_metric metric = rule->scorer.metric;
    const int channels = rule->scorer.channels;

    if (metric == TM_METRIC_LCC && channels == 1)
        score_sums(rule, sums, b->count, TM_METRIC_LCC, 1, b->score, b->again);
    else if (metric == TM_METRIC_SQDIFF)
        score_sums(rule, sums, b->count, TM_METRIC_SQDIFF, 0, b->score, b->again);
    else
        score_sums(rule, sums, b->count, metric, channels, b->score, b->again);
}

/* Scores a block from its sums and returns how many windows must be done again. */
static int score_block(const tm_fft_tile_column *tiles, const tm_fft_f32_scratch *s, int part,
                       block *b)
{
    static const double none[TM_F32_BLOCK];
    const double *sums[TM_F32_SUMS];
    const int64_t h = tiles->job->tmpl->height;
    const int32_t *same = s->same[part] + b->first;
    const bool masked = tiles->job->frame.mask != NULL;
    int again = 0;

    for (int i = 0; i < TM_F32_SUMS; i++)
        sums[i] = s->sums[i] ? s->sums[i] + b->first : none;
    score_all(&s->rule, sums, b);
    for (int i = 0; i < b->count; i++) {
        b->skipped[i] = masked && sums[TM_F32_TOUCHED][i] > 0.5;
        if (b->skipped[i] || (same[i] >= h && score_flat(s, part, b->first + i, &b->score[i])))
            b->again[i] = 0;
        again += b->again[i] != 0;
    }
    return again;
}

/* Scores windows by the direct algorithm. A block's samples are staged with those of the next
 * ones: windows before *ready have theirs. */
static void do_again(tm_fft_f32_scratch *s, const tm_fft_row *row, block *b, int64_t *ready)
{
    tm_f32_staged *staged = &s->staged;
    tm_f32_block sums;

    if (*ready < b->first + b->count) {
        staged->x = row->x + b->first;
        staged->y = row->y;
        staged->width = smaller(TM_FFT_STAGED, row->count - b->first);
        staged->height = 1;
        *ready = b->first + staged->width;
        tm_f32_stage(staged);
    }
    tm_f32_staged_sums(staged, row->x + b->first, row->y, &sums);
    for (int i = 0; i < b->count; i++) {
        if (b->again[i] != 0)
            tm_f32_staged_values(staged, &sums, row->x + b->first, row->y, i, 1, b->value);
    }
}

/* Windows at this score or on the worse side of it cannot be the best, and where no map is wanted
 * are left out. Infinite where none can be, as scores beyond the greatest float rank as equal. */
static double floor_of(const tm_fft_row *row, const tm_candidate *best)
{
    const bool distance = tm_is_distance(row->job->metric);
    const double worst = distance ? HUGE_VAL : -HUGE_VAL;

    if (row->job->map.data || best->value == INT64_MIN)
        return worst;
    const float score = tm_score_of_order((int32_t)(distance ? -best->value : best->value));
    const float below = nextafterf(score, (float)worst);
    return fabsf(below) < FLT_MAX ? (double)below : worst;
}

static void rank_block(const tm_fft_row *row, const block *b, tm_candidate *best)
{
    const tm_metric metric = row->job->metric;
    const double low = floor_of(row, best);

    for (int i = 0; i < b->count; i++) {
        const int64_t x = row->x + b->first + i;
        const double score = b->score[i];
        tm_value value = b->value[i];
        if (b->skipped[i])
            value = tm_skipped_value(metric);
        else if (b->again[i] == 0 && (tm_is_distance(metric) ? score >= low : score <= low))
            continue;
        else if (b->again[i] == 0)
            value = tm_f32_value(metric, score);
        const tm_candidate candidate = {value.rank, row->y * row->job->geometry.map_width + x};
        tm_job_store(row->job, x, row->y, &value);
        if (!b->skipped[i] && tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

void tm_fft_score_f32_row(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                          const tm_fft_row *row, tm_candidate *best)
{
    tm_fft_f32_scratch *s = scratch->f32;
    int64_t ready = 0; /* the samples of windows before this one are staged */
    block b;

    make_sums(tiles, scratch, row);
    for (b.first = 0; b.first < row->count; b.first += TM_F32_BLOCK) {
        b.count = (int)smaller(TM_F32_BLOCK, row->count - b.first);
        const int again = score_block(tiles, s, row->part, &b);
        if (again)
            do_again(s, row, &b, &ready);
        s->again += again;
        rank_block(row, &b, best);
    }
}
