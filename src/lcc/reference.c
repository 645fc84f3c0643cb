/* SPDX-License-Identifier: MIT */
/* The oracle. It follows the definition word by word and is never optimised. */
#include "lcc/lcc.h"

static int64_t sample(const tm_image *frame, int64_t x, int64_t y)
{
    if (x < 0 || y < 0 || x >= frame->width || y >= frame->height)
        return 0;
    return frame->samples[y * frame->stride + x];
}

void tm_reference_match(tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;

    job->best = (tm_candidate)TM_NO_CANDIDATE;
    for (int64_t y = 0; y < g->map_height; y++) {
        for (int64_t x = 0; x < g->map_width; x++) {
            int64_t s_f = 0, s_ff = 0, s_ft = 0;
            for (int64_t v = 0; v < t->height; v++) {
                for (int64_t u = 0; u < t->width; u++) {
                    int64_t f = sample(&job->frame, x - g->pad_x + u, y - g->pad_y + v);
                    s_f += f;
                    s_ff += f * f;
                    s_ft += f * t->samples[v * t->width + u];
                }
            }
            tm_candidate candidate = tm_job_emit(job, x, y, s_f, s_ff, s_ft);
            if (tm_candidate_beats(candidate, job->best))
                job->best = candidate;
        }
    }
}
