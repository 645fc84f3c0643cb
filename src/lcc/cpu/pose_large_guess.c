/* SPDX-License-Identifier: MIT */
/* Good positions to begin with: the windows of cells that are likest to a bundle, their likest parts, and from there to
 * the best position nearby. What is found is no more than positions with their scores. */
#include <stdlib.h>

#include "lcc/cpu/pose_large.h"
#include "lcc/cpu/window_guesses.h"

enum {
    APART = 4,  /* a part of the box that guesses are apart */
    CLIMBS = 2, /* more than are wanted */
};

/* Where a climb begins. */
typedef struct start {
    const tm_large_class *class;
    double angle; /* of the best of the guess's parts */
    tm_pose_peak at;
} start;

static bool is_near(const tm_window_guesses *g, const tm_window_guess *a, const tm_window_guess *b)
{
    return a->class == b->class && llabs(a->x - b->x) < g->apart && llabs(a->y - b->y) < g->apart;
}

static void put(tm_window_guesses *g, const tm_window_guess *new)
{
    int count = 0, at = 0;
    tm_window_guess kept[TM_WINDOW_GUESSES];

    for (int i = 0; i < g->count; i++) {
        if (is_near(g, &g->list[i], new) && g->list[i].bound >= new->bound)
            return;
        if (!is_near(g, &g->list[i], new))
            kept[count++] = g->list[i];
    }
    while (at < count && kept[at].bound >= new->bound)
        at++;
    g->count = 0;
    for (int i = 0; i <= count && g->count < TM_WINDOW_GUESSES; i++)
        g->list[g->count++] = i == at ? *new : kept[i - (i > at)];
    tm_window_guesses_raise(g);
}

/* The likest position of a guess, as its parts and its picture's cells tell. False if memory ran out. */
static bool refine(tm_large_run *r, const tm_window_guess *g, start *s)
{
    const tm_large_class *c = r->class;
    const tm_family_window window = {.x = g->x, .y = g->y, .members = &g->member, .count = 1};
    tm_large_part best = {.cosine = -2};

    r->count = 0;
    r->any = true;
    tm_large_visit(r, 0, &window);
    r->any = false;
    for (size_t i = 0; i < r->count; i++)
        best = r->parts[i].cosine > best.cosine ? r->parts[i] : best;
    if (best.cosine < -1)
        return false;
    const tm_pose_range *part = &c->parts[best.part];
    const int64_t pose = part->first + part->count / 2;
    const int *size = &r->large->sizes[2 * pose];
    const int64_t x = best.x + tm_pose_large_corner(c, size[0]) + c->part_reach / 2;
    const int64_t y = best.y + tm_pose_large_corner(c, size[1]) + c->part_reach / 2;
    double slack;
    s->class = c;
    s->angle = tm_large_angle_at(r, 0, pose, x, y, &slack);
    s->at = (tm_pose_peak){.value = INT64_MIN, .x = 2 * x + size[0] - 1, .y = 2 * y + size[1] - 1, .pose = (size_t)pose};
    return true;
}

static int by_angle(const void *left, const void *right)
{
    const start *a = left, *b = right;
    return (a->angle > b->angle) - (a->angle < b->angle);
}

/* Takes the bounds that the device made. */
static tm_status look(tm_large_run *r, tm_window_guesses *g)
{
    const tm_status status = tm_large_look_at(r);
    const tm_large_windows *windows = r->look.windows;

    for (int64_t i = 0; status == TM_OK && i < windows->width * windows->height; i++) {
        if (r->look.bounds[i] >= g->least)
            put(g, &(tm_window_guess){.bound = r->look.bounds[i],
                                      .x = windows->x + i % windows->width,
                                      .y = windows->y + i / windows->width,
                                      .class = g->class,
                                      .member = r->look.bundles[i]});
    }
    return status;
}

/* The best windows of each class, of its first frame of cells. */
static tm_status search(tm_large_run *r, tm_window_guesses *g)
{
    tm_status status = TM_OK;

    for (int i = 0; i < r->large->count && status == TM_OK; i++) {
        tm_family_search s = {.context = g, .least = tm_window_guesses_least, .visit = tm_window_guesses_visit};
        tm_image images[2];
        const tm_large_class *c = &r->large->list[i];
        g->class = i;
        g->apart = c->columns / APART;
        status = tm_large_enter(r, c);
        if (status != TM_OK || !r->width || !r->height)
            continue;
        if (r->run->search->device) {
            status = look(r, g);
            continue;
        }
        r->cells = r->frames;
        tm_large_describe(r, &s, images);
        if (s.width > 0 && s.height > 0)
            status = tm_cpu_search_family(r->run->cpu, &s);
    }
    return status;
}

static bool is_found(const tm_pose_guesses *found, const start *s, int64_t near)
{
    for (int i = 0; i < found->count; i++) {
        if (llabs(found->list[i].x - s->at.x) < near && llabs(found->list[i].y - s->at.y) < near)
            return true;
    }
    return false;
}

tm_status tm_large_guess(tm_large_run *r, tm_pose_guesses *found)
{
    const size_t wanted = r->run->search->wanted;
    tm_window_guesses g = {.least = -2, .put = put, .putting = PTHREAD_MUTEX_INITIALIZER};
    start starts[TM_WINDOW_GUESSES];

    tm_status status = search(r, &g);
    for (int i = 0; i < g.count && status == TM_OK; i++) {
        status = tm_large_enter(r, &r->large->list[g.list[i].class]);
        r->cells = r->frames;
        if (status == TM_OK && !refine(r, &g.list[i], &starts[i]))
            status = TM_ERR_MEMORY;
    }
    if (status == TM_OK)
        qsort(starts, (size_t)g.count, sizeof *starts, by_angle);
    size_t climbs = wanted + CLIMBS;
    for (int i = 0; i < g.count && status == TM_OK && climbs; i++) {
        const tm_large_class *c = starts[i].class;
        const int64_t near = (int64_t)c->columns * c->side;
        if (is_found(found, &starts[i], near))
            continue;
        climbs--;
        tm_pose_peak best;
        status = tm_pose_climb(r->run, &starts[i].at, c->part_reach, c->parts[0].count, 1, &best);
        if (best.pose != SIZE_MAX)
            tm_pose_guesses_add(found, &best, near);
    }
    r->count = 0;
    return status;
}
