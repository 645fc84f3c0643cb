/* SPDX-License-Identifier: MIT */
#include "f32_problem.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "lcc/f32.h"
#include "pictures.h"

void f32_problem_make(f32_problem *p, const int64_t size[4])
{
    const int64_t w = size[2], h = size[3], width = size[0] + w - 1, height = size[1] + h - 1;
    const int channels = check_random() % 3 ? 1 : (int)check_random_in(2, 4);
    const picture_f32_content content = picture_f32_random_content();

    *p = (f32_problem){0};
    p->memory[0] = picture_make_f32(&p->frame, width, height, channels, content);
    p->memory[1] = picture_make_f32(&p->tmpl, w, h, channels,
                                check_random() % 4 ? content : picture_f32_random_content());
    const int64_t x = check_random_in(0, width - w), y = check_random_in(0, height - h);
    for (int64_t v = 0; v < h && check_random() % 8; v++) /* mostly a part of the frame */
        memcpy(p->memory[1] + v * w * channels, p->memory[0] + ((y + v) * width + x) * channels,
               (size_t)(w * channels) * sizeof(float));
    if (check_random() % 3 == 0)
        p->masks[0] = picture_mask_out(&p->tmpl, 3);
    if (check_random() % 6 == 0)
        p->masks[1] = picture_mask_out(&p->frame, 100);
}

void f32_random_size(int64_t size[4])
{
    const bool large = check_random() % 16 == 0;
    for (int i = 0; i < 2; i++) {
        size[2 + i] = check_random_in(1, large ? 40 : 12);
        size[i] = check_random_in(1, large ? 13 : i ? 31 : 161);
    }
}

void f32_problem_free(f32_problem *p)
{
    for (int i = 0; i < 2; i++) {
        free(p->memory[i]);
        free(p->masks[i]);
    }
}

double f32_check_map(const f32_problem *p, const tm_settings *s, const float *map,
                        const tm_peak *best, int64_t step)
{
    tm_template *t;
    CHECK_EQ(tm_template_prepare(&t, &p->tmpl), TM_OK);
    tm_job job = {.metric = s->metric, .frame = p->frame, .tmpl = t};
    const tm_geometry *g = &job.geometry;
    CHECK_EQ(tm_geometry_init(&job.geometry, s->domain, p->frame.width, p->frame.height,
                              p->tmpl.width, p->tmpl.height),
             TM_OK);
    double worst = 0;
    int64_t first = -1;
    for (int64_t i = 0; i < g->map_width * g->map_height; i++) {
        CHECK(isfinite(map[i]) && !(map[i] == 0 && signbit(map[i])));
        if (first < 0 || (tm_is_distance(job.metric) ? map[i] < map[first] : map[i] > map[first]))
            first = i;
        if (i % step)
            continue;
        const tm_truth truth = tm_reference_truth(&job, i % g->map_width, i / g->map_width);
        CHECK_EQ(truth.skipped, map[i] == tm_skipped_value(job.metric).score);
        if (truth.skipped)
            continue;
        if (fabsl(truth.score) > (long double)nextafterf(FLT_MAX, 0)) {
            CHECK(fabsf(map[i]) > 0.999f * FLT_MAX);
            continue;
        }
        const double error = (double)fabsl((long double)map[i] - truth.score);
        const double bound = tm_f32_bound(job.metric, &truth);
        if (error > bound)
            check_fail(__FILE__, __LINE__, "%s at %" PRId64 ": %.9g, truth %.12Lg, %.3g of %.3g",
                       tm_metric_name(s->metric), i, (double)map[i], truth.score, error, bound);
        worst = fmax(worst, error / bound);
    }
    CHECK(first >= 0);
    CHECK_EQ(best->x, first % g->map_width - g->pad_x);
    CHECK_EQ(best->y, first / g->map_width - g->pad_y);
    CHECK((float)best->score == map[first]);
    tm_template_destroy(&t);
    return worst;
}
