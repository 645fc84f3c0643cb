/* SPDX-License-Identifier: MIT */
/* The public API: templates, and whole frames matched with them. What callers give is checked and
 * becomes jobs, which run.c runs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "integers.h"
#include "lcc/f32.h"
#include "lcc/threads.h"
#include "match/forked.h"
#include "match/matcher.h"
#include "match/settings.h"

bool tm_template_is_flat(const tm_template *t, tm_metric metric)
{
    return t->count == 0 || (t->flat && tm_needs_s_f(metric));
}

/* Whether the samples, if they are floats, are finite. One core alone would take longer to read a
 * large frame than a match takes. */
static bool is_finite(const tm_image *image, int threads)
{
    const int64_t least = 1 << 20, bytes = image->height * tm_image_row_bytes(image);
    const int64_t bands = clamp(bytes / least, 1, smaller(threads, image->height));
    bool finite = true;

    if (!tm_sample_is_float(image->type))
        return true;
    const int team = tm_team_size((int)bands);
#pragma omp parallel for num_threads(team) reduction(&& : finite)
    for (int64_t i = 0; i < bands; i++)
        finite = finite && tm_f32_is_finite(image, image->height * i / bands,
                                            image->height * (i + 1) / bands);
    return finite;
}

/* Refuses samples that no score is defined for, and says where the first one is. */
static tm_status check_finite(tm_matcher *m, const tm_image *image, const char *name, int threads)
{
    int64_t i = 0, y = 0;

    if (is_finite(image, threads))
        return TM_OK;
    while (tm_f32_is_finite(image, y, y + 1))
        y++;
    const float *row = tm_f32_row(image, y);
    while (isfinite(row[i]))
        i++;
    return tm_matcher_fail(m, TM_ERR_INVALID,
                           "the %s has the sample %s at x=%lld y=%lld, and only finite "
                           "ones have a score",
                           name,
                           isnan(row[i]) ? "nan"
                           : row[i] > 0  ? "inf"
                                         : "-inf",
                           (long long)(i / tm_image_channels(image)), (long long)y);
}

tm_status tm_template_pixels(tm_matcher *m, const tm_image *image)
{
    if (image->width * image->height <= TM_MAX_TEMPLATE_PIXELS)
        return TM_OK;
    return tm_matcher_fail(
        m, TM_ERR_TEMPLATE_TOO_LARGE,
        "the template has %lld x %lld pixels, and exact 64-bit sums allow %lld in all",
        (long long)image->width, (long long)image->height, (long long)TM_MAX_TEMPLATE_PIXELS);
}

tm_status tm_template_create(tm_template **tmpl, tm_matcher *matcher, const tm_image *image)
{
    if (!tmpl || !matcher)
        return TM_ERR_INVALID;
    const char *fault = tm_image_fault(image);
    if (fault)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "%s", fault);

    tm_template *t;
    tm_status status = tm_template_pixels(matcher, image);
    if (status == TM_OK)
        status = check_finite(matcher, image, "template", 1);
    if (status != TM_OK)
        return status;
    status = tm_template_prepare(&t, image);
    if (status == TM_OK && tm_template_is_flat(t, matcher->settings.metric)) {
        tm_template_destroy(&t);
        status = TM_ERR_FLAT_TEMPLATE;
    }
    if (status != TM_OK)
        return tm_matcher_fail_plain(matcher, status);
    *tmpl = t;
    return TM_OK;
}

tm_status tm_matcher_compare_kinds(tm_matcher *m, const tm_image *frame, tm_sample_type type,
                                   int channels)
{
    if (frame->type == type && tm_image_channels(frame) == channels)
        return TM_OK;
    return tm_matcher_fail(
        m, TM_ERR_INVALID, "the frame has %s samples and %d channel%s, the template %s and %d",
        tm_sample_type_name(frame->type), tm_image_channels(frame),
        tm_image_channels(frame) == 1 ? "" : "s", tm_sample_type_name(type), channels);
}

static tm_status prepare_job(tm_matcher *m, tm_job *job, const tm_image *frame,
                             const tm_template *tmpl, const tm_map *map)
{
    if (!tmpl)
        return tm_matcher_fail_plain(m, TM_ERR_INVALID);
    if (tm_template_is_flat(tmpl, m->settings.metric))
        return tm_matcher_fail_plain(m, TM_ERR_FLAT_TEMPLATE);
    if (tm_matcher_compare_kinds(m, frame, tmpl->type, tmpl->channels) != TM_OK)
        return TM_ERR_INVALID;
    *job = (tm_job){.metric = m->settings.metric, .frame = *frame, .on_device = m->on_device, .tmpl = tmpl};
    if (map)
        job->map = *map;
    tm_status status = tm_geometry_init(&job->geometry, m->settings.domain, frame->width,
                                        frame->height, tmpl->width, tmpl->height);
    job->last_row = job->geometry.map_height;
    if (status != TM_OK)
        return tm_matcher_fail(m, status,
                               "the template, %lld x %lld, is larger than the frame, %lld x %lld",
                               (long long)tmpl->width, (long long)tmpl->height,
                               (long long)frame->width, (long long)frame->height);
    const char *fault = tm_map_fault(&job->map, job->geometry.map_width, job->geometry.map_height,
                                     tm_job_element(job));
    return fault ? tm_matcher_fail(m, TM_ERR_INVALID, "%s", fault) : TM_OK;
}

tm_peak tm_peak_of_job(const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    return (tm_peak){.x = job->best.position % g->map_width - g->pad_x,
                     .y = job->best.position / g->map_width - g->pad_y,
                     .score = tm_job_score(job, job->best.value)};
}

/* What lies in a device's memory was checked before, but for its samples, which the device checks. */
static tm_status check_frame(tm_matcher *m, const tm_image *frame)
{
    if (m->on_device)
        return TM_OK;
    const char *fault = tm_image_fault(frame);
    if (fault)
        return tm_matcher_fail(m, TM_ERR_INVALID, "%s", fault);
    return check_finite(m, frame, "frame", tm_matcher_threads(m));
}

static tm_status make_jobs(tm_matcher *m, const tm_image *frame, const tm_template *const *tmpls,
                           size_t count, const tm_map *maps)
{
    if (m->job_capacity < count) {
        tm_job *room = realloc(m->jobs, count * sizeof *room);
        if (!room)
            return tm_matcher_fail_plain(m, TM_ERR_MEMORY);
        m->jobs = room;
        m->job_capacity = count;
    }
    for (size_t i = 0; i < count; i++) {
        tm_status status = prepare_job(m, &m->jobs[i], frame, tmpls[i], maps ? &maps[i] : NULL);
        if (status != TM_OK)
            return status;
    }
    return TM_OK;
}

static void forget_call(tm_matcher *m)
{
    m->certified = m->pyramid = false;
    m->windows = m->scored = 0;
    m->fft_bytes = (m->settings.host_memory + 3) / 4;
    m->times = (tm_times){0};
    m->warning.text[0] = '\0';
    m->on_pool = false;
}

static tm_job *count_windows(tm_matcher *m, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const tm_geometry *g = &m->jobs[i].geometry;
        m->windows += g->map_width * g->map_height;
    }
    return m->jobs;
}

tm_status tm_matcher_prepare(tm_matcher *matcher, const tm_image *frame,
                             const tm_template *const *tmpls, size_t count, const tm_map *maps,
                             tm_job **jobs)
{
    if (!tmpls || count == 0 || count > SIZE_MAX / sizeof *matcher->jobs)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    if (matcher->settings.strategy == TM_STRATEGY_PYRAMID)
        return tm_matcher_fail(matcher, TM_ERR_INVALID, "pyramid search is for templates in poses");
    tm_status status = check_frame(matcher, frame);
    if (status == TM_OK)
        status = make_jobs(matcher, frame, tmpls, count, maps);
    if (status != TM_OK)
        return status;
    forget_call(matcher);
    *jobs = count_windows(matcher, count);
    return TM_OK;
}

tm_status tm_matcher_begin(tm_matcher *matcher, const tm_image *frame)
{
    const tm_status status = check_frame(matcher, frame);
    if (status == TM_OK)
        forget_call(matcher);
    return status;
}

tm_status tm_matcher_add_jobs(tm_matcher *matcher, const tm_image *frame,
                              const tm_template *const *tmpls, size_t count, tm_job **jobs)
{
    const tm_status status = make_jobs(matcher, frame, tmpls, count, NULL);
    if (status == TM_OK)
        *jobs = count_windows(matcher, count);
    return status;
}

typedef struct best_call {
    tm_matcher *matcher;
    const tm_image *frame;
    const tm_template *const *tmpls;
    size_t count;
    const tm_map *maps;
    tm_peak *best;
} best_call;

static tm_status find_best(void *context)
{
    const best_call *c = context;
    tm_matcher *matcher = c->matcher;
    const double start = clock_ms();

    tm_job *jobs;
    tm_status status = tm_matcher_prepare(matcher, c->frame, c->tmpls, c->count, c->maps, &jobs);
    if (status == TM_OK)
        status = tm_matcher_run(matcher, jobs, c->count);
    if (status != TM_OK)
        return status;
    for (size_t i = 0; i < c->count; i++) {
        if (jobs[i].best.position == INT64_MAX)
            return tm_matcher_fail_plain(matcher, TM_ERR_NO_POSITION);
        c->best[i] = tm_peak_of_job(&jobs[i]);
    }
    matcher->times.total = clock_ms() - start;
    return TM_OK;
}

tm_status tm_match_many(tm_matcher *matcher, const tm_image *frame, const tm_template *const *tmpls,
                        size_t count, tm_peak *best, const tm_map *maps)
{
    if (!matcher)
        return TM_ERR_INVALID;
    if (!best)
        return tm_matcher_fail_plain(matcher, TM_ERR_INVALID);
    best_call c = {matcher, frame, tmpls, count, maps, best};
    return tm_run_forked(matcher, find_best, &c);
}

tm_status tm_match(tm_matcher *matcher, const tm_image *frame, const tm_template *tmpl,
                   tm_peak *best, const tm_map *map)
{
    return tm_match_many(matcher, frame, &tmpl, 1, best, map);
}
