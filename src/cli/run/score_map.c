/* SPDX-License-Identifier: MIT */
#include "run/score_map.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool score_map_create(score_map *map, const tm_settings *settings, const tm_image *frame,
                      int64_t template_width, int64_t template_height, io_error *error)
{
    size_t bytes;

    *map = (score_map){.metric = settings->metric,
                       .integers = frame->type != TM_SAMPLE_F32 &&
                                   tm_metric_is_integer(settings->metric)};
    const tm_status status =
        tm_map_size(settings->domain, frame->width, frame->height, template_width,
                    template_height, &map->width, &map->height);
    if (status != TM_OK) {
        snprintf(error->reason, sizeof error->reason, "%s", tm_strerror(status));
        return false;
    }
    if (!__builtin_mul_overflow((size_t)map->width, (size_t)map->height, &bytes) &&
        !__builtin_mul_overflow(bytes, score_map_element(map), &bytes))
        map->data = malloc(bytes);
    if (!map->data)
        snprintf(error->reason, sizeof error->reason,
                 "out of memory for a score map of %" PRId64 "x%" PRId64, map->width, map->height);
    return map->data != NULL;
}

void score_map_free(score_map *map)
{
    free(map->data);
    map->data = NULL;
}

tm_map score_map_view(const score_map *map)
{
    return (tm_map){map->data, (ptrdiff_t)(score_map_element(map) * (size_t)map->width)};
}

static double value_at(const score_map *map, int64_t i)
{
    return map->integers ? (double)((const int64_t *)map->data)[i]
                         : (double)((const float *)map->data)[i];
}

verification score_map_compare(const score_map *map, const score_map *truth)
{
    const size_t size = score_map_element(map);
    const char *a = map->data, *b = truth->data;
    verification v = {.positions = map->width * map->height};
    double error_sum = 0, truth_sum = 0;

    for (int64_t i = 0; i < v.positions; i++, a += size, b += size) {
        truth_sum += fabs(value_at(truth, i));
        /* Bits are compared, not values: -0 is not 0, and a NaN cannot hide. */
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

bool verification_passed(const verification *v)
{
    return v->differing == 0 && v->same_peak;
}
