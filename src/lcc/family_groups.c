/* SPDX-License-Identifier: MIT */
#include "lcc/family_groups.h"

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

/* How far apart a group's members may be. */
#define GROUP_REACH 0.35

enum { LEAST_SAVED = 3 }; /* members a group, at least, or there are none */

static double distance(const tm_family *f, int a, int b)
{
    double square = 0;
    for (int k = 0; k < f->basis; k++) {
        const double d = f->coordinates[k * f->padded + a] - f->coordinates[k * f->padded + b];
        square += d * d;
    }
    return sqrt(square);
}

/* The end of the group that begins with this member. */
static int group_end(const tm_family *f, int first)
{
    int end = first + 1;
    while (end < f->count && distance(f, first, end) <= GROUP_REACH)
        end++;
    return end;
}

static void store_group(tm_family *g, const tm_family *f, int index, int first, int end)
{
    double most = 0, rest = 0;

    for (int k = 0; k < f->basis; k++) {
        double sum = 0;
        for (int a = first; a < end; a++)
            sum += f->coordinates[k * f->padded + a];
        g->coordinates[k * g->padded + index] = (float)(sum / (end - first));
    }
    for (int a = first; a < end; a++) {
        double square = 0;
        for (int k = 0; k < f->basis; k++) {
            const double d = f->coordinates[k * f->padded + a] - g->coordinates[k * g->padded + index];
            square += d * d;
        }
        most = fmax(most, sqrt(square));
        rest = fmax(rest, f->coordinates[f->basis * f->padded + a]);
    }
    g->coordinates[f->basis * g->padded + index] = (float)rest;
    g->coordinates[(f->basis + 1) * g->padded + index] = (float)(most * (1 + ROUNDING));
}

tm_status tm_family_make_groups(tm_family *f)
{
    tm_family g = {.basis = f->basis + 1};

    for (int a = 0; a < f->count; a = group_end(f, a))
        g.count++;
    if (g.count > f->count / LEAST_SAVED)
        return TM_OK;
    g.padded = (int)round_up(g.count, TM_FAMILY_UNIT);
    g.coordinates = tm_family_make_coordinates(&g);
    g.ends = malloc((size_t)g.count * sizeof *g.ends);
    f->groups = malloc(sizeof *f->groups);
    if (!g.coordinates || !g.ends || !f->groups) {
        tm_family_free(&g);
        free(f->groups);
        f->groups = NULL;
        return TM_ERR_MEMORY;
    }
    for (int a = 0, i = 0; a < f->count; a = g.ends[i++]) {
        g.ends[i] = group_end(f, a);
        store_group(&g, f, i, a, g.ends[i]);
    }
    *f->groups = g;
    return TM_OK;
}
