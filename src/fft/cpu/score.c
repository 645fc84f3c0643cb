/* SPDX-License-Identifier: MIT */
/* Scores rows of integer windows from column sums and the correlation. */
#include <string.h>

#include "fft/cpu/tile.h"
#include "lcc/reject.h"

enum {
    TOGETHER = 64, /* windows that are scored or ruled out together */
    /* n^2 * 255^2 < 2^53 up to here: doubles have num and var_F exactly. */
    EXACT_PIXELS = 1 << 18,
};

/* Rounds to the nearest integer, for |value| < 2^51: the last place of the sum in between is 1. */
static int64_t nearest(double value)
{
    return (int64_t)((value + 0x1.8p52) - 0x1.8p52);
}

static int64_t s_ft_of(const tm_fft_row *row, int64_t i)
{
    return nearest(row->sums[2 * i]) + TM_FFT_CENTRE * row->job->tmpl->sum;
}

static void ccorr_row(const tm_fft_row *row, tm_candidate *best)
{
    for (int64_t i = 0; i < row->count; i++) {
        tm_candidate candidate = tm_job_emit(row->job, row->x + i, row->y, 0, 0, s_ft_of(row, i));
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

/* What num^2 / var_F of a window must exceed to come near the best score; below 0 where every
 * window counts. */
static double bound_of(const tm_fft_row *row, const tm_candidate *best)
{
    if (best->value <= 0 || (row->job->map.data && !row->scan))
        return -1;
    double score = (double)tm_score_of_order((int32_t)best->value);
    if (row->scan && tm_peak_scan_floor(row->scan) < score)
        score = (double)tm_peak_scan_floor(row->scan);
    if (score <= 0)
        return -1;
    return tm_reject_bound(score, (double)row->job->tmpl->variance);
}

/* Converts a value below 2^52 by its bits, which every vector unit can do. */
static double to_double(uint64_t value)
{
    uint64_t bits = value | UINT64_C(0x4330000000000000);
    double shifted;
    memcpy(&shifted, &bits, sizeof shifted);
    return shifted - 0x1p52;
}

/* Makes the prefix sums: over the columns before each one. */
static void add_up(const tm_fft_row *row)
{
    uint32_t s_f = 0;
    uint64_t s_ff = 0;
    int64_t columns = row->count + row->job->tmpl->width;
    for (int64_t x = 0; x < columns; x++) {
        row->prefix[x] = s_f;
        row->prefix_sq[x] = s_ff;
        if (x + 1 < columns) {
            s_f += row->sum[x];
            s_ff += row->sum_sq[x];
        }
    }
}

/* Whether one of TOGETHER windows from i on may beat the best one. No branches, so
 * that it is compiled to vectors. */
static bool any_candidate(const tm_fft_row *row, int64_t i, double bound)
{
    const tm_template *t = row->job->tmpl;
    const double n = (double)t->n, sum_t = (double)t->sum, shift = TM_FFT_CENTRE * sum_t;
    const double *restrict sums = row->sums + 2 * i;
    const uint32_t *restrict prefix = row->prefix + i, *restrict end = prefix + t->width;
    const uint64_t *restrict prefix_sq = row->prefix_sq + i, *restrict end_sq =
                                                                 prefix_sq + t->width;
    uint64_t negative = UINT64_MAX;

    for (int k = 0; k < TOGETHER; k++) {
        double s_f = (double)(int32_t)(end[k] - prefix[k]);
        double s_ff = to_double(end_sq[k] - prefix_sq[k]);
        double s_ft = (sums[2 * k] + 0x1.8p52) - 0x1.8p52 + shift;
        double num = n * s_ft - s_f * sum_t;
        double excess =
            num * fabs(num) - bound * (n * s_ff - s_f * s_f) - 0x1p-60; /* 0 is no match */
        uint64_t bits;
        memcpy(&bits, &excess, sizeof bits);
        negative &= bits;
    }
    return negative >> 63 == 0;
}

/* Scores TOGETHER windows from i on, without branches either. The operations are tm_lcc_score's, on
 * the same values, as the doubles are exact. */
static void score_together(const tm_fft_row *row, int64_t i, float *restrict scores)
{
    const tm_template *t = row->job->tmpl;
    const double n = (double)t->n, sum_t = (double)t->sum, shift = TM_FFT_CENTRE * sum_t;
    const float variance = (float)t->variance;
    const double *restrict sums = row->sums + 2 * i;
    const uint32_t *restrict prefix = row->prefix + i, *restrict end = prefix + t->width;
    const uint64_t *restrict prefix_sq = row->prefix_sq + i, *restrict end_sq =
                                                                 prefix_sq + t->width;

    for (int k = 0; k < TOGETHER; k++) {
        double s_f = (double)(int32_t)(end[k] - prefix[k]);
        double s_ff = to_double(end_sq[k] - prefix_sq[k]);
        double s_ft = (sums[2 * k] + 0x1.8p52) - 0x1.8p52 + shift;
        float var_f = (float)(n * s_ff - s_f * s_f);
        scores[k] = tm_lcc_clamp(tm_lcc_quotient((float)(n * s_ft - s_f * sum_t), var_f, variance),
                                 var_f == 0.0f);
    }
}

static void rank_together(const tm_fft_row *row, int64_t i, const float *scores, tm_candidate *best)
{
    int32_t most = INT32_MIN;
    for (int k = 0; k < TOGETHER; k++) {
        int32_t order = tm_score_order(scores[k]);
        most = order > most ? order : most;
    }
    if (most < best->value)
        return;
    for (int k = 0; k < TOGETHER; k++) {
        tm_candidate candidate = {tm_score_order(scores[k]),
                                  row->y * row->job->geometry.map_width + row->x + i + k};
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

static void rank_windows(const tm_fft_row *row, int64_t first, int64_t last, tm_candidate *best)
{
    const int64_t w = row->job->tmpl->width;
    for (int64_t i = first; i < last; i++) {
        int64_t s_f = (int64_t)(uint32_t)(row->prefix[i + w] - row->prefix[i]);
        int64_t s_ff = (int64_t)(row->prefix_sq[i + w] - row->prefix_sq[i]);
        tm_candidate candidate =
            tm_job_emit(row->job, row->x + i, row->y, s_f, s_ff, s_ft_of(row, i));
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

static void lcc_row(const tm_fft_row *row, tm_candidate *best)
{
    const tm_map *map = &row->job->map;
    float *scores = map->data ? (float *)((char *)map->data + row->y * map->stride) + row->x : NULL;
    float alone[TOGETHER];
    int64_t i = 0;

    add_up(row);
    for (; i + TOGETHER <= row->count && row->job->tmpl->n <= EXACT_PIXELS; i += TOGETHER) {
        double bound = bound_of(row, best);
        if (bound >= 0 && !any_candidate(row, i, bound)) {
            for (int k = 0; k < TOGETHER && scores; k++)
                scores[i + k] = -2.0f; /* less than any */
            continue;
        }
        score_together(row, i, scores ? scores + i : alone);
        rank_together(row, i, scores ? scores + i : alone, best);
    }
    rank_windows(row, i, row->count, best);
}

void tm_fft_score_row(const tm_fft_row *row, tm_candidate *best)
{
    if (row->job->metric == TM_METRIC_CCORR)
        ccorr_row(row, best);
    else
        lcc_row(row, best);
}
