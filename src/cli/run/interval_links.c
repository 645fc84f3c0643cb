/* SPDX-License-Identifier: MIT */
#include "run/interval_links.h"

#include <math.h>
#include <stdlib.h>

#include "run/frames.h"

/* Places are compared in 1/1000 of a pixel, as they are printed, so that those of a log give the same. */
#define UNIT 1000

/* The middle of the box, twice, as that of an odd one is no whole number. */
static void find_middle(const cli_match *m, double middle[2])
{
    middle[0] = 2 * round(((double)m->x + m->dx) * UNIT) + (double)m->w * UNIT;
    middle[1] = 2 * round(((double)m->y + m->dy) * UNIT) + (double)m->h * UNIT;
}

/* Whether the match lies so near that the boxes overlap. *distance gets how far it is, squared. */
static bool is_within_reach(const cli_appearance *a, const cli_match *m, double time, double *distance)
{
    const double seconds = time - a->last.time;
    const double width = (double)(m->w + a->last.match.w) * UNIT, height = (double)(m->h + a->last.match.h) * UNIT;
    double from[2], to[2];

    find_middle(&a->last.match, from);
    find_middle(m, to);
    *distance = INFINITY;
    for (int moved = 0; moved < 2; moved++) {
        const double x = to[0] - from[0] - moved * seconds * a->speed[0];
        const double y = to[1] - from[1] - moved * seconds * a->speed[1];
        if (fabs(x) < width && fabs(y) < height && x * x + y * y < *distance)
            *distance = x * x + y * y;
    }
    return *distance < INFINITY;
}

void interval_links_move(cli_appearance *a, const cli_match *m, double time)
{
    const double seconds = time - a->last.time;
    double from[2], to[2];

    find_middle(&a->last.match, from);
    find_middle(m, to);
    for (int i = 0; i < 2; i++)
        a->speed[i] = seconds > 0 ? (to[i] - from[i]) / seconds : 0;
}

/* Where two are as near, the one of the older appearance and the better match is first. */
static int compare(const void *a, const void *b)
{
    const interval_link *x = a, *y = b;
    if (x->distance != y->distance)
        return x->distance < y->distance ? -1 : 1;
    if (x->open != y->open)
        return x->open < y->open ? -1 : 1;
    return x->match < y->match ? -1 : x->match > y->match;
}

bool interval_links_find(interval_links *links, cli_appearance *const *open, size_t open_count, size_t slot, double time,
                         const cli_result *r, const bool *used)
{
    links->count = 0;
    for (size_t i = 0; i < open_count; i++) {
        if (open[i]->slot != slot)
            continue;
        for (size_t k = 0; k < r->match_count; k++) {
            interval_link found = {.open = i, .match = k};
            if (used[k] || !is_within_reach(open[i], &r->matches[k], time, &found.distance))
                continue;
            if (!frames_grow((void **)&links->list, &links->room, links->count, sizeof found))
                return false;
            links->list[links->count++] = found;
        }
    }
    if (links->count > 0)
        qsort(links->list, links->count, sizeof *links->list, compare);
    return true;
}
