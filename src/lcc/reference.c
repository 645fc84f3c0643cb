/* SPDX-License-Identifier: MIT */
/* The oracle. It follows the definition word by word and is never optimised. */
#include "lcc/peak_scan.h"
#include "lcc/f32.h"

static int64_t sample(const tm_image *frame, int64_t x, int64_t y, int channel)
{
    if (x < 0 || y < 0 || x >= frame->width || y >= frame->height)
        return 0;
    const uint8_t *row = frame->samples + y * frame->stride;
    int64_t i = x * tm_image_channels(frame) + channel;
    return frame->type == TM_SAMPLE_U16 ? ((const uint16_t *)(const void *)row)[i] : row[i];
}

static int64_t template_sample(const tm_template *t, int64_t x, int64_t y, int channel)
{
    int64_t i = (y * t->width + x) * t->channels + channel;
    return t->type == TM_SAMPLE_U16 ? ((const uint16_t *)(const void *)t->samples)[i]
                                    : t->samples[i];
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

static void match(tm_job *job, tm_peak_scan *scan)
{
    const tm_geometry *g = &job->geometry;

    job->best = (tm_candidate)TM_NO_CANDIDATE;
    for (int64_t y = 0; y < g->map_height; y++) {
        const tm_job *target = scan ? tm_peak_scan_row(scan) : job;
        for (int64_t x = 0; x < g->map_width; x++) {
            tm_candidate candidate = tm_reference_window(target, x, y);
            if (tm_candidate_beats(candidate, job->best))
                job->best = candidate;
        }
        if (scan)
            tm_peak_scan_row_done(scan);
    }
}

tm_status tm_reference_match(tm_job *job)
{
    tm_peak_grid grid;
    tm_peak_scan scan = {0};
    bool good;

    if (!job->peaks) {
        match(job, NULL);
        return TM_OK;
    }
    good = tm_peak_grid_init(&grid, job, 1, 1);
    if (good) {
        grid.x.at[0] = grid.y.at[0] = 0;
        grid.x.at[1] = job->geometry.map_width;
        grid.y.at[1] = job->geometry.map_height;
        good = tm_peak_scan_begin(&scan, &grid, 0, 0);
    }
    if (good)
        match(job, &scan);
    good = good && tm_peak_grid_finish(&grid);
    tm_peak_scan_free(&scan);
    tm_peak_grid_free(&grid);
    return good ? TM_OK : TM_ERR_MEMORY;
}
