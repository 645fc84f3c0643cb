/* SPDX-License-Identifier: MIT */
#include "lcc/cuda/certified/cells.h"

#include <math.h>
#include <stdlib.h>

#include "integers.h"

/* The roundings of all that is computed here in binary64, as a share of 1, are far less. */
#define ROUNDINGS 1e-12

/* More than the roundings of a score, and than that to binary32. */
#define SCORE_ROUNDING 0x1p-19
#define ABOVE (1 + 0x1p-18)

/* A template for which hardly any cosine is too small does not make others shorter than this lets it. */
#define LEAST_COSINE 0.1

bool tm_cells_choose(tm_cells *cells, int64_t width, int64_t height)
{
    for (int64_t size = 2; size < width && size < height && size <= TM_CELLS_MOST_SIZE; size++) {
        int64_t across = (width - size + 1) / size, down = (height - size + 1) / size;
        if (size == TM_CELLS_MOST_SIZE) { /* then they cover a part of the template */
            across = smaller(across, TM_CELLS_MOST);
            down = smaller(down, TM_CELLS_MOST);
        }
        if (across > TM_CELLS_MOST || down > TM_CELLS_MOST)
            continue;
        *cells = (tm_cells){(int)size, (int)across, (int)down};
        return across >= TM_CELLS_LEAST && down >= TM_CELLS_LEAST;
    }
    return false;
}

/* The template's sums over its cells for a shift. */
static void sum_cells(int64_t *sums, const tm_cells *cells, const tm_template *tmpl, int sx, int sy)
{
    for (int i = 0; i < cells->across * cells->down; i++)
        sums[i] = 0;
    for (int y = 0; y < cells->down * cells->size; y++) {
        const uint8_t *row = tmpl->samples + (sy + y) * tmpl->width + sx;
        int64_t *to = sums + y / cells->size * cells->across;
        for (int i = 0; i < cells->across; i++, row += cells->size) {
            int32_t sum = 0;
            for (int x = 0; x < cells->size; x++)
                sum += row[x];
            to[i] += sum;
        }
    }
}

void tm_cells_sum(int64_t *sums, const tm_cells *cells, const tm_template *tmpl)
{
    for (int shift = 0; shift < cells->size * cells->size; shift++)
        sum_cells(sums + shift * cells->across * cells->down, cells, tmpl, shift % cells->size, shift / cells->size);
}

/* count times the sum of squares, less the squared sum: count^2 times the sums' variance. */
static int64_t spread(const int64_t *sums, int count)
{
    int64_t sum = 0, squares = 0;
    for (int i = 0; i < count; i++)
        sum += sums[i], squares += sums[i] * sums[i];
    return count * squares - sum * sum;
}

/* |Pt|^2 */
static double share(const tm_cells *cells, const tm_template *tmpl, const int64_t *sums)
{
    const int count = cells->across * cells->down;
    return (double)spread(sums, count) / ((double)count * cells->size * cells->size) *
           (double)tmpl->n / (double)tmpl->variance;
}

double tm_cells_eps(const tm_cells *cells, const tm_template *tmpl)
{
    int64_t sums[TM_CELLS_MOST * TM_CELLS_MOST];
    double least = 1;
    for (int shift = 0; shift < cells->size; shift += cells->size - 1) {
        sum_cells(sums, cells, tmpl, shift, shift);
        least = fmin(least, share(cells, tmpl, sums));
    }
    return sqrt(fmax(0, 1 - least));
}

/* A sum less the mean, times the count. */
static int64_t above_mean(const int64_t *sums, int count, int index)
{
    int64_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += sums[i];
    return count * sums[index] - sum;
}

double tm_cells_scale(const tm_cells *cells, const int64_t *sums)
{
    enum { MOST_TAP = 2047, MOST_SUM = (1 << 24) - 1 };
    int64_t most = 1, most_weight = 1;
    const int count = cells->across * cells->down;
    const int greatest = tm_cells_greatest(cells->size);

    for (int shift = 0; shift < cells->size * cells->size; shift++, sums += count) {
        int64_t weight = 0;
        const int64_t first = above_mean(sums, count, 0);
        for (int i = 0; i < count; i++) {
            const int64_t tap = llabs(first + count * (sums[i] - sums[0]));
            most = tap > most ? tap : most;
            weight += tap;
        }
        most_weight = weight > most_weight ? weight : most_weight;
    }
    /* rounding, and what makes their sum 0, add less than 1 to a tap */
    return fmin((MOST_TAP - 1) / (double)most, ((double)MOST_SUM / greatest - count) / (double)most_weight);
}

/* Taps in proportion to the sums less their mean. Taps that follow each other take what is left of
 * their sum, one each. */
static void quantize(int16_t *taps, const int64_t *sums, int count, double scale)
{
    const int64_t first = above_mean(sums, count, 0);
    int64_t left = 0;
    for (int i = 0; i < count; i++) {
        taps[i] = (int16_t)lround(scale * (double)(first + count * (sums[i] - sums[0])));
        left += taps[i];
    }
    const int step = left > 0 ? 1 : -1;
    for (int i = 0; left; i++, left -= step)
        taps[i] = (int16_t)(taps[i] - step);
}

/* The shifts of a run, and the shift at a place of it. */
typedef struct run {
    int x, y, across, down;
} run;

static run run_of(const tm_cells *cells, const tm_cells_set *set, int number)
{
    const int column = number % set->across, row = number / set->across,
              x = column * cells->size / set->across, y = row * cells->size / set->down;
    return (run){x, y, (column + 1) * cells->size / set->across - x, (row + 1) * cells->size / set->down - y};
}

static int shift_of(const tm_cells *cells, const run *r, int place)
{
    return (r->y + place / r->across) * cells->size + r->x + place % r->across;
}

/* Makes the taps of the mean of a run's shifts. */
static void make_taps(int16_t *taps, const tm_cells *cells, const int64_t *sums, const run *r, double scale)
{
    const int count = cells->across * cells->down, several = r->across * r->down;
    int64_t all[TM_CELLS_MOST * TM_CELLS_MOST] = {0};

    for (int s = 0; s < several; s++)
        for (int i = 0; i < count; i++)
            all[i] += sums[shift_of(cells, r, s) * count + i];
    quantize(taps, all, count, scale / several);
}

static double length_of(const int16_t *taps, int count)
{
    int64_t squares = 0;
    for (int i = 0; i < count; i++)
        squares += taps[i] * taps[i];
    return sqrt((double)squares);
}

/* A shift's template t, which is centred and of norm 1, beside a coarse template u: Pt is part along u and delta
 * across it, and eps is what t has beside Pt. */
typedef struct beside {
    double part, delta, eps;
} beside;

static beside compare(const int16_t *taps, const tm_cells *cells, const tm_template *tmpl, const int64_t *sums)
{
    const int count = cells->across * cells->down;
    const double norm = sqrt((double)tmpl->n / (double)tmpl->variance), /* of 1 level of t */
                 length = length_of(taps, count), projected = share(cells, tmpl, sums);
    int64_t product = 0;
    for (int i = 0; i < count; i++)
        product += taps[i] * sums[i];
    const double part = length > 0 ? fmax(0, (double)product / (length * cells->size) * norm) : 0;
    return (beside){part, sqrt(fmax(0, projected - part * part) + ROUNDINGS), sqrt(fmax(0, 1 - projected) + ROUNDINGS)};
}

/* The least cosine for a score, or so. */
static double cosine_of(const beside *b, double score)
{
    const double whole = hypot(b->part, b->delta), rest2 = score * score - b->eps * b->eps;
    return rest2 > 0 ? cos(atan2(b->delta, b->part) + acos(fmin(1, sqrt(rest2) / whole))) : 0;
}

/* What a run's product must be at least for a score, beside the taps' unit. */
static double least_of(const int16_t *taps, const tm_cells *cells, const tm_template *tmpl, const int64_t *sums,
                       const run *r, double score)
{
    const int count = cells->across * cells->down;
    double least = 1;
    for (int s = 0; s < r->across * r->down; s++) {
        const beside b = compare(taps, cells, tmpl, sums + shift_of(cells, r, s) * count);
        least = fmin(least, cosine_of(&b, score));
    }
    return fmax(least, LEAST_COSINE) * length_of(taps, count);
}

/* Raises the squares of limits to what a template, of a length, lets its shifts score. */
static void raise_limits(double *limits2, const tm_cells_set *set, const tm_cells *cells, const tm_template *tmpl,
                         const int64_t *sums, int number)
{
    const int count = cells->across * cells->down;
    const int16_t *taps = set->taps + number * count;
    const double length = length_of(taps, count), ratio2 = length > 0 ? set->length * set->length / (length * length) : INFINITY;
    const run r = run_of(cells, set, number);

    for (int s = 0; s < r.across * r.down; s++) {
        const beside b = compare(taps, cells, tmpl, sums + shift_of(cells, &r, s) * count);
        const double whole2 = b.part * b.part + b.delta * b.delta, least2 = b.part * b.part / whole2;
        for (int i = 0; i < TM_CELLS_LIMITS; i++) {
            const double cosine2 = i * ratio2 / 254;
            const double along = cosine2 < least2 ? b.part * sqrt(cosine2) + b.delta * sqrt(1 - cosine2) : sqrt(whole2);
            limits2[i] = fmax(limits2[i], along * along + b.eps * b.eps);
        }
    }
}

void tm_cells_set_make(tm_cells_set *set, const tm_cells *cells, const tm_template *tmpl, const int64_t *sums,
                       double score)
{
    const int count = cells->across * cells->down, templates = set->across * set->down;
    const double scale = tm_cells_scale(cells, sums);
    double leasts[TM_CELLS_MOST_SIZE * TM_CELLS_MOST_SIZE], least = INFINITY, limits2[TM_CELLS_LIMITS] = {0};

    set->length = 0, set->weight = 0;
    for (int k = 0; k < templates; k++) {
        const run r = run_of(cells, set, k);
        make_taps(set->taps + k * count, cells, sums, &r, scale);
        leasts[k] = least_of(set->taps + k * count, cells, tmpl, sums, &r, score);
        least = fmin(least, leasts[k]);
    }
    /* all must reach as much for the score, so that none makes a threshold low for the others */
    for (int k = 0; k < templates; k++) {
        int16_t *taps = set->taps + k * count;
        const run r = run_of(cells, set, k);
        int64_t weight = 0;
        if (leasts[k] > least)
            make_taps(taps, cells, sums, &r, scale * least / leasts[k]);
        for (int i = 0; i < count; i++)
            weight += abs(taps[i]);
        set->length = fmax(set->length, length_of(taps, count));
        set->weight = weight > set->weight ? weight : set->weight;
    }
    for (int k = 0; k < templates; k++)
        raise_limits(limits2, set, cells, tmpl, sums, k);
    for (int i = 0; i < TM_CELLS_LIMITS; i++)
        set->limits[i] = (float)((sqrt(limits2[i]) + SCORE_ROUNDING) * ABOVE);
}
