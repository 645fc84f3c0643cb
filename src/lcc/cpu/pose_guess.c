/* SPDX-License-Identifier: MIT */
/* Good positions to begin with: the best ones of a reduced frame, by reduced posed templates, and from
 * there to the best one nearby. What is found is no more than positions with their scores. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/pose_scores.h"
#include "lcc/cpu/window_guesses.h"

#define APART 3 /* windows of the reduced frame */

static bool is_near(const tm_window_guesses *g, const tm_window_guess *a, const tm_window_guess *b)
{
    return llabs(a->x - b->x) < g->apart && llabs(a->y - b->y) < g->apart;
}

static void put(tm_window_guesses *g, const tm_window_guess *new)
{
    int at = 0, end;

    while (at < g->count && g->list[at].bound >= new->bound) {
        if (is_near(g, &g->list[at], new))
            return;
        at++;
    }
    for (end = at; end < g->count; end++) {
        if (is_near(g, &g->list[end], new))
            break;
    }
    if (end == g->count && g->count < TM_WINDOW_GUESSES)
        g->count++;
    if (at == TM_WINDOW_GUESSES)
        return;
    if (end >= TM_WINDOW_GUESSES)
        end = TM_WINDOW_GUESSES - 1;
    memmove(&g->list[at + 1], &g->list[at], (size_t)(end - at) * sizeof *g->list);
    g->list[at] = *new;
    tm_window_guesses_raise(g);
}

/* Makes the frame of means of cells, 0 where there are none. */
static uint8_t *reduce(const tm_image *frame, int cell, tm_image *cells)
{
    const int64_t across = frame->width / cell, down = frame->height / cell;
    uint32_t *sums = malloc((size_t)larger(across, 1) * sizeof *sums);
    uint8_t *samples = malloc((size_t)larger(across * down, 1));

    for (int64_t i = 0; i < down && sums && samples; i++) {
        memset(sums, 0, (size_t)across * sizeof *sums);
        for (int v = 0; v < cell; v++) {
            const uint8_t *row = frame->samples + (i * cell + v) * frame->stride;
            for (int64_t j = 0; j < across; j++) {
                for (int u = 0; u < cell; u++)
                    sums[j] += row[j * cell + u];
            }
        }
        for (int64_t j = 0; j < across; j++)
            samples[i * across + j] = (uint8_t)(sums[j] / (uint32_t)(cell * cell));
    }
    if (!sums) {
        free(samples);
        samples = NULL;
    }
    free(sums);
    *cells = (tm_image){
        .samples = samples, .width = across, .height = down, .stride = (ptrdiff_t)across};
    return samples;
}

/* How far the coarse poses are apart. */
static int64_t gap(const tm_pose_class *c, int64_t angles, bool of_scales)
{
    int64_t most = 1;
    for (int i = 1; i < c->coarse.count; i++) {
        const int64_t a = c->members[c->poses[i - 1]].pose, b = c->members[c->poses[i]].pose;
        if (of_scales)
            most = larger(most, b / angles - a / angles);
        else if (b / angles == a / angles)
            most = larger(most, b % angles - a % angles);
    }
    return most;
}

void tm_pose_guesses_add(tm_pose_guesses *g, const tm_pose_peak *peak, int64_t near)
{
    int at = 0;

    for (int i = 0; i < g->count; i++) {
        if (llabs(g->list[i].x - peak->x) >= near || llabs(g->list[i].y - peak->y) >= near)
            continue;
        if (!tm_pose_peak_beats(peak, &g->list[i]))
            return;
        memmove(&g->list[i], &g->list[i + 1], (size_t)(g->count - 1 - i) * sizeof *g->list);
        g->count--;
        i--;
    }
    while (at < g->count && tm_pose_peak_beats(&g->list[at], peak))
        at++;
    if (at == TM_POSE_GUESSES)
        return;
    if (g->count < TM_POSE_GUESSES)
        g->count++;
    memmove(&g->list[at + 1], &g->list[at], (size_t)(g->count - 1 - at) * sizeof *g->list);
    g->list[at] = *peak;
}

/* Adds the best positions of the reduced frame, of all classes. */
static tm_status search_reduced(const tm_pose_run *run, tm_window_guesses *g)
{
    const tm_pose_families *f = run->search->families;
    tm_status status = TM_OK;
    tm_image cells;

    uint8_t *samples = reduce(run->search->frame, f->cell, &cells);
    if (!samples)
        return TM_ERR_MEMORY;
    for (int k = 0; k < f->count && status == TM_OK; k++) {
        const tm_family *coarse = &f->list[k].coarse;
        tm_family_search search = {.family = coarse,
                                   .frame = &cells,
                                   .width = cells.width - coarse->width + 1,
                                   .height = cells.height - coarse->height + 1,
                                   .context = g,
                                   .least = tm_window_guesses_least,
                                   .visit = tm_window_guesses_visit};
        g->class = k;
        if (coarse->count && search.width > 0 && search.height > 0)
            status = tm_cpu_search_family(run->cpu, &search);
    }
    free(samples);
    return status;
}

tm_status tm_pose_guess(const tm_pose_run *run, tm_pose_guesses *found)
{
    const tm_pose_families *f = run->search->families;
    tm_window_guesses g = {.least = -2, .apart = APART, .put = put, .putting = PTHREAD_MUTEX_INITIALIZER};

    tm_status status = search_reduced(run, &g);
    for (int i = 0; i < g.count && status == TM_OK; i++) {
        const tm_window_guess *at = &g.list[i];
        const tm_pose_class *c = &f->list[at->class];
        /* the middle of cell i is at (2i + 1) cell - 1 halves of a pixel */
        const tm_pose_peak from = {.x = (2 * at->x + c->coarse.width) * f->cell - 1,
                                   .y = (2 * at->y + c->coarse.height) * f->cell - 1,
                                   .pose = (size_t)c->members[c->poses[at->member]].pose};
        tm_pose_peak best;
        status = tm_pose_climb(run, &from, larger(1, f->cell / 2), gap(c, f->poses.angles.count, false) / 2 + 1,
                               gap(c, f->poses.angles.count, true) / 2 + 1, &best);
        if (best.pose != SIZE_MAX) /* about half of the template's smaller side */
            tm_pose_guesses_add(found, &best, smaller(c->family.width, c->family.height));
    }
    return status;
}
