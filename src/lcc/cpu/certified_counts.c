/* SPDX-License-Identifier: MIT */
/* How many windows of a certified search were looked at, passed and were scored; and whether it pays. */
#include "lcc/cpu/certified.h"

#include <math.h>

enum { TRIAL_TILES = 8 }; /* where many windows pass, one of so many tiles is tried again */

/* A search is given up where it has cost so much of a match more than was expected. */
#define LOST_SHARE 0.1

void tm_certified_note_scored(tm_certified *c, int64_t windows)
{
#pragma omp atomic
    c->scored += windows;
}

double tm_certified_most_share(const tm_certified_plan *plan)
{
    return fmax(0, plan->other_ns - plan->by.look_ns) / plan->pass_ns;
}

void tm_certified_add_looks(tm_certified *c, int64_t looked, int64_t passed)
{
#pragma omp atomic
    c->looked += looked;
#pragma omp atomic
    c->passed += passed;
    tm_certified_note_scored(c, passed);
}

void tm_certified_forget_looks(tm_certified *c, int64_t looked, int64_t passed)
{
#pragma omp atomic
    c->looked -= looked;
#pragma omp atomic
    c->passed -= passed;
}

bool tm_certified_is_tried(tm_certified *c)
{
    int64_t looked, passed, tile;
#pragma omp atomic read
    looked = c->looked;
#pragma omp atomic read
    passed = c->passed;
#pragma omp atomic capture
    tile = c->tiles++;
    return !c->plan.in_tiles || (double)passed <= tm_certified_most_share(&c->plan) * (double)looked ||
           tile % TRIAL_TILES == 0;
}

bool tm_certified_is_lost(tm_certified *c)
{
    const tm_geometry *g = &c->job->geometry;
    const double all = (double)g->map_width * (double)g->map_height;
    int64_t looked, passed;
    bool lost;

    if (c->plan.in_tiles)
        return false;
#pragma omp atomic read
    looked = c->looked;
#pragma omp atomic read
    passed = c->passed;
#pragma omp atomic read
    lost = c->given_up;
    if (!lost && (double)passed > tm_certified_most_share(&c->plan) * ((double)looked + LOST_SHARE * all)) {
        lost = true;
#pragma omp atomic write
        c->given_up = true;
    }
    return lost;
}
