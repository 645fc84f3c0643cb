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
#include "lcc/threads.h"
#include "match/pyramid.h"

enum {
    MOST_PEAKS = 1 << 16, /* of the top that candidates are taken from, */
    MOST_POSITIONS = 1 << 12, /* or positions, peaks or not, where they are found by families */
    FAR = 2,              /* pixels: nothing so near is better where a climb ends */
    NEAR = 4,             /* halves of a pixel, and */
    NEAR_POSES = 2,       /* steps of a level: so near to a better candidate another one is left out */
    CANDIDATES = 16,      /* that are followed to the pixels, whatever is wanted, */
    CANDIDATES_A_MATCH = 4,
    WIDENING = 4,         /* and so many times as many on each level above, but not on more than */
    WIDENINGS = 2,
    MOST_MATCHES = 1024,
};

/* A match's score in cells is hardly less than that in pixels by more. */
#define SCORE_GAP 0.25f

typedef struct descent {
    tm_matcher *matcher;
    const tm_posed_template *tmpl;
    const tm_pyramid *pyramid;
    const tm_pyramid_request *request;
    tm_image frames[TM_PYRAMID_LEVELS]; /* reduced, from 1 on */
    tm_pose_peak *items;                /* candidates of a level, the best first */
    size_t count;
    int64_t scored; /* positions of pixels */
} descent;

static const tm_posed_template *template_of(const descent *d, int level)
{
    return level ? d->pyramid->levels[level].tmpl : d->tmpl;
}

/* The angle and the scale of a level's pose, by their numbers. */
typedef struct pose_place {
    int64_t angle, scale;
} pose_place;

static pose_place place_of(const tm_poses *poses, size_t pose)
{
    return (pose_place){(int64_t)pose % poses->angles.count, (int64_t)pose / poses->angles.count};
}

/* Whether angles go around, so that the first one is beside the last one. */
static bool goes_around(const tm_poses *poses)
{
    return poses->angles.step > 0 && poses->angles.count * poses->angles.step > TM_POSE_TURN - poses->angles.step;
}

/* The pose of these numbers; SIZE_MAX: there is none. */
static size_t pose_at(const tm_poses *poses, int64_t angle, int64_t scale)
{
    const int64_t angles = poses->angles.count;

    if (goes_around(poses))
        angle = (angle % angles + angles) % angles;
    if (angle < 0 || angle >= angles || scale < 0 || scale >= poses->scales.count)
        return SIZE_MAX;
    return (size_t)(scale * angles + angle);
}

static bool is_near(const tm_poses *poses, const tm_pose_peak *a, const tm_pose_peak *b)
{
    const pose_place p = place_of(poses, a->pose), q = place_of(poses, b->pose);
    const int64_t turned = llabs(p.angle - q.angle);

    return llabs(a->x - b->x) <= NEAR && llabs(a->y - b->y) <= NEAR && llabs(p.scale - q.scale) <= NEAR_POSES &&
           (turned <= NEAR_POSES || (goes_around(poses) && turned >= poses->angles.count - NEAR_POSES));
}

/* Leaves the best candidates, none near a better one; they are sorted. */
static void thin(descent *d, int level, size_t most)
{
    const tm_poses *poses = &template_of(d, level)->poses;
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
static size_t matches_of(const descent *d)
{
    const tm_image *frame = &d->frames[0], *image = &d->tmpl->image;
    const double scale = (double)d->tmpl->poses.scales.from / TM_POSE_UNIT;
    const double area = (double)frame->width * (double)frame->height;

    if (d->request->wanted)
        return (size_t)smaller((int64_t)d->request->wanted + d->request->margin, MOST_MATCHES);
    return (size_t)fmin(MOST_MATCHES, 1 + area / ((double)image->width * (double)image->height * scale * scale));
}

/* How many candidates are followed to a level. */
static size_t most_of(const descent *d, int level)
{
    size_t most = CANDIDATES + CANDIDATES_A_MATCH * matches_of(d);
    for (int k = 0; k < level && k < WIDENINGS; k++)
        most *= WIDENING;
    return most;
}

/* Leaves out what scores much less than the matches that are wanted, and than what they are to reach. */
static void drop_low(descent *d)
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
        const pose_place p = place_of(poses, c->at.pose);
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
static tm_status score(descent *d, int level, const asked *list, size_t first, size_t end, const climber *climbers,
                       tm_pose_peak *next)
{
    const tm_posed_template *t = template_of(d, level);
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

static tm_status score_all(descent *d, int level, const asked *list, size_t count, const climber *climbers,
                           tm_pose_peak *next)
{
    const tm_posed_template *t = template_of(d, level);
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
static tm_status climb(descent *d, int level, climber *climbers, size_t count)
{
    const tm_poses *poses = &template_of(d, level)->poses;
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
static climber climber_of(const descent *d, int level, const tm_pose_peak *from)
{
    const tm_pyramid_level *above = &d->pyramid->levels[level + 1], *own = &d->pyramid->levels[level];
    const pose_place p = place_of(&above->tmpl->poses, from->pose);
    const int64_t turn = above->turn / own->turn, ratio = above->ratio / own->ratio;

    return (climber){.at = {.value = INT64_MIN,
                            .y = 2 * from->y + 1,
                            .x = 2 * from->x + 1,
                            .pose = pose_at(&template_of(d, level)->poses, p.angle * turn, p.scale * ratio)},
                     .turn = larger(1, turn / 2),
                     .reach = FAR,
                     .ratio = larger(1, ratio / 2)};
}

static tm_status descend(descent *d, int level)
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

static tm_status reduce(descent *d)
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

static tm_status find_each(descent *d, int top)
{
    const tm_peak_search all = {.floor = INT64_MIN, .most = MOST_PEAKS};
    tm_pose_peaks found = {.items = NULL};
    const tm_status status = tm_poses_search(d->matcher, &d->frames[top], template_of(d, top), &all, &found);

    d->items = found.items;
    d->count = status == TM_OK ? found.count : 0;
    return status;
}

/* Finds peaks among the best positions by families, of which few are scored; *fault: why they cannot be. */
static tm_status find_by_families(descent *d, int top, const char **fault)
{
    tm_matcher *m = d->matcher;
    const tm_posed_template *t = template_of(d, top);
    tm_pose_search s = {.image = &t->image,
                        .frame = &d->frames[top],
                        .domain = m->settings.domain,
                        .floor = INT64_MIN,
                        .ceiling = INT64_MAX,
                        .most = MOST_POSITIONS,
                        .best_most = true};

    *fault = tm_poses_certified_fault(m, s.frame, t);
    tm_status status = TM_OK;
    for (int narrow = 0; narrow < 2 && !*fault && status == TM_OK; narrow++) {
        status = tm_poses_make_families(t, narrow);
        s.families = t->kept->families[narrow];
        if (status != TM_OK || !s.families->narrower)
            break;
    }
    if (status != TM_OK || *fault)
        return status;
    *fault = s.families->fault;
    if (*fault)
        return TM_OK;
    status = tm_cpu_match_poses(m->cpu, &s);
    d->items = s.items;
    d->count = status == TM_OK ? s.count : 0;
    return status;
}

/* Finds candidates at the top, from where they are followed down. */
static tm_status search(descent *d)
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
        status = descend(d, k);
        thin(d, k, most_of(d, k - (k > 0)));
        if (k)
            drop_low(d);
    }
    return status == TM_ERR_FRAME_TOO_SMALL ? TM_OK : status;
}

/* About how many positions all poses have. */
static int64_t positions_of(const descent *d)
{
    const tm_image *frame = &d->frames[0];
    return frame->width * frame->height * (int64_t)d->tmpl->count;
}

static void say(const descent *d)
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
                   d->tmpl->count, d->tmpl->count == 1 ? "" : "s", template_of(d, top)->count,
                   template_of(d, top)->count == 1 ? "" : "s", 1 << top, 1 << top, traits.kernels, traits.threads,
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
    descent d = {.matcher = m, .tmpl = t, .pyramid = t->kept->pyramid, .request = request, .frames = {*frame}};
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
