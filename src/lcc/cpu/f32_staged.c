/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/f32_staged.h"

#include "integers.h"

tm_f32_staged tm_f32_staged_of(const tm_job *job, tm_f32_block_fn *block, int64_t width,
                               int64_t height)
{
    return (tm_f32_staged){.job = job,
                           .block = block,
                           .scorer = tm_f32_scorer_make(job->tmpl, job->metric),
                           .rows = height + job->tmpl->height - 1,
                           .stride = round_up(width, TM_F32_BLOCK) +
                                     round_up(job->tmpl->width, TM_F32_BLOCK)};
}

int64_t tm_f32_staged_samples(const tm_f32_staged *s)
{
    return s->job->tmpl->channels * s->rows * s->stride;
}

int64_t tm_f32_staged_columns(const tm_f32_staged *s)
{
    return s->stride + TM_F32_BLOCK;
}

/* The mean of the frame's samples below the windows, for metrics that take means off; else 0. */
static double pivot_of(const tm_f32_staged *s, int c)
{
    const tm_geometry *g = &s->job->geometry;
    const int64_t left = larger(s->x - g->pad_x, 0), top = larger(s->y - g->pad_y, 0);
    const int64_t right =
        smaller(s->x - g->pad_x + s->width + g->template_width - 1, g->frame_width);
    const int64_t bottom =
        smaller(s->y - g->pad_y + s->height + g->template_height - 1, g->frame_height);
    double sum = 0;

    if (!tm_needs_s_f(s->job->metric))
        return 0;
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = left; x < right; x++)
            sum += (double)tm_f32_sample(&s->job->frame, x, y, c);
    return sum / (double)((right - left) * (bottom - top));
}

void tm_f32_stage(const tm_f32_staged *s)
{
    const tm_geometry *g = &s->job->geometry;
    const tm_image *frame = &s->job->frame;
    const int channels = s->job->tmpl->channels;
    const int64_t left = s->x - g->pad_x, top = s->y - g->pad_y;
    const int64_t first = clamp(-left, 0, s->stride);
    const int64_t last = clamp(frame->width - left, first, s->stride);

    for (int c = 0; c < channels; c++) {
        const double pivot = pivot_of(s, c);
        for (int64_t v = 0; v < s->height + g->template_height - 1; v++) {
            double *to = s->samples + (c * s->rows + v) * s->stride;
            const bool inside = top + v >= 0 && top + v < frame->height;
            const float *row = inside ? tm_f32_row(frame, top + v) + c : NULL;
            for (int64_t u = 0; u < s->stride; u++)
                to[u] = -pivot;
            for (int64_t u = first; inside && u < last; u++)
                to[u] = (double)row[(left + u) * channels] - pivot;
        }
    }
}

void tm_f32_staged_sums(const tm_f32_staged *s, int64_t x, int64_t y, tm_f32_block *block)
{
    const tm_template *t = s->job->tmpl;
    const tm_metric metric = s->job->metric;
    const bool centred = tm_needs_s_f(metric);
    const tm_f32_view view = {.samples = s->samples + (y - s->y) * s->stride + (x - s->x),
                              .stride = (ptrdiff_t)s->stride,
                              .plane = (ptrdiff_t)(s->rows * s->stride),
                              .taps = centred ? t->f32->taps : t->f32->samples,
                              .mask = t->mask,
                              .w = t->width,
                              .h = t->height,
                              .channels = t->channels,
                              .distance = tm_is_distance(metric),
                              .sums = centred,
                              .squares = tm_f32_needs_s_ff(metric),
                              .columns = s->columns};
    s->block(&view, block);
}

void tm_f32_staged_values(const tm_f32_staged *s, const tm_f32_block *b, int64_t x, int64_t y,
                          int first, int count, tm_value *values)
{
    const tm_f32_scorer scorer = s->scorer; /* a copy, which nothing written here can change */

    for (int i = first; i < first + count; i++) {
        tm_f32_sums sums = {.products = b->products[i], .s_ff = b->s_ff[i]};
        double score;
        for (int c = 0; c < scorer.channels; c++)
            tm_f32_centre(&scorer, &sums, c, b->s_f[c][i]);
        if (!tm_f32_score_of(&scorer, &sums, &score))
            score = tm_f32_window(s->job, x + i, y);
        values[i] = tm_f32_value(scorer.metric, score);
    }
}
