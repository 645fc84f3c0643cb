/* SPDX-License-Identifier: MIT */
/* Good positions to begin with: the windows of cells that are likest to a bundle, their likest parts, and from there to
 * the best position nearby. What is found is no more than positions with their scores. */
#include <stdlib.h>

#include "lcc/cpu/pose_large.h"

enum {
    MOST_GUESSES = 32,
    APART = 4, /* a part of the box that guesses are apart */
    CLIMBS = 2, /* more than are wanted */
};

typedef struct guess {
    float bound;
    int64_t x, y; /* of the window, in cells */
    const tm_large_class *class;
    int bundle;
    double angle; /* of the best of its parts */
    tm_pose_peak at;
} guess;

typedef struct guesses {
    guess list[MOST_GUESSES]; /* the best first */
    int count;
    float least;
    const tm_large_class *class; /* that is being searched */
    pthread_mutex_t putting;
} guesses;

static float least_of(void *context)
{
    const guesses *g = context;
    float least;
#pragma omp atomic read
    least = g->least;
    return least;
}

static bool is_near(const guess *a, const guess *b)
{
    const int64_t apart = a->class->columns / APART;
    return a->class == b->class && llabs(a->x - b->x) < apart && llabs(a->y - b->y) < apart;
}

/* Puts a guess in its place, unless a better one is near. */
static void put(guesses *g, const guess *new)
{
    int count = 0, at = 0;
    guess kept[MOST_GUESSES];

    for (int i = 0; i < g->count; i++) {
        if (is_near(&g->list[i], new) && g->list[i].bound >= new->bound)
            return;
        if (!is_near(&g->list[i], new))
            kept[count++] = g->list[i];
    }
    while (at < count && kept[at].bound >= new->bound)
        at++;
    g->count = 0;
    for (int i = 0; i <= count && g->count < MOST_GUESSES; i++)
        g->list[g->count++] = i == at ? *new : kept[i - (i > at)];
    if (g->count == MOST_GUESSES) {
#pragma omp atomic write
        g->least = g->list[MOST_GUESSES - 1].bound;
    }
}

static void visit(void *context, int thread, const tm_family_window *window)
{
    guesses *g = context;
    const int likest = tm_family_likest(window);
    const guess best = {.bound = window->bounds[likest],
                        .x = window->x,
                        .y = window->y,
                        .class = g->class,
                        .bundle = window->members[likest]};

    (void)thread;
    pthread_mutex_lock(&g->putting);
    put(g, &best);
    pthread_mutex_unlock(&g->putting);
}

/* The likest position of a guess, as its parts and its picture's cells tell. False if memory ran out. */
static bool refine(tm_large_run *r, guess *g)
{
    const tm_large_class *c = r->class;
    const tm_family_window window = {.x = g->x, .y = g->y, .members = &g->bundle, .count = 1};
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
    g->angle = tm_large_angle_at(r, 0, pose, x, y, &slack);
    g->at = (tm_pose_peak){.value = INT64_MIN, .x = 2 * x + size[0] - 1, .y = 2 * y + size[1] - 1, .pose = (size_t)pose};
    return true;
}

static int by_angle(const void *left, const void *right)
{
    const guess *a = left, *b = right;
    return (a->angle > b->angle) - (a->angle < b->angle);
}

/* Takes the bounds that the device made. */
static tm_status look(tm_large_run *r, guesses *g)
{
    const tm_status status = tm_large_look_at(r);
    const tm_large_windows *windows = r->look.windows;

    for (int64_t i = 0; status == TM_OK && i < windows->width * windows->height; i++) {
        if (r->look.bounds[i] >= g->least)
            put(g, &(guess){.bound = r->look.bounds[i],
                            .x = windows->x + i % windows->width,
                            .y = windows->y + i / windows->width,
                            .class = g->class,
                            .bundle = r->look.bundles[i]});
    }
    return status;
}

/* The best windows of each class, of its first frame of cells. */
static tm_status search(tm_large_run *r, guesses *g)
{
    tm_status status = TM_OK;

    for (int i = 0; i < r->large->count && status == TM_OK; i++) {
        tm_family_search s = {.context = g, .least = least_of, .visit = visit};
        tm_image images[2];
        g->class = &r->large->list[i];
        status = tm_large_enter(r, g->class);
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

static bool is_found(const tm_pose_guesses *found, const guess *g, int64_t near)
{
    for (int i = 0; i < found->count; i++) {
        if (llabs(found->list[i].x - g->at.x) < near && llabs(found->list[i].y - g->at.y) < near)
            return true;
    }
    return false;
}

tm_status tm_large_guess(tm_large_run *r, tm_pose_guesses *found)
{
    const size_t wanted = r->run->search->wanted;
    guesses g = {.least = -2, .putting = PTHREAD_MUTEX_INITIALIZER};

    tm_status status = search(r, &g);
    for (int i = 0; i < g.count && status == TM_OK; i++) {
        status = tm_large_enter(r, g.list[i].class);
        r->cells = r->frames;
        if (status == TM_OK && !refine(r, &g.list[i]))
            status = TM_ERR_MEMORY;
    }
    qsort(g.list, (size_t)g.count, sizeof *g.list, by_angle);
    size_t climbs = wanted + CLIMBS;
    for (int i = 0; i < g.count && status == TM_OK && climbs; i++) {
        const tm_large_class *c = g.list[i].class;
        if (is_found(found, &g.list[i], (int64_t)c->columns * c->side))
            continue;
        climbs--;
        tm_pose_peak best;
        status = tm_pose_climb(r->run, &g.list[i].at, c->part_reach, c->parts[0].count, 1, &best);
        if (best.pose != SIZE_MAX)
            tm_pose_guesses_add(found, &best, (int64_t)c->columns * c->side);
    }
    r->count = 0;
    return status;
}
