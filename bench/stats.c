/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "bench.h"

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Interpolates linearly between the two nearest ranks. */
static double quantile(const double *sorted, int count, double q)
{
    const double rank = q * (count - 1);
    const int low = (int)rank;
    const int high = low + 1 < count ? low + 1 : low;
    return sorted[low] + (rank - low) * (sorted[high] - sorted[low]);
}

bench_spread bench_spread_of(double *ms, int samples)
{
    if (samples <= 0)
        return (bench_spread){0};
    qsort(ms, (size_t)samples, sizeof *ms, ascending);
    return (bench_spread){.samples = samples,
                          .min = ms[0],
                          .q1 = quantile(ms, samples, 0.25),
                          .median = quantile(ms, samples, 0.5),
                          .q3 = quantile(ms, samples, 0.75),
                          .max = ms[samples - 1]};
}
