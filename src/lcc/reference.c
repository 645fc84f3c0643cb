/* SPDX-License-Identifier: MIT */
/* The oracle. It follows the definition word by word and is never optimised. */
#include "lcc/f32.h"
#include "lcc/peak_scan.h"
#include "lcc/tiles.h"

static int64_t sample(const tm_image *frame, int64_t x, int64_t y, int channel)
{
    if (x < 0 || y < 0 || x >= frame->width || y >= frame->height)
        return 0;
    const uint8_t *row = frame->samples + y * frame->stride;
    int64_t i = x * tm_image_channels(frame) + channel;
    return tm_sample_at(row, i, frame->type);
}

static int64_t template_sample(const tm_template *t, int64_t x, int64_t y, int channel)
{
    int64_t i = (y * t->width + x) * t->channels + channel;
    return tm_sample_at(t->samples, i, t->type);
}

static bool masked_out(const tm_image *frame, int64_t x, int64_t y)
{
    return frame->mask && x >= 0 && y >= 0 && x < frame->width && y < frame->height &&
           frame->mask[y * frame->mask_stride + x] == 0;
}

tm_candidate tm_reference_window(const tm_job *job, int64_t x, int64_t y)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    if (t->f32) {
        const tm_value value = tm_reference_f32(job, x, y);
        tm_job_store(job, x, y, &value);
        return (tm_candidate){value.rank,
                              value.rank == INT64_MIN ? INT64_MAX : y * g->map_width + x};
    }
    const tm_scorer scorer = tm_scorer_make(t, job->metric);
    tm_sums sums = {0};
    bool skipped = false;

    for (int64_t v = 0; v < t->height; v++) {
        for (int64_t u = 0; u < t->width; u++) {
            int64_t frame_x = x - g->pad_x + u, frame_y = y - g->pad_y + v;
            if (t->mask && !t->mask[v * t->width + u])
                continue;
            skipped |= masked_out(&job->frame, frame_x, frame_y);
            for (int c = 0; c < t->channels; c++) {
                int64_t f = sample(&job->frame, frame_x, frame_y, c);
                sums.s_f[c] += f;
                sums.s_ff += f * f;
                sums.s_ft += f * template_sample(t, u, v, c);
            }
        }
    }
    tm_value value = skipped ? tm_skipped_value(job->metric) : tm_score_of(&scorer, &sums);
    tm_job_store(job, x, y, &value);
    return (tm_candidate){value.rank, skipped ? INT64_MAX : y * g->map_width + x};
}

static void *begin(void *context, int thread)
{
    (void)thread;
    return context;
}

static void match(void *context, void *memory, const tm_tile *tile, tm_candidate *best)
{
    const tm_job *job = context;

    (void)memory;
    for (int64_t y = 0; y < tile->height; y++) {
        const tm_job *target = tile->scan ? tm_peak_scan_row(tile->scan) : job;
        for (int64_t x = 0; x < tile->width; x++) {
            tm_candidate candidate = tm_reference_window(target, x, y);
            if (tm_candidate_beats(candidate, *best))
                *best = candidate;
        }
        if (tile->scan)
            tm_peak_scan_row_done(tile->scan);
    }
}

/* One tile on one thread. */
tm_status tm_reference_match(tm_job *job)
{
    const tm_tiles tiles = {.across = 1,
                            .down = 1,
                            .width = job->geometry.map_width,
                            .height = job->geometry.map_height};
    return tm_tiles_match(job, &tiles, 1,
                          &(tm_tile_work){.context = job, .begin = begin, .match = match});
}
