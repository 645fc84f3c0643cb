/* SPDX-License-Identifier: MIT */
/* Which basis, if any, is the quickest for many templates: as many rows as stand for the map are searched by each, and
 * what passes is counted. */
#include <math.h>

#include "integers.h"
#include "lcc/cpu/together.h"

enum {
    STRIP_ROWS = 12, /* as many as are multiplied at once */
    STRIP_STEP = 192,
    MOST_STRIPS = 3,
};

/* In nanoseconds, about: a window and each basis template of it, besides products; and each of a member's products
 * with it. */
#define WINDOW_NS 25.0
#define COORDINATE_NS 1.0
#define BOUND_NS 0.05

#define SCORE_NS 30.0
#define PIXEL_NS 0.05

/* It has to take less than so much of the time: best matches mostly take less by themselves than is expected, as far as
 * they are in the frame. */
#define SHARE_OF_BEST 0.7
#define SHARE_OF_PEAKS 0.8

double tm_together_looks_ns(const tm_together *call, int basis)
{
    const tm_geometry *g = &call->jobs[0]->geometry;
    return (double)g->map_width * (double)g->map_height *
           (WINDOW_NS + basis * (call->product_ns + COORDINATE_NS) + basis * call->count * BOUND_NS);
}

double tm_together_share(const tm_together *call)
{
    return call->jobs[0]->peaks ? SHARE_OF_PEAKS : SHARE_OF_BEST;
}

double tm_together_score_ns(const tm_together *call)
{
    return SCORE_NS + PIXEL_NS * (double)call->jobs[0]->tmpl->n;
}

static void count_passed(void *context, int thread, const tm_family_window *window)
{
    tm_together_run *r = context;

    (void)thread;
    for (int i = 0; i < window->count; i++) {
#pragma omp atomic
        r->list[window->members[i]].passed[r->family - r->call->family->bases]++;
    }
}

/* Searches some strips of the map; *part becomes their share of it. */
static tm_status try_basis(tm_together_run *r, const tm_family *basis, double *part)
{
    const int64_t height = r->call->jobs[0]->geometry.map_height;
    const int64_t strips = clamp(height / STRIP_STEP, 1, MOST_STRIPS), rows = smaller(STRIP_ROWS, height);
    tm_status status = TM_OK;

    for (int64_t i = 0; i < strips && status == TM_OK; i++)
        status = tm_together_search(r, basis, (height - rows) * (2 * i + 1) / (2 * strips), rows, count_passed);
    *part = (double)(strips * rows) / (double)height;
    return status;
}

/* What one takes besides the basis, by this one of them. */
static double passed_ns(const tm_together_run *r, int template, int basis, double part)
{
    return (double)r->list[template].passed[basis] / part * tm_together_score_ns(r->call);
}

/* What all take by this basis, where each is left out that is quicker by itself. */
static double cost_of(const tm_together_run *r, int basis, double part)
{
    double ns = tm_together_looks_ns(r->call, tm_template_basis_size(basis));

    for (int i = 0; i < r->call->count; i++)
        ns += fmin(passed_ns(r, i, basis, part), r->call->other_ns[i]);
    return ns;
}

tm_status tm_together_choose(tm_together_run *r, const tm_family **chosen)
{
    tm_template_family *f = r->call->family;
    const int bases = r->call->jobs[0]->peaks ? TM_TEMPLATE_BASES : 1; /* more take longer than best matches do */
    tm_status status = TM_OK;
    double least = 0, part = 1;
    int best = -1;

    *chosen = NULL;
    for (int i = 0; i < r->call->count; i++)
        least += tm_together_share(r->call) * r->call->other_ns[i];
    for (int i = 0; i < bases && status == TM_OK; i++) {
        const tm_family *basis;
        if (tm_together_looks_ns(r->call, tm_template_basis_size(i)) + tm_template_family_make_ns(f, i) >= least)
            break;
        status = tm_template_family_basis(f, i, &basis);
        if (status == TM_OK && basis)
            status = try_basis(r, basis, &part);
        if (status != TM_OK || !basis)
            break;
        const double ns = cost_of(r, i, part);
        if (ns < least) {
            least = ns;
            best = i;
            *chosen = basis;
        }
    }
    for (int i = 0; i < r->call->count && best >= 0; i++)
        r->list[i].left_out = passed_ns(r, i, best, part) > r->call->other_ns[i];
    return status;
}
