/* SPDX-License-Identifier: MIT */
#include "lcc/pose_large.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/pose_large_bundles.h"
#include "lcc/pose_large_cells.h"

enum {
    LEAST_CELLS = 100,
    PIXELS_MOST = 370000, /* in cells: sums of their squares are below 2^53, times their number */
    MOST_ANGLES = 64,     /* of a bundle */
    TRIED = 8,            /* members that the size of cells is chosen by */
    REACHES = 64,         /* members that the disc is found by */
};

/* Columns and rows of cells, and of places. */
static const struct {
    int side, reach, part_reach;
} sizes[] = {{16, 8, 2}, {12, 6, 2}, {8, 4, 2}, {6, 3, 1}, {4, 2, 1}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* Parts of a picture's variance, so that cells say enough. */
#define LEAST_SHARE 0.3
#define BEARABLE_SHARE 0.15

/* Poses whose scales are less than this times the least one are together. */
#define BAND_RATIO 1.2

/* How far the disc's edge moves by half of a bundle's angles, for each pixel that places are to either side. */
#define EDGE 1.2

/* Basis templates at first, and the rest that there should be at most. */
enum { BASIS = 16 };
#define REST 0.3

/* The disc that counts in all of the class's poses, as far as some of them tell. */
static tm_status find_disc(const tm_large_makings *m, int64_t *distance)
{
    const tm_pose_range *poses = &m->c->poses;
    const tm_pose_support *support = &m->poses->support;
    tm_status status = TM_OK;

    *distance = support->disc ? support->distance : INT64_MAX;
    for (int64_t i = 0; i < poses->count && status == TM_OK && !support->disc; i += 1 + poses->count / REACHES)
        status = tm_pose_reach(distance, m->image, tm_poses_turn(m->poses, poses->first + i));
    if (status != TM_OK)
        return status;
    const double reach = fmax(0, sqrt((double)*distance) - 2); /* by a pixel less, for those between */
    *distance = (int64_t)fmin(reach * reach, PIXELS_MOST * 1.27); /* 4 / pi */
    return TM_OK;
}

/* The least share of some poses' cells of this size; -1: memory ran out. */
static double try_cells(const tm_large_makings *m, tm_status *status)
{
    const tm_large_class *c = m->c;
    const int places = c->reach * c->reach;
    uint16_t *sums = malloc((size_t)places * (size_t)c->cells * sizeof *sums);
    uint32_t *scratch = malloc((size_t)(2 * (c->columns + 1) * c->side + 1) * sizeof *scratch);
    double share = 1;

    *status = sums && scratch ? TM_OK : TM_ERR_MEMORY;
    for (int64_t i = 0; i < c->poses.count && *status == TM_OK; i += 1 + c->poses.count / TRIED) {
        tm_posed posed;
        *status = tm_large_make_posed(m, c->poses.first + i, &posed);
        if (*status != TM_OK)
            break;
        const double energy = posed.count ? tm_large_energy(&posed) : 0;
        share = energy > 0.5 && tm_large_sum_cells(c, &posed, sums, scratch)
                    ? fmin(share, tm_large_share(sums, c->cells, c->side, energy))
                    : 0;
        tm_posed_free(&posed);
    }
    free(sums);
    free(scratch);
    return share;
}

/* Chooses the largest cells that say enough, or those that say most. *share: how much. */
static tm_status choose_size(const tm_large_makings *m, int64_t distance, double *share, int *part_reach)
{
    tm_large_class *c = m->c;
    tm_status status = TM_OK;
    int best = -1;

    *share = 0;
    for (int i = 0; i < SIZES && status == TM_OK && *share < LEAST_SHARE; i++) {
        if (!tm_large_choose_cells(c, sizes[i].side, sizes[i].reach, distance))
            return TM_ERR_MEMORY;
        if (c->cells < LEAST_CELLS)
            continue;
        const double of_these = try_cells(m, &status);
        best = of_these > *share ? i : best;
        *share = fmax(*share, of_these);
    }
    if (status != TM_OK || best < 0)
        return status;
    *part_reach = sizes[best].part_reach;
    return tm_large_choose_cells(c, sizes[best].side, sizes[best].reach, distance) ? TM_OK : TM_ERR_MEMORY;
}

/* How many angles may be in a range whose members are no farther apart than by the places of a reach. */
static int angles_of(const tm_large_makings *m, int reach)
{
    const double radius = 0.5 * m->c->columns * m->c->side;
    const double step = (double)m->poses->angles.step / TM_POSE_UNIT * (3.141592653589793 / 180);
    return step > 0 ? (int)fmax(1, fmin(MOST_ANGLES, EDGE * reach / (radius * step))) : 1;
}

/* Cuts the class's poses into ranges of so many angles of one scale, or those of parts into smaller ones. */
static int cut(const tm_large_makings *m, tm_pose_range *to, const tm_pose_range *from, int most)
{
    const int64_t angles = m->poses->angles.count;
    int count = 0;

    for (int64_t i = from->first; i < from->first + from->count; i += to[count++].count) {
        const int64_t end = smaller(from->first + from->count, (i / angles + 1) * angles);
        to[count] = (tm_pose_range){.first = i, .count = (int)smaller(most, end - i)};
    }
    return count;
}

/* Makes room for a class's bundles and parts. */
static bool make_room(tm_large_makings *m, int part_reach)
{
    tm_large_class *c = m->c;
    const size_t poses = (size_t)c->poses.count, box = (size_t)c->columns * (size_t)c->columns;
    int parts = 0;

    c->part_reach = part_reach;
    c->bundles = malloc(poses * sizeof *c->bundles);
    c->parts = malloc(poses * sizeof *c->parts);
    c->first_parts = malloc((poses + 1) * sizeof *c->first_parts);
    if (!c->bundles || !c->parts || !c->first_parts)
        return false;
    c->family.count = cut(m, c->bundles, &c->poses, angles_of(m, c->reach));
    for (int i = 0; i < c->family.count; i++) {
        c->first_parts[i] = parts;
        parts += cut(m, c->parts + parts, &c->bundles[i], angles_of(m, part_reach));
    }
    c->first_parts[c->family.count] = parts;
    const size_t places = (size_t)(c->reach / part_reach) * (size_t)(c->reach / part_reach);
    c->stride = round_up(c->cells, TM_POSE_STRIDE);
    c->taps = calloc((size_t)parts * places, (size_t)c->stride);
    c->lengths = malloc((size_t)parts * places * sizeof *c->lengths);
    c->turns = malloc((size_t)parts * places * sizeof *c->turns);
    c->most_turns = calloc(2 * (size_t)parts, sizeof *c->most_turns);
    c->steps = c->most_turns + parts;
    m->pictures = calloc((size_t)c->family.count, sizeof *m->pictures);
    m->made = calloc((size_t)c->family.count, sizeof *m->made);
    m->samples = calloc((size_t)c->family.count, box);
    m->inside = calloc(box, 1);
    for (int row = 0; m->inside && row < c->columns; row++)
        memset(m->inside + row * c->columns + c->firsts[row], 1, (size_t)(c->ends[row] - c->firsts[row]));
    return c->taps && c->lengths && c->turns && c->most_turns && m->pictures && m->made && m->samples && m->inside;
}

static tm_status make_family(const tm_large_makings *m)
{
    tm_large_class *c = m->c;
    const size_t count = (size_t)c->family.count;

    c->family.count = 0;
    const tm_status status = tm_family_begin(&c->family, m->pictures, count);
    c->family.unit = c->side * c->side;
    return status == TM_OK ? tm_family_finish(&c->family, m->pictures, BASIS, REST) : status;
}

static tm_status make_class(tm_large_makings *m, int threads, const char **fault)
{
    int64_t distance;
    double share = 0;
    bool beyond = false;
    int part_reach = 1;

    tm_status status = find_disc(m, &distance);
    if (status == TM_OK)
        status = choose_size(m, distance, &share, &part_reach);
    if (status == TM_OK && share < BEARABLE_SHARE)
        *fault = "the template is large in a pose, and too little of it is in what all poses have in common";
    if (status != TM_OK || *fault)
        return status;
    m->large->side = m->large->side ? m->large->side : m->c->side >= 12 ? 8 : 4;
    if (!make_room(m, part_reach))
        status = TM_ERR_MEMORY;
    if (status == TM_OK)
        status = tm_large_make_bundles(m, threads, &beyond);
    if (beyond)
        *fault = "the template is large in a pose, and has too little in common in all of them";
    if (status == TM_OK && !beyond)
        status = make_family(m);
    if (status == TM_OK && !beyond && !m->c->family.count)
        *fault = "the template is large in a pose, and flat but for details";
    free(m->pictures);
    free(m->made);
    free(m->samples);
    free(m->inside);
    return status;
}

/* The scales of a band that begins with this one: how many. */
static int64_t scales_of(const tm_poses *poses, int64_t first)
{
    const double least = (double)(poses->scales.from + first * poses->scales.step);
    int64_t count = 1;
    while (first + count < poses->scales.count &&
           (double)(poses->scales.from + (first + count) * poses->scales.step) < BAND_RATIO * least)
        count++;
    return count;
}

tm_status tm_pose_large_make(struct tm_pose_large **large, const tm_image *image, const tm_poses *poses, int threads,
                             const char **fault)
{
    const size_t count = (size_t)tm_poses_count(poses);
    struct tm_pose_large *l = calloc(1, sizeof *l);
    tm_status status = TM_OK;

    *fault = NULL;
    *large = l;
    if (!l)
        return TM_ERR_MEMORY;
    l->list = calloc((size_t)poses->scales.count, sizeof *l->list);
    l->sizes = calloc(2 * count, sizeof *l->sizes);
    l->scorers = calloc(count, sizeof *l->scorers);
    l->reduced = calloc(count, sizeof *l->reduced);
    l->held = calloc(count, sizeof *l->held);
    if (!l->list || !l->sizes || !l->scorers || !l->reduced || !l->held)
        status = TM_ERR_MEMORY;
    for (int64_t i = 0, scales; i < poses->scales.count && status == TM_OK && !*fault; i += scales) {
        tm_large_makings m = {.image = image, .poses = poses, .large = l, .c = &l->list[l->count++]};
        scales = scales_of(poses, i);
        m.c->poses = (tm_pose_range){.first = i * poses->angles.count, .count = (int)(scales * poses->angles.count)};
        status = make_class(&m, threads, fault);
    }
    if (status != TM_OK || *fault) {
        tm_pose_large_free(l);
        *large = NULL;
    }
    return status;
}
