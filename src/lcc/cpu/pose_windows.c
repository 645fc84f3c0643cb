/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/pose_windows.h"

#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/pose_scores.h"
#include "lcc/threads.h"

typedef struct scoring {
    tm_pose_run run; /* of which the windows of 8-bit gray need a little */
    const tm_image *frame;
    tm_metric metric;
    tm_domain domain;
    tm_memory *taps; /* of each thread */
} scoring;

/* Takes what kernels can take: 8-bit gray where not even a row is too long for a product in 32 bits. */
static bool has_kernels(const tm_image *frame, const tm_template *t)
{
    return tm_image_is_plain(frame) && t->type == TM_SAMPLE_U8 && t->channels == 1 &&
           round_up(t->width, TM_POSE_STRIDE) <= TM_POSE_PIXELS;
}

/* Makes the template's taps in the thread's memory; false if that ran out. */
static bool make_member(const scoring *s, int thread, const tm_pose_windows_of *w, tm_pose_member *member)
{
    const tm_template *t = w->tmpl;
    const int64_t stride = round_up(t->width, TM_POSE_STRIDE);
    tm_memory *memory = &s->taps[thread];

    if (!tm_memory_fit(memory, (size_t)(2 * stride * t->height)))
        return false;
    const tm_posed posed = {.width = t->width, .height = t->height, .samples = t->samples, .mask = t->mask};
    tm_pose_member_fill(member, &posed, memory->data);
    member->pose = (int64_t)w->pose;
    member->pixels = t->count;
    member->scorer = tm_scorer_make(t, s->metric);
    return true;
}

static void keep(tm_pose_windows_of *w, const tm_pose_peak *peak)
{
    w->scored++;
    if (tm_pose_peak_beats(peak, &w->best))
        w->best = *peak;
}

static bool score_by_kernels(const scoring *s, int thread, tm_pose_windows_of *w, const tm_geometry *g)
{
    tm_pose_member member;

    if (!make_member(s, thread, w, &member))
        return false;
    for (int64_t y = larger(w->y, -g->pad_y); y < smaller(w->y + w->down, g->map_height - g->pad_y); y++) {
        for (int64_t x = larger(w->x, -g->pad_x); x < smaller(w->x + w->across, g->map_width - g->pad_x); x++) {
            const tm_pose_peak peak = tm_pose_score(&s->run, thread, &member, x, y);
            if (peak.pose == SIZE_MAX)
                return false;
            keep(w, &peak);
        }
    }
    return true;
}

static void score_by_definition(const scoring *s, tm_pose_windows_of *w, const tm_geometry *g)
{
    const tm_job job = {.geometry = *g, .metric = s->metric, .frame = *s->frame, .tmpl = w->tmpl};

    for (int64_t y = larger(w->y, -g->pad_y); y < smaller(w->y + w->down, g->map_height - g->pad_y); y++) {
        for (int64_t x = larger(w->x, -g->pad_x); x < smaller(w->x + w->across, g->map_width - g->pad_x); x++) {
            const tm_candidate c = tm_reference_window(&job, x + g->pad_x, y + g->pad_y);
            const tm_pose_peak peak = {.value = c.value,
                                       .y = 2 * y + w->tmpl->height - 1,
                                       .x = 2 * x + w->tmpl->width - 1,
                                       .pose = w->pose};
            if (c.position != INT64_MAX)
                keep(w, &peak);
        }
    }
}

static bool score(const scoring *s, int thread, tm_pose_windows_of *w)
{
    const tm_template *t = w->tmpl;
    tm_geometry g;

    w->best = (tm_pose_peak)TM_NO_POSE_PEAK;
    w->scored = 0;
    if (!t || tm_geometry_init(&g, s->domain, s->frame->width, s->frame->height, t->width, t->height) != TM_OK)
        return true;
    if (has_kernels(s->frame, t))
        return score_by_kernels(s, thread, w, &g);
    score_by_definition(s, w, &g);
    return true;
}

tm_status tm_cpu_score_pose_windows(tm_cpu *cpu, const tm_image *frame, tm_metric metric, tm_domain domain,
                                    tm_pose_windows_of *list, size_t count)
{
    tm_pose_search search = {.frame = frame, .domain = domain};
    scoring s = {.run = {.cpu = cpu, .search = &search}, .frame = frame, .metric = metric, .domain = domain};
    const size_t threads = (size_t)cpu->threads;
    bool failed = false;

    s.run.windows = calloc(threads, sizeof *s.run.windows);
    s.taps = calloc(threads, sizeof *s.taps);
    failed = !s.run.windows || !s.taps;
    const int team = cpu->threads > 1 && count > 1 && !failed ? tm_team_size((int)smaller(cpu->threads, (int64_t)count)) : 1;
#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = 0; i < (failed ? 0 : count); i++) {
        if (!score(&s, omp_get_thread_num(), &list[i])) {
#pragma omp atomic write
            failed = true;
        }
    }
    for (size_t i = 0; i < threads; i++) {
        if (s.run.windows)
            tm_memory_free(&s.run.windows[i]);
        if (s.taps)
            tm_memory_free(&s.taps[i]);
    }
    free(s.run.windows);
    free(s.taps);
    return failed ? TM_ERR_MEMORY : TM_OK;
}
