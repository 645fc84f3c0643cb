/* SPDX-License-Identifier: MIT */
#include "lcc/pose_large_bundles.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/components.h"
#include "lcc/pose_large_cells.h"
#include "lcc/threads.h"

enum { MOST_TAP = 120 }; /* what taps of parts and pictures of bundles are rounded to, which leaves room to balance them */

/* What one thread needs. */
typedef struct bench {
    uint16_t *sums; /* of a bundle's poses at all places */
    double *mean;
    int16_t *taps; /* of a bundle or a part of one */
    uint32_t *scratch;
} bench;

static bool make_bench(bench *b, const tm_large_class *c)
{
    int most = 0;
    for (int i = 0; i < c->family.count; i++)
        most = c->bundles[i].count > most ? c->bundles[i].count : most;
    const size_t members = (size_t)most * (size_t)(c->reach * c->reach);
    b->sums = malloc(members * (size_t)c->cells * sizeof *b->sums);
    b->mean = malloc((size_t)c->cells * sizeof *b->mean);
    b->taps = malloc((size_t)c->cells * sizeof *b->taps);
    b->scratch = malloc((size_t)(2 * (c->columns + 1) * c->side + 1) * sizeof *b->scratch);
    return b->sums && b->mean && b->taps && b->scratch;
}

static void free_bench(bench *b)
{
    free(b->sums);
    free(b->mean);
    free(b->taps);
    free(b->scratch);
}

tm_status tm_large_make_posed(const tm_large_makings *m, int64_t pose, tm_posed *posed)
{
    return tm_pose_make(posed, m->image, tm_poses_turn(m->poses, pose), &m->poses->support);
}

/* Members [first, first + count) of a bundle at places [x, x + reach) x [y, y + reach). */
typedef struct share_of {
    int first, count, x, y, reach;
} share_of;

static const uint16_t *sums_of(const tm_large_class *c, const bench *b, const share_of *s, int i)
{
    const int places = s->reach * s->reach, place = i % places;
    const int at = (s->y + place / s->reach) * c->reach + s->x + place % s->reach;
    return b->sums + ((int64_t)(s->first + i / places) * c->reach * c->reach + at) * c->cells;
}

/* Makes the mean of unit vectors nearly: each less its mean, over its length. */
static void find_mean(const tm_large_class *c, const bench *b, const share_of *s)
{
    double sum = 0;

    memset(b->mean, 0, (size_t)c->cells * sizeof *b->mean);
    for (int i = 0; i < s->count * s->reach * s->reach; i++) {
        const uint16_t *sums = sums_of(c, b, s, i);
        for (int k = 0; k < c->cells; k++)
            b->mean[k] += sums[k];
    }
    for (int k = 0; k < c->cells; k++)
        sum += b->mean[k];
    for (int k = 0; k < c->cells; k++)
        b->mean[k] -= sum / c->cells;
}

/* Rounds the mean to taps of 8 bits and sum 0. */
static void round_mean(const tm_large_class *c, const bench *b)
{
    double greatest = 1e-9;

    for (int k = 0; k < c->cells; k++)
        greatest = fmax(greatest, fabs(b->mean[k]));
    for (int k = 0; k < c->cells; k++)
        b->taps[k] = (int16_t)lrint(b->mean[k] * MOST_TAP / greatest);
    tm_taps_balance(b->taps, c->cells);
}

static double length_of(const int16_t *taps, int count)
{
    int64_t square = 0;
    for (int k = 0; k < count; k++)
        square += taps[k] * taps[k];
    return sqrt((double)square);
}

/* The greatest angle between the taps and these members; their cells' sums may be equal, and then pi. */
static double find_spread(const tm_large_class *c, const bench *b, const share_of *s)
{
    const double length = length_of(b->taps, c->cells);
    double least = 1;

    for (int i = 0; i < s->count * s->reach * s->reach; i++) {
        const uint16_t *sums = sums_of(c, b, s, i);
        int64_t sum = 0, square = 0, product = 0;
        for (int k = 0; k < c->cells; k++) {
            sum += sums[k];
            square += (int64_t)sums[k] * sums[k];
            product += sums[k] * b->taps[k];
        }
        const double energy = tm_large_variance(c->cells, sum, square);
        least = fmin(least, energy > 0.5 && length > 0 ? (double)product / (sqrt(energy) * length) : -1);
    }
    return tm_large_angle(least);
}

/* The angle at most between two parts' taps, by their numbers with their squares. */
static double turn_between(const tm_large_class *c, int64_t one, int64_t other)
{
    const int8_t *a = c->taps + one * c->stride, *b = c->taps + other * c->stride;
    const double lengths = c->lengths[one] * c->lengths[other];
    int64_t product = 0;

    for (int k = 0; k < c->cells; k++)
        product += a[k] * b[k];
    return tm_large_angle(lengths > 0 ? (double)product / lengths : -1);
}

/* Finds how far a part's squares are from each other, and from those of the part before. */
static void find_turns(const tm_large_class *c, int part, bool first)
{
    const int count = c->reach / c->part_reach * (c->reach / c->part_reach);
    const int64_t at = (int64_t)part * count, middle = at + tm_pose_large_middle(c);

    for (int64_t i = at; i < at + count; i++) {
        c->turns[i] = turn_between(c, i, middle);
        c->most_turns[part] = fmax(c->most_turns[part], c->turns[i]);
    }
    c->steps[part] = first ? 4 : turn_between(c, middle, middle - count);
}

/* Makes the parts of a bundle. */
static void make_parts(const tm_large_makings *m, const bench *b, int bundle, double *spread)
{
    tm_large_class *c = m->c;
    const int across = c->reach / c->part_reach;
    share_of s = {.reach = c->part_reach};

    for (int part = c->first_parts[bundle]; part < c->first_parts[bundle + 1]; part++) {
        s.first = (int)(c->parts[part].first - c->bundles[bundle].first);
        s.count = c->parts[part].count;
        for (int place = 0; place < across * across; place++) {
            const int64_t at = (int64_t)part * across * across + place;
            s.x = place % across * c->part_reach;
            s.y = place / across * c->part_reach;
            find_mean(c, b, &s);
            round_mean(c, b);
            for (int k = 0; k < c->cells; k++)
                c->taps[at * c->stride + k] = (int8_t)b->taps[k];
            c->lengths[at] = length_of(b->taps, c->cells);
            *spread = fmax(*spread, find_spread(c, b, &s));
        }
        find_turns(c, part, part == c->first_parts[bundle]);
    }
}

/* Makes the picture of a bundle, whose mean is 128. */
static double make_picture(const tm_large_makings *m, const bench *b, int bundle)
{
    tm_large_class *c = m->c;
    const size_t size = (size_t)c->columns * (size_t)c->columns;
    const share_of all = {.count = c->bundles[bundle].count, .reach = c->reach};
    uint8_t *samples = m->samples + (size_t)bundle * size;

    find_mean(c, b, &all);
    round_mean(c, b);
    for (int row = 0, k = 0; row < c->columns; row++) {
        for (int i = c->firsts[row]; i < c->ends[row]; i++)
            samples[row * c->columns + i] = (uint8_t)(b->taps[k++] + 128);
    }
    m->pictures[bundle] = (tm_posed){
        .width = c->columns, .height = c->columns, .count = c->cells, .samples = samples, .mask = m->inside};
    return find_spread(c, b, &all);
}

/* Takes note of what shares of its variance a picture has where. */
static void note_shares(const tm_large_class *c, const tm_posed *posed, const uint16_t *sums, double energy,
                        tm_large_made *of)
{
    double least = 1, most = 0, core_least, core_most;

    for (int place = 0; place < c->reach * c->reach; place++) {
        const double share = tm_large_share(sums + (int64_t)place * c->cells, c->cells, c->side, energy);
        least = fmin(least, share);
        most = fmax(most, share * (1 + 1e-8));
    }
    tm_large_bound_core(c, posed, &core_least, &core_most);
    of->share = fmin(of->share, least);
    of->most_share = fmax(of->most_share, most);
    of->most_rest = fmax(of->most_rest, core_most / energy * (1 + 1e-9) - least);
    of->most_beyond = fmax(of->most_beyond, 1 - core_least / energy * (1 - 1e-9));
}

/* Sums up a pose's cells at all places. */
static tm_status sum_pose(const tm_large_makings *m, const bench *b, int64_t pose, uint16_t *sums, tm_large_made *of)
{
    const tm_large_class *c = m->c;
    int *size = &m->large->sizes[2 * pose];
    tm_posed posed;

    tm_status status = tm_large_make_posed(m, pose, &posed);
    if (status != TM_OK)
        return status;
    const double energy = posed.count ? tm_large_energy(&posed) : 0;
    of->beyond = energy < 0.5 || !tm_large_sum_cells(c, &posed, sums, b->scratch);
    if (!of->beyond)
        note_shares(c, &posed, sums, energy, of);
    if (m->large->side && !of->beyond)
        status = tm_large_reduce(&m->large->reduced[pose], &posed, pose, m->large->side, energy);
    m->large->scorers[pose] = tm_pose_scorer_of(&posed);
    size[0] = (int)posed.width;
    size[1] = (int)posed.height;
    tm_posed_free(&posed);
    return status;
}

static tm_large_made make_bundle(const tm_large_makings *m, const bench *b, int bundle)
{
    const tm_large_class *c = m->c;
    const tm_pose_range *poses = &c->bundles[bundle];
    tm_large_made result = {.share = 1};

    for (int i = 0; i < poses->count && result.status == TM_OK && !result.beyond; i++)
        result.status = sum_pose(m, b, poses->first + i, b->sums + (int64_t)i * c->reach * c->reach * c->cells, &result);
    if (result.status != TM_OK || result.beyond)
        return result;
    result.spread = make_picture(m, b, bundle);
    make_parts(m, b, bundle, &result.part_spread);
    return result;
}

tm_status tm_large_make_bundles(tm_large_makings *m, int threads, bool *beyond)
{
    tm_large_class *c = m->c;
    const int count = c->family.count, team = tm_team_size((int)smaller(threads, count));
    tm_status status = TM_OK;

#pragma omp parallel num_threads(team) if (team > 1)
    {
        bench b;
        const bool good = make_bench(&b, c);
#pragma omp for schedule(dynamic)
        for (int i = 0; i < count; i++)
            m->made[i] = good ? make_bundle(m, &b, i) : (tm_large_made){.status = TM_ERR_MEMORY};
        free_bench(&b);
    }
    c->share = 1;
    for (int i = 0; i < count; i++) {
        const tm_large_made *of = &m->made[i];
        status = of->status == TM_OK ? status : of->status;
        *beyond = *beyond || of->beyond;
        c->share = fmin(c->share, of->share);
        c->most_share = fmax(c->most_share, of->most_share);
        c->most_rest = fmax(c->most_rest, of->most_rest);
        c->most_beyond = fmax(c->most_beyond, of->most_beyond);
        c->spread = fmax(c->spread, of->spread);
        c->part_spread = fmax(c->part_spread, of->part_spread);
    }
    return status;
}
