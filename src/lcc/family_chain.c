/* SPDX-License-Identifier: MIT */
#include "lcc/family_chain.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

/* Coordinates are made in double precision. */
#define ROUNDING 4e-7

float *tm_family_make_coordinates(const tm_family *f)
{
    const size_t bytes = (size_t)round_up(((f->basis + 1) * (int64_t)f->padded + TM_FAMILY_UNIT) * 4, 64);
    float *coordinates = aligned_alloc(64, bytes);

    return coordinates ? memset(coordinates, 0, bytes) : NULL; /* units of members are read to their ends */
}

/* How far members may be from the chords. */
#define CHORD_REACH 0.08

enum {
    LEAST_SAVED = 3, /* members a point, at least, or there are none */
    MOST_LINK = 64,  /* members from a point to the next, each of which is measured again for the next one */
};

/* The product of a - b and c - d, which are members. */
static double product_of(const tm_family *f, int a, int b, int c, int d)
{
    double sum = 0;
    for (int k = 0; k < f->basis; k++) {
        const float *row = f->coordinates + (int64_t)k * f->padded;
        sum += ((double)row[a] - row[b]) * ((double)row[c] - row[d]);
    }
    return sum;
}

/* How far the members between these two are from the chord at most. */
static double farthest(const tm_family *f, int first, int last)
{
    const double chord = product_of(f, last, first, last, first);
    double most = 0;

    for (int a = first + 1; a < last; a++) {
        const double whole = product_of(f, a, first, a, first), along = product_of(f, a, first, last, first);
        const double part = chord > 0 ? fmin(fmax(along / chord, 0), 1) : 0;
        most = fmax(most, whole - part * (2 * along - part * chord));
    }
    return sqrt(most);
}

/* The point after this one. */
static int next_point(const tm_family *f, int point)
{
    int next = point + 1;
    while (next + 1 < f->count && next - point < MOST_LINK && farthest(f, point, next + 1) <= CHORD_REACH)
        next++;
    return next;
}

/* Makes what is known of a point of the chain and of the members on both sides. */
static void store_point(tm_family *g, const tm_family *f, int index)
{
    const int at = g->points[index], before = index ? g->points[index - 1] : at;
    const int after = index + 1 < g->count ? g->points[index + 1] : at;
    float rest = 0;

    for (int k = 0; k < f->basis; k++)
        g->coordinates[(int64_t)k * g->padded + index] = f->coordinates[(int64_t)k * f->padded + at];
    for (int a = before; a <= after; a++)
        rest = fmaxf(rest, f->coordinates[(int64_t)f->basis * f->padded + a]);
    const double most = fmax(farthest(f, before, at), farthest(f, at, after));
    g->coordinates[(int64_t)f->basis * g->padded + index] = rest;
    g->coordinates[(int64_t)(f->basis + 1) * g->padded + index] = (float)(most * (1 + ROUNDING));
}

tm_status tm_family_make_chain(tm_family *f)
{
    tm_family g = {.basis = f->basis + 1};
    int *points = malloc((size_t)f->count * sizeof *points);

    if (!points)
        return TM_ERR_MEMORY;
    for (int a = 0; a < f->count; a = next_point(f, a))
        points[g.count++] = a;
    if (g.count > f->count / LEAST_SAVED) {
        free(points);
        return TM_OK;
    }
    g.points = points;
    g.padded = (int)round_up(g.count, TM_FAMILY_UNIT);
    g.coordinates = tm_family_make_coordinates(&g);
    f->chain = malloc(sizeof *f->chain);
    if (!g.coordinates || !f->chain) {
        tm_family_free(&g);
        free(f->chain);
        f->chain = NULL;
        return TM_ERR_MEMORY;
    }
    for (int i = 0; i < g.count; i++)
        store_point(&g, f, i);
    *f->chain = g;
    return TM_OK;
}
