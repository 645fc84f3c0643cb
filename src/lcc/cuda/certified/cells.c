/* SPDX-License-Identifier: MIT */
#include "lcc/cuda/certified/cells.h"

#include <math.h>
#include <stdlib.h>

#include "integers.h"

/* The roundings of all that is computed here in binary64, as a share of 1, are far less. */
#define ROUNDINGS 1e-12

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

double tm_cells_scale(const tm_cells *cells, const tm_template *tmpl)
{
    enum { MOST_TAP = 2047, MOST_SUM = (1 << 24) - 1 };
    int64_t sums[TM_CELLS_MOST * TM_CELLS_MOST], most = 1, most_weight = 1;
    const int count = cells->across * cells->down;
    const int greatest = tm_cells_rounding_of(cells->size).middle + 2;

    for (int shift = 0; shift < cells->size * cells->size; shift++) {
        int64_t weight = 0;
        sum_cells(sums, cells, tmpl, shift % cells->size, shift / cells->size);
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

void tm_cells_shift_make(tm_cells_shift *shift, const tm_cells *cells, const tm_template *tmpl,
                         int sx, int sy, double scale)
{
    int64_t sums[TM_CELLS_MOST * TM_CELLS_MOST], product = 0, squares = 0;
    const int count = cells->across * cells->down;
    const double norm = sqrt((double)tmpl->n / (double)tmpl->variance); /* of 1 level of t */

    sum_cells(sums, cells, tmpl, sx, sy);
    quantize(shift->taps, sums, count, scale);
    shift->weight = 0;
    for (int i = 0; i < count; i++) {
        product += shift->taps[i] * sums[i];
        squares += shift->taps[i] * shift->taps[i];
        shift->weight += abs(shift->taps[i]);
    }
    const double length = sqrt((double)squares), projected = share(cells, tmpl, sums);
    shift->part = squares ? (double)product / (length * cells->size) * norm : 0;
    shift->scale = squares ? shift->part / length : 0;
    shift->delta2 = fmax(0, projected - shift->part * shift->part) + ROUNDINGS;
    shift->eps2 = fmax(0, 1 - projected) + ROUNDINGS;
}
