/* SPDX-License-Identifier: MIT */
/* Climbs of candidates, all of a level together, so that poses are made once for those that need them. */
#include "match/pyramid_climb.h"

#include <math.h>

#include "cpu/cpu.h"
#include "integers.h"
#include "lcc/threads.h"

/* Pixels: nothing so near is better where a climb ends. */
enum { FAR = 2 };

/* The pose of these numbers; SIZE_MAX: there is none. */
static size_t pose_at(const tm_poses *poses, int64_t angle, int64_t scale)
{
    const int64_t angles = poses->angles.count;

    if (tm_poses_go_around(poses))
        angle = (angle % angles + angles) % angles;
    if (angle < 0 || angle >= angles || scale < 0 || scale >= poses->scales.count)
        return SIZE_MAX;
    return (size_t)(scale * angles + angle);
}

/* A candidate on its way. */
typedef struct climber {
    tm_pose_peak at;
    int64_t turn, ratio; /* to the poses beside it */
    int64_t reach;       /* in pixels */
    bool rests;
} climber;

/* The windows of a pose around a climber. */
typedef struct asked {
    size_t pose, climber;
} asked;

static int by_pose(const void *left, const void *right)
{
    const asked *a = left, *b = right;
    return a->pose != b->pose ? (a->pose < b->pose ? -1 : 1) : a->climber < b->climber ? -1 : a->climber > b->climber;
}

enum { BESIDE = 9 }; /* poses that are asked for at a time, with the climber's own */

static size_t ask(const tm_poses *poses, const climber *climbers, size_t count, asked *list)
{
    size_t asked_for = 0;

    for (size_t i = 0; i < count; i++) {
        const climber *c = &climbers[i];
        const tm_pose_numbers p = tm_poses_numbers(poses, (int64_t)c->at.pose);
        const bool turns = poses->angles.count > 1, scales = poses->scales.count > 1;
        for (int k = 0; k < BESIDE && !c->rests; k++) {
            const int turn = k % 3 - 1, ratio = k / 3 - 1;
            const size_t pose = (turn && !turns) || (ratio && !scales)
                                    ? SIZE_MAX
                                    : pose_at(poses, p.angle + turn * c->turn, p.scale + ratio * c->ratio);
            if (pose != SIZE_MAX)
                list[asked_for++] = (asked){pose, i};
        }
    }
    qsort(list, asked_for, sizeof *list, by_pose);
    return asked_for;
}

/* The first of the windows whose centres are so many pixels, and a half, from a place at most, and how many those are. */
static int64_t first_window(int64_t center, int64_t size, int64_t reach, int64_t *count)
{
    const int64_t twice = center - (size - 1);
    *count = 2 * reach + 1 + (twice % 2 != 0);
    return floor_div(twice, 2) - reach;
}

/* So many bytes of templates are made at a time, about. */
#define BYTES_AT_ONCE (INT64_C(64) << 20)

static size_t poses_at_once(const tm_posed_template *t)
{
    const double scale = (double)tm_poses_turn(&t->poses, (int64_t)t->count - 1).scale / TM_POSE_UNIT;
    const double w = (double)t->image.width * scale, h = (double)t->image.height * scale;
    return (size_t)fmin(64, fmax(t->threads, (double)BYTES_AT_ONCE / (4 * (w * w + h * h) + 1)));
}

/* Makes the templates of the poses in [first, end) of the list. */
static tm_status hold(const tm_posed_template *t, const asked *list, size_t first, size_t end)
{
    const int team = t->threads > 1 ? tm_team_size(t->threads) : 1;
    tm_status status = TM_OK;

#pragma omp parallel for schedule(dynamic) num_threads(team) if (team > 1)
    for (size_t i = first; i < end; i++) {
        const bool again = i > first && list[i].pose == list[i - 1].pose;
        const tm_status made = again ? TM_OK : tm_posed_hold(t, list[i].pose, 1);
        if (made != TM_OK) {
#pragma omp atomic write
            status = made;
        }
    }
    return status;
}

static void release(const tm_posed_template *t, const asked *list, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        tm_posed_release(t, list[i].pose, 1);
}

/* Scores the windows of some poses around their climbers, and takes note of better ones in next. */
static tm_status score(tm_descent *d, int level, const asked *list, size_t first, size_t end, const climber *climbers,
                       tm_pose_peak *next)
{
    const tm_posed_template *t = tm_descent_template(d, level);
    const tm_settings *s = &d->matcher->settings;
    tm_pose_windows_of *windows = malloc((end - first) * sizeof *windows);
    size_t count = 0;

    if (!windows)
        return TM_ERR_MEMORY;
    for (size_t i = first; i < end; i++) {
        const tm_template *tmpl = t->slots[list[i].pose].tmpl;
        const climber *c = &climbers[list[i].climber];
        tm_pose_windows_of w = {.tmpl = tmpl, .pose = list[i].pose};
        if (tmpl) {
            w.x = first_window(c->at.x, tmpl->width, c->reach, &w.across);
            w.y = first_window(c->at.y, tmpl->height, c->reach, &w.down);
        }
        windows[count++] = w;
    }
    const tm_status status = tm_cpu_score_poses(d->matcher->cpu, &d->frames[level], s->metric, s->domain, windows, count);
    for (size_t i = 0; i < count && status == TM_OK; i++) {
        tm_pose_peak *best = &next[list[first + i].climber];
        if (!windows[i].tmpl)
            continue;
        if (tm_pose_peak_beats(&windows[i].best, best))
            *best = windows[i].best;
        d->scored += level ? 0 : windows[i].scored;
    }
    free(windows);
    return status;
}

static tm_status score_all(tm_descent *d, int level, const asked *list, size_t count, const climber *climbers,
                           tm_pose_peak *next)
{
    const tm_posed_template *t = tm_descent_template(d, level);
    const size_t at_once = poses_at_once(t);
    tm_status status = TM_OK;

    for (size_t first = 0, end; first < count && status == TM_OK; first = end) {
        size_t poses = 0;
        for (end = first; end < count; end++) {
            poses += end == first || list[end].pose != list[end - 1].pose;
            if (poses > at_once)
                break;
        }
        status = hold(t, list, first, end);
        if (status == TM_OK)
            status = score(d, level, list, first, end, climbers, next);
        release(t, list, first, end);
    }
    return status;
}

/* Moves climbers to what is better beside them; false where none has moved or may look nearer. */
static bool move(climber *climbers, const tm_pose_peak *next, size_t count)
{
    bool some = false;

    for (size_t i = 0; i < count; i++) {
        climber *c = &climbers[i];
        if (c->rests)
            continue;
        if (next[i].pose != SIZE_MAX && tm_pose_peak_beats(&next[i], &c->at)) {
            c->at = next[i];
            c->reach = 1;
        } else if (c->reach < FAR) {
            c->reach = FAR;
        } else if (c->turn > 1 || c->ratio > 1) {
            c->turn = (c->turn + 1) / 2;
            c->ratio = (c->ratio + 1) / 2;
            c->reach = 1;
        } else {
            c->rests = true;
        }
        some = some || !c->rests;
    }
    return some;
}

/* Lets the climbers of a level climb to where nothing beside them is better. */
static tm_status climb(tm_descent *d, int level, climber *climbers, size_t count)
{
    const tm_poses *poses = &tm_descent_template(d, level)->poses;
    asked *list = malloc(count * BESIDE * sizeof *list);
    tm_pose_peak *next = malloc(count * sizeof *next);
    tm_status status = list && next ? TM_OK : TM_ERR_MEMORY;
    bool some = status == TM_OK;

    while (some && status == TM_OK) {
        for (size_t i = 0; i < count; i++)
            next[i] = (tm_pose_peak)TM_NO_POSE_PEAK;
        status = score_all(d, level, list, ask(poses, climbers, count, list), climbers, next);
        some = move(climbers, next, count);
    }
    free(list);
    free(next);
    return status;
}

/* A candidate of the level above, where this level begins with it. */
static climber climber_of(const tm_descent *d, int level, const tm_pose_peak *from)
{
    const tm_pyramid_level *above = &d->pyramid->levels[level + 1], *own = &d->pyramid->levels[level];
    const tm_pose_numbers p = tm_poses_numbers(&above->tmpl->poses, (int64_t)from->pose);
    const int64_t turn = above->turn / own->turn, ratio = above->ratio / own->ratio;

    return (climber){.at = {.value = INT64_MIN,
                            .y = 2 * from->y + 1,
                            .x = 2 * from->x + 1,
                            .pose = pose_at(&tm_descent_template(d, level)->poses, p.angle * turn, p.scale * ratio)},
                     .turn = larger(1, turn / 2),
                     .reach = FAR,
                     .ratio = larger(1, ratio / 2)};
}

tm_status tm_descent_climb(tm_descent *d, int level)
{
    climber *climbers = malloc((d->count + 1) * sizeof *climbers);
    size_t count = 0;

    if (!climbers)
        return TM_ERR_MEMORY;
    for (size_t i = 0; i < d->count; i++)
        climbers[i] = climber_of(d, level, &d->items[i]);
    const tm_status status = climb(d, level, climbers, d->count);
    for (size_t i = 0; i < d->count && status == TM_OK; i++) {
        if (climbers[i].at.value != INT64_MIN)
            d->items[count++] = climbers[i].at;
    }
    d->count = count;
    if (count)
        qsort(d->items, count, sizeof *d->items, tm_pose_peak_by_rank);
    free(climbers);
    return status;
}
