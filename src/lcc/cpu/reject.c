/* SPDX-License-Identifier: MIT */
/* LCC in binary32, with a bound of its error: windows that cannot reach a score by it
 * need no exact one. With the sums divided by n,
 *
 *     score >= least > 0  implies
 *     (num + e_num)^2 > tm_reject_bound(least, var_T/n) * (var - e_var), num + e_num > 0
 *
 * where e_num and e_var bound the rounding of num and var below; the scores' own and that
 * of the comparison are in the bound's margin. */
#include <math.h>

#include "lcc/cpu/tile.h"
#include "lcc/reject.h"

#define UNIT 0x1p-24

/* The greatest magnitude of a sum, and how far from it the sum of its sources may be:
 * each is rounded twice (and loses half a unit in the last place, where vf_of_u32 drops
 * a bit), and so are the sums of the first few. */
typedef struct bounded {
    double most, error;
} bounded;

static bounded bound(const tm_tile_planes *p, int sum)
{
    bounded b = {0, 0};
    const int count = p->row.first[sum + 1] - p->row.first[sum];
    for (int i = p->row.first[sum]; i < p->row.first[sum + 1]; i++) {
        b.most += p->source[i].most;
        b.error += fabs((double)p->row.source[i].factor);
    }
    b.error += (count + 4) * UNIT * b.most;
    return b;
}

void tm_reject_make(tm_tile_planes *p)
{
    const tm_scorer *scorer = &p->scorer;
    const double n = (double)scorer->n;
    const bounded ft = bound(p, TM_SUM_FT), ff = bound(p, TM_SUM_FF);
    const int steps = 4 * scorer->channels + 4; /* roundings after those of the sums */
    double num = ft.most, var = ff.most, e_num = ft.error, e_var = ff.error;
    tm_reject *s = &p->reject;

    *s = (tm_reject){.channels = scorer->channels, .inverse_n = (float)(1 / n)};
    for (int c = 0; c < s->channels; c++) {
        const bounded f = bound(p, TM_SUM_F + c);
        const double mean = (double)scorer->s_t[c] / n;
        s->mean[c] = (float)mean;
        num += f.most * fabs(mean);
        e_num += f.error * fabs(mean);
        var += f.most * f.most / n;
        e_var += (2 * f.most + f.error) * f.error / n;
    }
    s->e_num = (float)(1.01 * (e_num + steps * UNIT * num));
    s->e_var = 1.01 * (e_var + steps * UNIT * var);
    s->variance = (double)scorer->norm / (double)TM_SCORE_SCALE / n;
    p->rejects = true;
}

void tm_reject_set(tm_reject *s, float least)
{
    const double slope = tm_reject_bound((double)least, s->variance);
    const bool rejects = least > 0 && slope > 1e-30; /* below, slopes lose digits */
    s->slope = rejects ? (float)slope : 0;
    s->offset = rejects ? (float)(slope * s->e_var * (1 + 0x1p-18)) : INFINITY;
}
