/* SPDX-License-Identifier: MIT */
/* Exhaustively: poses in groups, each pose a template. */
#include <stdlib.h>
#include <string.h>

#include "match/poses.h"

/* Poses that are matched together: a device reads the frame once for those of one size. */
enum { MOST_GROUPED = 64 };

enum { FIRST_ROOM = 256 };

/* The best of the peaks that were put in, and perhaps more. */
typedef struct peak_pile {
    tm_pose_peak *items;
    size_t count, room, most;
    bool more;
    bool trimmed; /* the first most are sorted, and worse ones are not wanted */
} peak_pile;

typedef struct exhaustive {
    tm_matcher *matcher;
    const tm_image *frame;
    const tm_posed_template *tmpl;
    const tm_peak_search *search; /* NULL: the best alone */
    peak_pile above, below;
    tm_pose_peak best;
    bool some; /* a pose was matched */
} exhaustive;

static void trim(peak_pile *h)
{
    if (h->count)
        qsort(h->items, h->count, sizeof *h->items, tm_pose_peak_by_rank);
    if (h->count > h->most) {
        h->count = h->most;
        h->more = true;
    }
}

static bool make_room(peak_pile *h, size_t room)
{
    tm_pose_peak *items = room > h->room ? realloc(h->items, room * sizeof *items) : h->items;
    if (!items)
        return room == 0;
    h->items = items;
    h->room = room > h->room ? room : h->room;
    return true;
}

/* Half of the room is free after a trim. */
static bool put(peak_pile *h, const tm_pose_peak *peak)
{
    if (h->trimmed && !tm_pose_peak_beats(peak, &h->items[h->most - 1]))
        return true;
    if (h->count == h->room && h->count && h->count / 2 >= h->most) {
        trim(h);
        h->trimmed = true;
    } else if (h->count == h->room && !make_room(h, h->room ? 2 * h->room : FIRST_ROOM)) {
        return false;
    }
    h->items[h->count++] = *peak;
    return true;
}

static tm_pose_peak place(const tm_job *job, tm_candidate c, size_t pose)
{
    const tm_geometry *g = &job->geometry;
    return (tm_pose_peak){
        .value = c.value,
        .y = 2 * (c.position / g->map_width - g->pad_y) + g->template_height - 1,
        .x = 2 * (c.position % g->map_width - g->pad_x) + g->template_width - 1,
        .pose = pose};
}

static tm_status take_peaks(exhaustive *e, const tm_job *job, size_t pose)
{
    tm_peak_list *list = job->peaks;

    if (!tm_peak_list_finish(list))
        return TM_ERR_MEMORY;
    for (size_t i = 0; i < list->above.count; i++) {
        const tm_pose_peak peak = place(job, list->above.items[i], pose);
        if (!put(peak.value >= list->search.floor ? &e->above : &e->below, &peak))
            return TM_ERR_MEMORY;
    }
    e->above.more = e->above.more || list->above.more;
    e->below.more = e->below.more || list->below.more;
    return TM_OK;
}

static tm_status take(exhaustive *e, const tm_job *job, size_t pose)
{
    if (job->best.position == INT64_MAX)
        return TM_OK;
    const tm_pose_peak best = place(job, job->best, pose);
    if (tm_pose_peak_beats(&best, &e->best))
        e->best = best;
    return job->peaks ? take_peaks(e, job, pose) : TM_OK;
}

/* Poses of a group that are matched. */
typedef struct group {
    const tm_template *tmpls[MOST_GROUPED];
    size_t poses[MOST_GROUPED];
    tm_peak_list lists[MOST_GROUPED];
    size_t count;
} group;

static tm_status run_group(exhaustive *e, group *g)
{
    tm_matcher *m = e->matcher;
    tm_job *jobs;

    tm_status status = tm_matcher_add_jobs(m, e->frame, g->tmpls, g->count, &jobs);
    if (status != TM_OK)
        return status;
    for (size_t i = 0; e->search && i < g->count; i++) {
        tm_peak_list_init(&g->lists[i], e->search);
        jobs[i].peaks = &g->lists[i];
    }
    status = tm_matcher_run_more(m, jobs, g->count);
    for (size_t i = 0; i < g->count && status == TM_OK; i++) {
        status = take(e, &jobs[i], g->poses[i]);
        if (status != TM_OK)
            tm_matcher_fail_plain(m, status);
    }
    for (size_t i = 0; e->search && i < g->count; i++)
        tm_peak_list_free(&g->lists[i]);
    return status;
}

static tm_status match_group(exhaustive *e, size_t first, size_t count)
{
    group g;
    tm_status status;

    g.count = tm_posed_list(e->tmpl, e->frame, first, count, g.tmpls, g.poses, &status);
    if (status != TM_OK)
        return tm_matcher_fail_plain(e->matcher, status);
    if (g.count) {
        e->some = true;
        status = run_group(e, &g);
    }
    tm_posed_release(e->tmpl, first, count);
    return status;
}

tm_status tm_poses_fail_too_large(tm_matcher *m, const tm_image *frame)
{
    return tm_matcher_fail(m, TM_ERR_FRAME_TOO_SMALL,
                           "the template is larger than the frame, %lld x %lld, in all poses",
                           (long long)frame->width, (long long)frame->height);
}

void tm_poses_say(tm_matcher *m, size_t count)
{
    char last[sizeof m->plan];

    memcpy(last, m->plan, sizeof last);
    m->plan[0] = '\0';
    tm_matcher_say(m, "%zu pose%s exhaustively, ", count, count == 1 ? "" : "s");
    if (m->pose_fault)
        tm_matcher_say(m, "no certified search: %s; ", m->pose_fault);
    const char *estimates = count > 1 ? strstr(last, "; estimates") : NULL;
    if (estimates)
        tm_matcher_say(m, "%.*s; the last pose's %s", (int)(estimates - last), last, estimates + 2);
    else
        tm_matcher_say(m, "%s", last);
}

static tm_status finish(exhaustive *e, tm_pose_peaks *found)
{
    trim(&e->above);
    trim(&e->below);
    *found = (tm_pose_peaks){.best = e->best, .more_above = e->above.more};
    found->whole = !e->above.more && !e->below.more;
    const size_t more = e->above.more ? 0 : e->below.count;
    if (!make_room(&e->above, e->above.count + more))
        return tm_matcher_fail_plain(e->matcher, TM_ERR_MEMORY);
    if (more)
        memcpy(e->above.items + e->above.count, e->below.items, more * sizeof *e->above.items);
    found->items = e->above.items;
    found->count = e->above.count + more;
    e->above.items = NULL;
    return TM_OK;
}

tm_status tm_poses_search(tm_matcher *matcher, const tm_image *frame, const tm_posed_template *tmpl,
                          const tm_peak_search *search, tm_pose_peaks *found)
{
    exhaustive e = {.matcher = matcher,
                    .frame = frame,
                    .tmpl = tmpl,
                    .search = search,
                    .best = TM_NO_POSE_PEAK};
    tm_status status = TM_OK;

    matcher->certified = false;
    matcher->windows = matcher->scored = 0; /* those of what was searched before were in vain */
    e.above.most = search ? search->most : 0;
    e.below.most = search ? search->least : 0;
    for (size_t i = 0; i < tmpl->count && status == TM_OK; i += MOST_GROUPED) {
        const size_t left = tmpl->count - i;
        status = match_group(&e, i, left < MOST_GROUPED ? left : MOST_GROUPED);
    }
    if (status == TM_OK && !e.some)
        status = tm_poses_fail_too_large(matcher, frame);
    if (status == TM_OK)
        status = finish(&e, found);
    if (status == TM_OK)
        tm_poses_say(matcher, tmpl->count);
    free(e.above.items);
    free(e.below.items);
    return status;
}
