/* SPDX-License-Identifier: MIT */
/* From the top of a pyramid down: candidates of a level are where those of the next one climb from. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "cpu/cpu.h"
#include "integers.h"
#include "lcc/reduce.h"
#include "match/pyramid_climb.h"

enum {
    MOST_PEAKS = 1 << 16,     /* of the top that candidates are taken from, */
    MOST_POSITIONS = 1 << 12, /* or positions, peaks or not, where they are found by families, */
    POSITIONS_A_MATCH = 32,   /* and so many more */
    NEAR = 4,                 /* halves of a pixel, and */
    NEAR_POSES = 2,           /* steps of a level: so near to a better candidate another one is left out */
    CANDIDATES = 16,          /* that are followed to the pixels, whatever is wanted, */
    CANDIDATES_A_MATCH = 4,   /* and so many more; */
    WIDENING = 4,             /* so many times as many on each of the levels above, */
    WIDENINGS = 2,            /* the first of them */
    MOST_MATCHES = 1024,      /* that all this is made for */
};

/* A match's score in cells is hardly less than that in pixels by more. */
#define SCORE_GAP 0.25f

static bool is_near(const tm_poses *poses, const tm_pose_peak *a, const tm_pose_peak *b)
{
    const tm_pose_numbers p = tm_poses_numbers(poses, (int64_t)a->pose),
                          q = tm_poses_numbers(poses, (int64_t)b->pose);
    const int64_t turned = llabs(p.angle - q.angle);

    return llabs(a->x - b->x) <= NEAR && llabs(a->y - b->y) <= NEAR && llabs(p.scale - q.scale) <= NEAR_POSES &&
           (turned <= NEAR_POSES || (tm_poses_go_around(poses) && turned >= poses->angles.count - NEAR_POSES));
}

/* Leaves the best candidates, none near a better one; they are sorted. */
static void thin(tm_descent *d, int level, size_t most)
{
    const tm_poses *poses = &tm_descent_template(d, level)->poses;
    size_t count = 0;

    for (size_t i = 0; i < d->count && count < most; i++) {
        bool near = false;
        for (size_t j = 0; j < count && !near; j++)
            near = is_near(poses, &d->items[i], &d->items[j]);
        if (!near)
            d->items[count++] = d->items[i];
    }
    d->count = count;
}

/* As many matches as there may be. */
static size_t matches_of(const tm_descent *d)
{
    const tm_image *frame = &d->frames[0], *image = &d->tmpl->image;
    const double scale = (double)d->tmpl->poses.scales.from / TM_POSE_UNIT;
    const double area = (double)frame->width * (double)frame->height;

    if (d->request->wanted)
        return (size_t)smaller((int64_t)d->request->wanted + d->request->margin, MOST_MATCHES);
    return (size_t)fmin(MOST_MATCHES, 1 + area / ((double)image->width * (double)image->height * scale * scale));
}

/* How many candidates are followed to a level. */
static size_t most_of(const tm_descent *d, int level)
{
    size_t most = CANDIDATES + CANDIDATES_A_MATCH * matches_of(d);
    for (int k = 0; k < level && k < WIDENINGS; k++)
        most *= WIDENING;
    return most;
}

/* Leaves out what scores much less than the matches that are wanted, and than what they are to reach. */
static void drop_low(tm_descent *d)
{
    const tm_pyramid_request *r = d->request;
    const size_t wanted = r->wanted + r->margin, least = CANDIDATES_A_MATCH * (wanted ? wanted : 1);
    int64_t floor = r->margin ? INT64_MIN : r->floor;

    if (d->matcher->settings.metric != TM_METRIC_LCC || d->count <= least)
        return;
    if (wanted) /* several candidates may be of one match */
        floor = larger(floor, d->items[least - 1].value);
    if (floor == INT64_MIN)
        return;
    const int64_t low = tm_score_order(tm_score_of_order((int32_t)floor) - SCORE_GAP);
    while (d->count > least && d->items[d->count - 1].value < low)
        d->count--;
}

static tm_status reduce(tm_descent *d)
{
    tm_status status = TM_OK;
    for (int k = 1; k <= d->pyramid->top && status == TM_OK; k++) {
        const tm_image *before = &d->frames[k - 1];
        if (!before->samples)
            break;
        status = tm_reduce_frame(&d->frames[k], before, tm_matcher_threads(d->matcher));
    }
    return status;
}

static tm_status find_each(tm_descent *d, int top)
{
    const tm_peak_search all = {.floor = INT64_MIN, .most = MOST_PEAKS};
    tm_pose_peaks found = {.items = NULL};
    const tm_status status = tm_poses_search(d->matcher, &d->frames[top], tm_descent_template(d, top), &all, &found);

    d->items = found.items;
    d->count = status == TM_OK ? found.count : 0;
    return status;
}

/* Finds peaks among the best positions by families, of which few are scored; *fault: why they cannot be. */
static tm_status find_by_families(tm_descent *d, int top, const char **fault)
{
    tm_matcher *m = d->matcher;
    const tm_posed_template *t = tm_descent_template(d, top);
    tm_pose_search s = {.image = &t->image,
                        .frame = &d->frames[top],
                        .domain = m->settings.domain,
                        .floor = INT64_MIN,
                        .ceiling = INT64_MAX,
                        .most = MOST_POSITIONS + POSITIONS_A_MATCH * matches_of(d),
                        .best_most = true};

    *fault = tm_poses_certified_fault(m, s.frame, t);
    const tm_status made = *fault ? TM_OK : tm_poses_make_families(t, true, false);
    if (made != TM_OK || *fault)
        return made;
    s.families = t->kept->families[true];
    *fault = s.families->fault;
    if (*fault)
        return TM_OK;
    const tm_status status = tm_cpu_match_poses(m->cpu, &s);
    d->items = s.items;
    d->count = status == TM_OK ? s.count : 0;
    return status;
}

/* Finds candidates at the top, from where they are followed down. */
static tm_status search(tm_descent *d)
{
    const int top = d->pyramid->top;
    const char *fault;

    tm_status status = reduce(d);
    if (status != TM_OK || !d->frames[top].samples)
        return status;
    status = find_by_families(d, top, &fault);
    if (status == TM_OK && fault)
        status = find_each(d, top);
    thin(d, top, most_of(d, top));
    for (int k = top - 1; k >= 0 && status == TM_OK && d->count; k--) {
        status = tm_descent_climb(d, k);
        thin(d, k, most_of(d, k - (k > 0)));
        if (k)
            drop_low(d);
    }
    return status == TM_ERR_FRAME_TOO_SMALL ? TM_OK : status;
}

/* About how many positions all poses have. */
static int64_t positions_of(const tm_descent *d)
{
    const tm_image *frame = &d->frames[0];
    return frame->width * frame->height * (int64_t)d->tmpl->count;
}

static void say(const tm_descent *d)
{
    tm_matcher *m = d->matcher;
    const int top = d->pyramid->top;
    const tm_device_traits traits = tm_cpu_backend()->traits(m->cpu);

    m->algorithm = "direct";
    m->plan[0] = '\0';
    snprintf(m->device, sizeof m->device, "cpu");
    tm_matcher_say(m,
                   "%zu pose%s by a pyramid, which may miss matches: from %zu pose%s in %d x %d cells on, direct on "
                   "cpu, %s kernels, up to %d thread%s",
                   d->tmpl->count, d->tmpl->count == 1 ? "" : "s", tm_descent_template(d, top)->count,
                   tm_descent_template(d, top)->count == 1 ? "" : "s", 1 << top, 1 << top, traits.kernels, traits.threads,
                   traits.threads == 1 ? "" : "s");
}

static tm_status prepare(const tm_posed_template *t)
{
    return t->kept->pyramid ? TM_OK : tm_pyramid_make(&t->kept->pyramid, t);
}

bool tm_poses_descend(tm_matcher *m, const tm_image *frame, const tm_posed_template *t,
                      const tm_pyramid_request *request, tm_pose_peaks *found, tm_status *status)
{
    const double start = clock_ms();

    *status = TM_OK;
    m->pyramid = false;
    if (m->settings.strategy != TM_STRATEGY_PYRAMID)
        return false;
    *status = prepare(t);
    if (*status != TM_OK) {
        tm_matcher_fail_plain(m, *status);
        return true;
    }
    if (!t->kept->pyramid->top)
        return false;
    tm_descent d = {.matcher = m, .tmpl = t, .pyramid = t->kept->pyramid, .request = request, .frames = {*frame}};
    *status = search(&d);
    for (int k = 1; k < TM_PYRAMID_LEVELS; k++)
        tm_reduced_free(&d.frames[k]);
    if (*status != TM_OK)
        tm_matcher_fail_plain(m, *status);
    if (*status != TM_OK || !d.count) {
        free(d.items);
        m->windows = m->scored = 0;
        return *status != TM_OK;
    }
    *found = (tm_pose_peaks){.best = d.items[0], .items = d.items, .count = d.count, .whole = true};
    m->pyramid = true;
    m->windows = positions_of(&d);
    m->scored = d.scored;
    m->times.kernel = clock_ms() - start;
    say(&d);
    return true;
}
