/* SPDX-License-Identifier: MIT */
/* Windows of cells that a family lists, by parts of bundles; and positions by the cells of a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lcc/cpu/pose_large.h"

/* What rounding of a cosine to binary32 may make of its angle. */
#define ANGLE_ROUNDING 1e-3

enum { MOST_PARTS = 1 << 23 };

/* What a position must score to matter, at the moment. */
static float least_score(const tm_pose_run *run)
{
    int64_t least;
#pragma omp atomic read
    least = run->least;
    return (least < INT32_MIN ? -2 : tm_score_of_order((int32_t)least)) - TM_FAMILY_SCORE_MARGIN;
}

/* The greatest angle that cells may have which have so much of the variance; pi and more: any. */
static double most_angle(const tm_pose_run *run, double share)
{
    const float least = tm_family_least(share, least_score(run));
    return least <= -1 ? 4 : acos(fmin(1, least)) + TM_LARGE_ROUNDING;
}

static float cosine_of(double angle)
{
    return angle >= 3.1415 ? -2 : (float)(cos(fmax(0, angle)) - TM_LARGE_ROUNDING);
}

float tm_large_least(const tm_large_run *run, double share, double spread)
{
    return cosine_of(most_angle(run->run, share) + spread);
}

/* What there is in a window of cells. */
typedef struct window_sums {
    uint8_t *means, *rests; /* of the cells, a row after the other */
    double length;  /* of these without their mean */
    tm_large_energies energies; /* of the pixels */
} window_sums;

/* The sum of squares of the pixels of the cells whose box has its corner at (x, y). */
static int64_t sum_squares(const tm_large_run *r, int64_t x, int64_t y)
{
    const tm_large_class *c = r->class;
    const tm_square_sums *s = &r->squares;
    uint64_t sum = 0;

    for (int64_t v = 0; v < c->columns * c->side; v += s->side) {
        const int64_t row = floor_div(y + v, s->side), cell = v / c->side;
        if (row < 0 || row >= s->down)
            continue;
        const uint64_t *before = s->before + row * (s->across + 1);
        sum += before[clamp(floor_div(x + c->ends[cell] * c->side, s->side), 0, s->across)] -
               before[clamp(floor_div(x + c->firsts[cell] * c->side, s->side), 0, s->across)];
    }
    return (int64_t)sum;
}

/* Gathers a window's cells, 0 outside of the frame. */
static void gather(const tm_large_run *r, const tm_family_window *w, const tm_large_part *at, window_sums *sums)
{
    const tm_large_class *c = r->class;
    const tm_cell_frame *cells = r->cells;
    const int64_t left = w->x - (c->columns - c->family.width) / 2, top = w->y - (c->columns - c->family.height) / 2;
    const uint32_t unit = (uint32_t)(c->side * c->side);
    int64_t sum = 0, square = 0, n = 0;

    for (int row = 0; row < c->columns; n += c->ends[row] - c->firsts[row], row++) {
        const int64_t y = top + row, first = larger(0, left + c->firsts[row]), end = smaller(cells->width, left + c->ends[row]);
        if (y < 0 || y >= cells->height || first >= end)
            continue;
        const int64_t to = n + first - left - c->firsts[row], from = y * cells->pitch + first;
        memcpy(sums->means + to, cells->means + from, (size_t)(end - first));
        memcpy(sums->rests + to, cells->rests + from, (size_t)(end - first));
    }
    for (int64_t i = 0; i < n; i++) {
        const uint32_t value = unit * sums->means[i] + sums->rests[i];
        sum += value;
        square += (int64_t)((uint64_t)value * value);
    }
    const double energy = (double)(n * square - sum * sum) / (double)n; /* of whole numbers below 2^53, as those below */
    const int64_t pixels = n * unit;
    sums->length = sqrt(energy);
    sums->energies.cells = energy / (double)unit;
    sums->energies.rest = (double)(pixels * sum_squares(r, at->x, at->y) - sum * sum) / (double)pixels - sums->energies.cells;
}

double tm_large_angle_now(const tm_large_run *r, double *core)
{
    const double score = least_score(r->run);

    *core = score > 0 ? score * score - r->class->most_beyond : 0;
    return most_angle(r->run, r->class->share);
}

/* The greatest angle that the window's cells and a member's may have. */
static double angle_of_window(const tm_large_run *r, const window_sums *w)
{
    const tm_large_class *c = r->class;
    double core;

    const double angle = tm_large_angle_now(r, &core);
    return r->any ? angle : tm_large_angle_of(angle, core, c->most_share, fmax(0, c->most_rest), w->energies);
}

/* The product of a window's sums with taps. */
static int64_t product_of(const tm_large_run *r, const window_sums *w, const int8_t *taps)
{
    const tm_large_class *c = r->class;
    const tm_cpu_kernels *kernels = &r->run->cpu->kernels;
    const int64_t unit = c->side * c->side;

    return unit * kernels->window_product(w->means, (ptrdiff_t)c->stride, taps, (ptrdiff_t)c->stride, c->cells, 1) +
           kernels->window_product(w->rests, (ptrdiff_t)c->stride, taps, (ptrdiff_t)c->stride, c->cells, 1);
}

static void add(tm_large_run *r, const tm_large_part *part)
{
    pthread_mutex_lock(&r->run->noting);
    if (r->count == r->room) {
        const size_t room = r->room ? 2 * r->room : 1024;
        tm_large_part *parts = room <= MOST_PARTS ? realloc(r->parts, room * sizeof *parts) : NULL;
        if (!parts) {
#pragma omp atomic write
            r->run->declined = true;
        } else {
            r->parts = parts;
            r->room = room;
        }
    }
    if (r->count < r->room)
        r->parts[r->count++] = *part;
    pthread_mutex_unlock(&r->run->noting);
}

/* Looks at one of a part's squares of places. Returns its cosine. */
static double look_at(tm_large_run *r, tm_large_part *at, int place, const window_sums *sums, float least)
{
    const tm_large_class *c = r->class;
    const int across = c->reach / c->part_reach;
    const int64_t i = (int64_t)at->part * across * across + place;
    const double product = (double)product_of(r, sums, c->taps + i * c->stride);
    const int32_t x = at->x, y = at->y;

    at->cosine = sums->length > 0 ? (float)(product / (sums->length * c->lengths[i])) : 0;
    at->x = x + place % across * c->part_reach;
    at->y = y + place / across * c->part_reach;
    if (at->cosine + (float)TM_LARGE_ROUNDING >= least)
        add(r, at);
    at->x = x;
    at->y = y;
    return at->cosine;
}

/* Looks at all parts of a bundle, which may be so far from the window: at their middles first, and where these are farther
 * by more than others are from them, at no others. */
static void look(tm_large_run *r, int bundle, tm_large_part *at, const window_sums *sums, double most)
{
    const tm_large_class *c = r->class;
    const int across = c->reach / c->part_reach, middle = tm_pose_large_middle(c);
    const float least = cosine_of(most);
    double angle = 0; /* of the middle, at least */

    most += 3 * ANGLE_ROUNDING;
    for (at->part = c->first_parts[bundle]; at->part < c->first_parts[bundle + 1]; at->part++) {
        const double *turns = c->turns + (int64_t)at->part * across * across;
        angle -= c->steps[at->part];
        if (angle - c->most_turns[at->part] > most)
            continue;
        angle = acos(fmax(-1, fmin(1, look_at(r, at, middle, sums, least))));
        for (int place = 0; place < across * across; place++) {
            if (place != middle && angle - turns[place] <= most)
                look_at(r, at, place, sums, least);
        }
    }
}

void tm_large_visit(void *context, int thread, const tm_family_window *w)
{
    tm_large_run *r = context;
    const tm_large_class *c = r->class;
    const int64_t margin_x = (c->columns - c->family.width) / 2, margin_y = (c->columns - c->family.height) / 2;
    tm_large_part at = {.class = (int)(c - r->large->list),
                        .x = (int32_t)(r->cells->x + (w->x - margin_x) * c->side),
                        .y = (int32_t)(r->cells->y + (w->y - margin_y) * c->side)};
    window_sums sums;
    bool over;

    (void)thread;
#pragma omp atomic read
    over = r->run->declined;
    sums.means = over ? NULL : calloc(2, (size_t)(c->stride + TM_POSE_STRIDE));
    if (!sums.means) {
#pragma omp atomic write
        r->run->failed = r->run->failed || !over;
        return;
    }
    sums.rests = sums.means + c->stride + TM_POSE_STRIDE;
    gather(r, w, &at, &sums);
    const double angle = angle_of_window(r, &sums);
    const float least = cosine_of(angle + c->spread) - c->family.error - TM_FAMILY_ROUNDING;
    for (int i = 0; i < w->count && angle >= 0; i++) {
        if (r->any || w->bounds[i] >= least)
            look(r, w->members[i], &at, &sums, r->any ? 4 : angle + c->part_spread);
    }
    free(sums.means);
}

double tm_large_angle_at(const tm_large_run *r, int thread, int64_t pose, int64_t x, int64_t y, double *slack)
{
    const tm_pose_reduced *reduced = &r->large->reduced[pose];
    const tm_pose_member *member = &reduced->member;
    const int side = r->means.side;

    *slack = 4;
    if (!side || !reduced->taps)
        return 0;
    const int64_t phase = (y - floor_div(y, side) * side) * side + x - floor_div(x, side) * side;
    tm_pose_search search = *r->run->search;
    tm_pose_run run = {.cpu = r->run->cpu, .search = &search, .windows = r->run->windows};
    search.frame = &r->means.list[phase];
    const tm_pose_box box = tm_pose_box_at(&run, thread, member, tm_mean_frame_at(side, x), tm_mean_frame_at(side, y));
    if (!box.samples)
        return 0;
    const double n = (double)member->pixels, sum = (double)box.s_f;
    const double energy = (double)box.s_ff - sum * sum / n;
    const double product = (double)(tm_pose_product(&run, member, &box) + TM_TAP_BIAS * box.s_f) - sum * reduced->sum / n;
    const double off = 0.5 * sqrt(n), length = sqrt(fmax(energy, 0)); /* means are off by less than 1 */
    if (length <= off)
        return 0;
    *slack = reduced->turn + asin(off / length) + TM_LARGE_ROUNDING;
    return acos(fmax(-1, fmin(1, product / (length * sqrt(reduced->energy)))));
}

bool tm_large_rules_out(const tm_large_run *r, int thread, int64_t pose, int64_t x, int64_t y)
{
    double slack;
    const double angle = tm_large_angle_at(r, thread, pose, x, y, &slack);
    return angle > most_angle(r->run, r->large->reduced[pose].share) + slack;
}
