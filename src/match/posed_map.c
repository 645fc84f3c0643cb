/* SPDX-License-Identifier: MIT */
/* The best scores of all poses, at the pixels that their centres are in. */
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "integers.h"
#include "match/forked.h"
#include "match/poses.h"
#include "match/settings.h"

/* Poses whose maps are made together, and are in memory at a time. */
enum { MOST_TOGETHER = 8 };

typedef struct map_call {
    tm_matcher *matcher;
    const tm_image *frame;
    const tm_posed_template *tmpl;
    tm_map map;
    size_t element;
    bool least_is_best;
    bool some; /* a pose was matched */
    bool any;  /* a position has a score */
} map_call;

static bool is_better(const map_call *c, const char *value, const char *than)
{
    if (c->element == sizeof(float)) {
        float a, b;
        memcpy(&a, value, sizeof a);
        memcpy(&b, than, sizeof b);
        return c->least_is_best ? a < b : a > b;
    }
    int64_t a, b;
    memcpy(&a, value, sizeof a);
    memcpy(&b, than, sizeof b);
    return c->least_is_best ? a < b : a > b;
}

/* Where a job's first position has its centre: the pixel that is there, or half a pixel before. */
static int64_t first_center(int64_t pad, int64_t size)
{
    return floor_div(size - 1 - 2 * pad, 2);
}

static void merge(map_call *c, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const int64_t left = first_center(g->pad_x, g->template_width);
    const int64_t top = first_center(g->pad_y, g->template_height);
    const int64_t from = larger(0, -left), to = smaller(g->map_width, c->frame->width - left);

    for (int64_t y = larger(0, -top); y < smaller(g->map_height, c->frame->height - top); y++) {
        const char *row = (const char *)job->map.data + y * job->map.stride;
        char *best = (char *)c->map.data + (top + y) * c->map.stride + left * (int64_t)c->element;
        for (int64_t x = from; x < to; x++) {
            const int64_t at = x * (int64_t)c->element;
            if (is_better(c, row + at, best + at))
                memcpy(best + at, row + at, c->element);
        }
    }
    c->any = c->any || job->best.position != INT64_MAX;
}

static tm_status run_jobs(map_call *c, const tm_template *const *tmpls, size_t count)
{
    char *maps[MOST_TOGETHER] = {NULL};
    tm_job *jobs;

    tm_status status = tm_matcher_add_jobs(c->matcher, c->frame, tmpls, count, &jobs);
    if (status != TM_OK)
        return status;
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        const int64_t stride = jobs[i].geometry.map_width * (int64_t)c->element;
        maps[i] = malloc((size_t)(stride * jobs[i].geometry.map_height));
        jobs[i].map = (tm_map){.data = maps[i], .stride = (ptrdiff_t)stride};
        if (!maps[i])
            status = tm_matcher_fail_plain(c->matcher, TM_ERR_MEMORY);
    }
    if (status == TM_OK)
        status = tm_matcher_run_more(c->matcher, jobs, count);
    for (size_t i = 0; i < count && status == TM_OK; i++)
        merge(c, &jobs[i]);
    for (size_t i = 0; i < count; i++)
        free(maps[i]);
    return status;
}

static tm_status map_group(map_call *c, size_t first, size_t count)
{
    const tm_template *tmpls[MOST_TOGETHER];
    tm_status status;

    const size_t used = tm_posed_list(c->tmpl, c->frame, first, count, tmpls, NULL, &status);
    if (status != TM_OK)
        return tm_matcher_fail_plain(c->matcher, status);
    if (used) {
        c->some = true;
        status = run_jobs(c, tmpls, used);
    }
    tm_posed_release(c->tmpl, first, count);
    return status;
}

static tm_status check_map(const map_call *c)
{
    const char *fault = c->map.data
                            ? tm_map_fault(&c->map, c->frame->width, c->frame->height, c->element)
                            : "there is no map to write to";
    return fault ? tm_matcher_fail(c->matcher, TM_ERR_INVALID, "%s", fault) : TM_OK;
}

/* As if no position had a score. */
static void clear(const map_call *c)
{
    char skipped[sizeof(int64_t)];

    tm_map_skipped(c->matcher->settings.metric, skipped);
    for (int64_t y = 0; y < c->frame->height; y++)
        for (int64_t x = 0; x < c->frame->width; x++)
            memcpy((char *)c->map.data + y * c->map.stride + x * (int64_t)c->element, skipped,
                   c->element);
}

static tm_status map_poses(void *context)
{
    map_call *c = context;
    tm_matcher *m = c->matcher;
    const double start = clock_ms();

    tm_status status = tm_matcher_begin(m, c->frame);
    if (status == TM_OK)
        status = tm_matcher_compare_kinds(m, c->frame, c->tmpl->image.type, c->tmpl->image.channels);
    if (status == TM_OK)
        status = check_map(c);
    if (status == TM_OK)
        clear(c);
    m->certified = false;
    m->pose_fault = "a map has all scores";
    for (size_t i = 0; i < c->tmpl->count && status == TM_OK; i += MOST_TOGETHER)
        status = map_group(c, i, (size_t)smaller(MOST_TOGETHER, (int64_t)(c->tmpl->count - i)));
    if (status == TM_OK && !c->some)
        status = tm_poses_fail_too_large(m, c->frame);
    if (status == TM_OK)
        tm_poses_say(m, c->tmpl->count);
    if (status == TM_OK && !c->any)
        status = tm_matcher_fail_plain(m, TM_ERR_NO_POSITION);
    m->times.total = clock_ms() - start;
    return status;
}

tm_status tm_map_posed(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl,
                       const tm_map *map)
{
    if (!matcher)
        return TM_ERR_INVALID;
    if (!tmpl || !map)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    if (matcher->settings.strategy == TM_STRATEGY_PYRAMID)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "pyramid search scores few positions, and makes no map");
    const tm_metric metric = matcher->settings.metric;
    map_call c = {.matcher = matcher,
                  .frame = frame,
                  .tmpl = tmpl,
                  .map = *map,
                  .element = tm_map_element_size(metric),
                  .least_is_best = tm_metric_is_distance(metric)};
    return tm_run_forked(matcher, map_poses, &c);
}
