/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/f32_patch.h"

#include "integers.h"

tm_f32_patch tm_f32_patch_of(const tm_job *job, tm_f32_block_fn *block, int64_t width,
                             int64_t height)
{
    return (tm_f32_patch){.job = job,
                          .block = block,
                          .scorer = tm_f32_scorer_make(job->tmpl, job->metric),
                          .rows = height + job->tmpl->height - 1,
                          .stride = round_up(width, TM_F32_BLOCK) +
                                    round_up(job->tmpl->width, TM_F32_BLOCK)};
}

int64_t tm_f32_patch_samples(const tm_f32_patch *p)
{
    return p->job->tmpl->channels * p->rows * p->stride;
}

int64_t tm_f32_patch_columns(const tm_f32_patch *p)
{
    return p->stride + TM_F32_BLOCK;
}

/* The mean of the frame's samples below the patch. */
static double pivot_of(const tm_f32_patch *p, int c)
{
    const tm_geometry *g = &p->job->geometry;
    const int64_t left = larger(p->x - g->pad_x, 0), top = larger(p->y - g->pad_y, 0);
    const int64_t right =
        smaller(p->x - g->pad_x + p->width + g->template_width - 1, g->frame_width);
    const int64_t bottom =
        smaller(p->y - g->pad_y + p->height + g->template_height - 1, g->frame_height);
    double sum = 0;

    if (!tm_needs_s_f(p->job->metric))
        return 0;
    for (int64_t y = top; y < bottom; y++)
        for (int64_t x = left; x < right; x++)
            sum += (double)tm_f32_sample(&p->job->frame, x, y, c);
    return sum / (double)((right - left) * (bottom - top));
}

void tm_f32_patch_stage(const tm_f32_patch *p)
{
    const tm_geometry *g = &p->job->geometry;
    const tm_image *frame = &p->job->frame;
    const int channels = p->job->tmpl->channels;
    const int64_t left = p->x - g->pad_x, top = p->y - g->pad_y;
    const int64_t first = clamp(-left, 0, p->stride);
    const int64_t last = clamp(frame->width - left, first, p->stride);

    for (int c = 0; c < channels; c++) {
        const double pivot = pivot_of(p, c);
        for (int64_t v = 0; v < p->height + g->template_height - 1; v++) {
            double *to = p->samples + (c * p->rows + v) * p->stride;
            const bool inside = top + v >= 0 && top + v < frame->height;
            const float *row = inside ? tm_f32_row(frame, top + v) + c : NULL;
            for (int64_t u = 0; u < p->stride; u++)
                to[u] = -pivot;
            for (int64_t u = first; inside && u < last; u++)
                to[u] = (double)row[(left + u) * channels] - pivot;
        }
    }
}

void tm_f32_patch_sums(const tm_f32_patch *p, int64_t x, int64_t y, tm_f32_block *block)
{
    const tm_template *t = p->job->tmpl;
    const tm_metric metric = p->job->metric;
    const bool centred = tm_needs_s_f(metric);
    const tm_f32_view view = {.samples = p->samples + (y - p->y) * p->stride + (x - p->x),
                              .stride = (ptrdiff_t)p->stride,
                              .plane = (ptrdiff_t)(p->rows * p->stride),
                              .taps = centred ? t->f32->taps : t->f32->samples,
                              .mask = t->mask,
                              .w = t->width,
                              .h = t->height,
                              .channels = t->channels,
                              .distance = tm_is_distance(metric),
                              .sums = centred,
                              .squares = tm_f32_needs_s_ff(metric),
                              .columns = p->columns};
    p->block(&view, block);
}

void tm_f32_patch_values(const tm_f32_patch *p, const tm_f32_block *b, int64_t x, int64_t y,
                         int first, int count, tm_value *values)
{
    const tm_f32_scorer scorer = p->scorer; /* a copy, which nothing written here can change */

    for (int i = first; i < first + count; i++) {
        tm_f32_sums sums = {.products = b->products[i], .s_ff = b->s_ff[i]};
        double score;
        for (int c = 0; c < scorer.channels; c++)
            tm_f32_centre(&scorer, &sums, c, b->s_f[c][i]);
        if (!tm_f32_score_of(&scorer, &sums, &score))
            score = tm_f32_window(p->job, x + i, y);
        values[i] = tm_f32_value(scorer.metric, score);
    }
}
