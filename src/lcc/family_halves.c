/* SPDX-License-Identifier: MIT */
#include "lcc/family_halves.h"

#include <math.h>
#include <string.h>

#include "integers.h"
#include "lcc/components.h"

bool tm_family_has_half_turns(const tm_family *f)
{
    bool same = true;

    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i], *after = &f->runs[f->run_count - 1 - i];
        same = same && after->y == f->height - 1 - r->y && after->x == f->width - r->end && after->end == f->width - r->x;
    }
    return same;
}

/* Which member is taken: those of a second half turn lie between those of the first. */
static int64_t sample_of(const tm_family *f, int index, int count)
{
    return ((int64_t)index * f->count + (2 * index >= count ? f->count / 2 : 0)) / count;
}

/* Makes twice the opposite of a member, and the member twice what it is turned, too. */
static void split(int16_t *member, int16_t *opposite, int64_t n)
{
    for (int64_t i = 0; i < (n + 1) / 2; i++) {
        const int16_t here = member[i], there = member[n - 1 - i];
        member[i] = member[n - 1 - i] = (int16_t)(here + there);
        opposite[i] = (int16_t)(here - there);
        opposite[n - 1 - i] = (int16_t)(there - here);
    }
}

bool tm_family_read_halves(const tm_family *f, const tm_posed *posed, int16_t *members, tm_family_sums *sums,
                           double *gram, int count)
{
    const int64_t n = f->pixels;

    for (int i = 0; i < count; i++) {
        int16_t *member = members + i * n;
        if (!tm_family_read(f, &posed[sample_of(f, i, count)], member, &sums[i]))
            return false;
        split(member, member + count * n, n);
        sums[i] = (tm_family_sums){2 * sums[i].sum, 2 * sums[i].length};
        sums[count + i] = (tm_family_sums){0, sums[i].length};
    }
    for (int i = 0; i < 2 * count; i++) {
        const int first = i < count ? 0 : count;
        double *row = gram + (int64_t)i * count;
        tm_whole_dots(row, members + i * n, members + first * n, i - first + 1, n);
        for (int j = first; j <= i; j++) {
            row[j - first] = (row[j - first] - sums[i].sum * sums[j].sum / (double)n) / (sums[i].length * sums[j].length);
            gram[(int64_t)j * count + i - first] = row[j - first];
        }
    }
    return true;
}

/* What a component has of the members' variance. */
static double variance_of(const double *weights, const double *gram, int count)
{
    double variance = 0;
    for (int i = 0; i < count; i++)
        variance += weights[i] * tm_dot(weights, gram + (int64_t)i * count, count);
    return variance;
}

uint32_t tm_family_find_halves(double *weights, double *next, const double *gram, int components, int count)
{
    double *found[2] = {next, next + (int64_t)TM_FAMILY_BASIS * count};
    double variance[2][TM_FAMILY_BASIS + 1] = {{0}};
    int taken[2] = {0, 0};
    uint32_t odd = 0;

    for (int kind = 0; kind < 2; kind++) {
        const double *products = gram + (int64_t)kind * count * count;
        tm_components_find(found[kind], next + (int64_t)2 * TM_FAMILY_BASIS * count, products, components, count);
        for (int k = 0; k < components; k++)
            variance[kind][k] = variance_of(found[kind] + (int64_t)k * count, products, count);
    }
    memset(weights, 0, (size_t)components * 2 * (size_t)count * sizeof *weights);
    for (int k = 0; k < components; k++) {
        const int kind = variance[1][taken[1]] > variance[0][taken[0]];
        memcpy(weights + ((int64_t)2 * k + kind) * count, found[kind] + (int64_t)taken[kind]++ * count,
               (size_t)count * sizeof *weights);
        odd |= (uint32_t)kind << k;
    }
    return odd;
}

void tm_family_round_halves(int16_t *taps, const float *component, int64_t n, float scale, bool odd)
{
    const int64_t half = n / 2;

    for (int64_t i = 0; i < half; i++)
        taps[i] = (int16_t)lrintf(component[i] * scale);
    if (n % 2)
        taps[half] = (int16_t)(odd ? 0 : lrintf(component[half] * scale / 2));
    if (!odd)
        tm_taps_balance(taps, half + n % 2);
    if (n % 2)
        taps[half] = (int16_t)(2 * taps[half]);
    for (int64_t i = 0; i < half; i++)
        taps[n - 1 - i] = (int16_t)(odd ? -taps[i] : taps[i]);
}
