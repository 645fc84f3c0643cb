/* SPDX-License-Identifier: MIT */
#include "verify.h"

#include <math.h>
#include <string.h>

static double value_at(const score_map *map, int64_t i)
{
    return map->integers ? (double)((const int64_t *)map->data)[i]
                                             : (double)((const float *)map->data)[i];
}

verification verify_compare(const score_map *map, const score_map *truth)
{
    const size_t size = score_map_element(map);
    const char *a = map->data, *b = truth->data;
    verification v = {.positions = map->width * map->height};
    double error_sum = 0, truth_sum = 0;

    for (int64_t i = 0; i < v.positions; i++, a += size, b += size) {
        truth_sum += fabs(value_at(truth, i));
        /* Bits, not values: -0 is not 0, and a NaN cannot hide. */
        if (memcmp(a, b, size) == 0)
            continue;
        const double error = fabs(value_at(map, i) - value_at(truth, i));
        v.differing++;
        error_sum += error;
        if (!isnan(v.max_abs_error) && !(error <= v.max_abs_error))
            v.max_abs_error = error;
    }
    v.relative_l1_error = v.differing ? error_sum / truth_sum : 0;
    return v;
}

bool verify_passed(const verification *v)
{
    return v->differing == 0 && v->same_peak;
}
