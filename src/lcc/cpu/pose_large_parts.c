/* SPDX-License-Identifier: MIT */
/* Windows of cells that a family lists, by parts of bundles; and positions by the cells of a picture. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lcc/cpu/pose_large.h"

/* What binary32 may take off a cosine. */
#define ROUNDING 1e-6

enum { MOST_PARTS = 1 << 24 };

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
    return least <= -1 ? 4 : acos(fmin(1, least)) + ROUNDING;
}

float tm_large_least(const tm_large_run *run, double share, double spread)
{
    const double angle = most_angle(run->run, share) + spread;
    return angle >= 3.1415 ? -2 : (float)(cos(angle) - ROUNDING);
}

/* Gathers the sums of a window's cells less 2^15, a row after the other; 0 outside of the frame. Returns their length
 * without their mean. */
static double gather(const tm_large_run *r, const tm_family_window *w, int16_t *to)
{
    const tm_large_class *c = r->class;
    const tm_cell_frame *cells = r->cells;
    const int64_t pitch = cells->pitch, margin = (c->columns - c->family.width) / 2, unit = c->side * c->side;
    int64_t sum = 0, square = 0;
    int n = 0;

    for (int row = 0; row < c->columns; row++) {
        const int64_t y = w->y - (c->columns - c->family.height) / 2 + row;
        for (int i = c->firsts[row]; i < c->ends[row]; i++, n++) {
            const int64_t x = w->x - margin + i;
            const bool there = x >= 0 && x < cells->width && y >= 0 && y < cells->height;
            const int64_t value = there ? unit * cells->means[y * pitch + x] + cells->rests[y * pitch + x] : 0;
            to[n] = (int16_t)(value - (1 << 15));
            sum += value;
            square += value * value;
        }
    }
    return sqrt((double)(n * square - sum * sum) / n); /* of whole numbers below 2^53 */
}

static int64_t product_of(const int16_t *a, const int16_t *b, int count)
{
    enum { AT_ONCE = 256 }; /* sums of fewer than 2^9 products of 2^15 and 2^7 fit 32 bits */
    int64_t sum = 0;

    for (int first = 0; first < count; first += AT_ONCE) {
        const int end = (int)smaller(count, first + AT_ONCE);
        int32_t part = 0;
        for (int i = first; i < end; i++)
            part += a[i] * b[i];
        sum += part;
    }
    return sum;
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

/* Looks at all parts of a bundle. */
static void look(tm_large_run *r, int bundle, tm_large_part *at, const int16_t *sums, double length, float least)
{
    const tm_large_class *c = r->class;
    const int across = c->reach / c->part_reach;
    const int32_t x = at->x, y = at->y;

    for (at->part = c->first_parts[bundle]; at->part < c->first_parts[bundle + 1]; at->part++) {
        for (int place = 0; place < across * across; place++) {
            const int64_t i = (int64_t)at->part * across * across + place;
            const double product = (double)product_of(sums, c->taps + i * c->cells, c->cells);
            at->cosine = length > 0 ? (float)(product / (length * c->lengths[i])) : 0;
            at->x = x + place % across * c->part_reach;
            at->y = y + place / across * c->part_reach;
            if (at->cosine + ROUNDING >= least)
                add(r, at);
        }
    }
    at->x = x;
    at->y = y;
}

void tm_large_visit(void *context, int thread, const tm_family_window *w)
{
    tm_large_run *r = context;
    const tm_large_class *c = r->class;
    const float least = r->any ? -2 : tm_large_least(r, c->share, c->part_spread);
    bool over;

    (void)thread;
#pragma omp atomic read
    over = r->run->declined;
    int16_t *sums = over ? NULL : malloc((size_t)c->cells * sizeof *sums);
    if (!sums) {
#pragma omp atomic write
        r->run->failed = r->run->failed || !over;
        return;
    }
    const double length = gather(r, w, sums);
    tm_large_part at = {.class = (int)(c - r->large->list),
                        .x = (int32_t)(r->cells->x + (w->x - (c->columns - c->family.width) / 2) * c->side),
                        .y = (int32_t)(r->cells->y + (w->y - (c->columns - c->family.height) / 2) * c->side)};
    for (int i = 0; i < w->count; i++)
        look(r, w->members[i], &at, sums, length, least);
    free(sums);
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
    *slack = reduced->turn + asin(off / length) + ROUNDING;
    return acos(fmax(-1, fmin(1, product / (length * sqrt(reduced->energy)))));
}

bool tm_large_rules_out(const tm_large_run *r, int thread, int64_t pose, int64_t x, int64_t y)
{
    double slack;
    const double angle = tm_large_angle_at(r, thread, pose, x, y, &slack);
    return angle > most_angle(r->run, r->large->reduced[pose].share) + slack;
}
