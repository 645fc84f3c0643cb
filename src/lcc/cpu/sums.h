/* SPDX-License-Identifier: MIT */
/* Kernels for jobs of planes, in C that compilers turn into vectors: each instruction set's file
 * compiles them for itself. Rows are in blocks in phase order, scores in column order. */
#ifndef TMATCH_LCC_CPU_SUMS_H
#define TMATCH_LCC_CPU_SUMS_H

#include "lcc/cpu/kernels.h"
#include "lcc/planes.h"

static inline __attribute__((always_inline)) void
pick_step(uint8_t *restrict to, const uint8_t *restrict from, int step, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        to[i] = from[i * step];
}

static void pick(uint8_t *to, const uint8_t *from, int step, int64_t count)
{
    switch (step) {
    case 1:
        memcpy(to, from, (size_t)count);
        break;
    case 2:
        pick_step(to, from, 2, count);
        break;
    case 3:
        pick_step(to, from, 3, count);
        break;
    case 4:
        pick_step(to, from, 4, count);
        break;
    default:
        pick_step(to, from, step, count);
    }
}

static void sum_up(int64_t *restrict to, const tm_source_row *row, int sum, int block, int count)
{
    const tm_source *until_source = row->source + row->first[sum + 1];

    for (int at = 0; at < count * TM_BLOCK; at += TM_LANES) {
        const ptrdiff_t p = at / TM_LANES % 4, end = p + row->w;
        const ptrdiff_t j = (block + at / TM_BLOCK) * TM_LANES;
        int64_t sums[TM_LANES] = {0};
        for (const tm_source *s = row->source + row->first[sum]; s < until_source; s++) {
            const int64_t weight = s->weight;
            const int shift = s->shift;
            if (s->products) {
                const int32_t *products = s->products + block * TM_BLOCK + at;
                for (int i = 0; i < TM_LANES; i++)
                    sums[i] += (int64_t)((uint64_t)products[i] << shift);
            } else {
                const uint32_t *from = s->prefix + p * row->plane + j;
                const uint32_t *until = s->prefix + end % 4 * row->plane + end / 4 + j;
                for (int i = 0; i < TM_LANES; i++)
                    sums[i] += (int64_t)(until[i] - from[i]) * weight;
            }
        }
        for (int i = 0; i < TM_LANES; i++)
            to[at + i] = sums[i];
    }
}

static inline __attribute__((always_inline)) void score_each(const tm_scorer *scorer,
                                                             const int64_t *const *sums, int blocks,
                                                             float *restrict to, tm_metric metric,
                                                             int channels, bool int128)
{
    const int64_t *ft = sums[TM_SUM_FT], *ff = tm_needs_s_ff(metric) ? sums[TM_SUM_FF] : ft;
    const float skipped = tm_skipped_value(metric).score;
    tm_scorer s = *scorer;

    s.metric = metric;
    for (int at = 0; at < blocks * TM_BLOCK; at += TM_BLOCK) {
        float scores[TM_BLOCK];
        for (int i = at; i < at + TM_BLOCK; i++) {
            tm_sums window = {.s_ft = ft[i], .s_ff = ff[i]};
            for (int c = 0; c < channels && tm_needs_s_f(metric); c++)
                window.s_f[c] = sums[TM_SUM_F + c][i];
            scores[i - at] = tm_metric_score(&s, &window, channels, int128);
        }
        if (sums[TM_SUM_TOUCHED]) {
            for (int i = 0; i < TM_BLOCK; i++)
                scores[i] = sums[TM_SUM_TOUCHED][at + i] ? skipped : scores[i];
        }
        for (int j = 0; j < TM_LANES; j++) {
            for (int p = 0; p < 4; p++)
                to[at + 4 * j + p] = scores[p * TM_LANES + j];
        }
    }
}

static inline __attribute__((always_inline)) void
score_metric(const tm_scorer *s, const int64_t *const *sums, int blocks, float *to,
             tm_metric metric)
{
    if (s->int128)
        score_each(s, sums, blocks, to, metric, s->channels, true);
    else if (s->channels == 1)
        score_each(s, sums, blocks, to, metric, 1, false);
    else if (s->channels == 3)
        score_each(s, sums, blocks, to, metric, 3, false);
    else
        score_each(s, sums, blocks, to, metric, s->channels, false);
}

static inline __attribute__((always_inline)) void
score_integers(const tm_scorer *scorer, const int64_t *const *sums, int blocks,
               int64_t *restrict to, tm_metric metric)
{
    const int64_t skipped = tm_skipped_value(metric).integer;
    const int64_t *ft = sums[TM_SUM_FT], *touched = sums[TM_SUM_TOUCHED];
    const int64_t *ff = tm_needs_s_ff(metric) ? sums[TM_SUM_FF] : ft;
    tm_scorer s = *scorer;

    s.metric = metric;
    for (int x = 0; x < blocks * TM_BLOCK; x++) {
        const int i = tm_phase_index(x);
        const tm_sums window = {.s_ft = ft[i], .s_ff = ff[i]};
        to[x] = touched && touched[i] ? skipped : tm_integer_score(&s, &window);
    }
}

/* One copy for each metric, whose formula is then known. */
static void score_sums(const tm_scorer *s, const int64_t *const *sums, int blocks, void *row)
{
#define SCORE(NAME, name, dividend, divisor)                                                       \
    case TM_METRIC_##NAME:                                                                         \
        if ((divisor) == TM_BY_ONE)                                                                \
            score_integers(s, sums, blocks, row, TM_METRIC_##NAME);                                \
        else                                                                                       \
            score_metric(s, sums, blocks, row, TM_METRIC_##NAME);                                  \
        break;
    switch (s->metric) {
        TM_EACH_METRIC(SCORE)
    }
#undef SCORE
}

static inline void assign_sums(tm_cpu_kernels *kernels)
{
    kernels->pick = pick;
    kernels->sum_up = sum_up;
    kernels->score_sums = score_sums;
}

#endif
