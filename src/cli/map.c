/* SPDX-License-Identifier: MIT */
#include "map.h"

#include <stdlib.h>

tm_status score_map_create(score_map *map, const tm_settings *settings, const tm_image *frame,
                           int64_t template_width, int64_t template_height)
{
    size_t bytes;

    *map = (score_map){.metric = settings->metric,
                       .integers = frame->type != TM_SAMPLE_F32 &&
                                   tm_metric_is_integer(settings->metric)};
    const tm_status status =
        tm_map_size(settings->domain, frame->width, frame->height, template_width,
                    template_height, &map->width, &map->height);
    if (status != TM_OK)
        return status;
    if (__builtin_mul_overflow((size_t)map->width, (size_t)map->height, &bytes) ||
        __builtin_mul_overflow(bytes, score_map_element(map), &bytes))
        return TM_ERR_MEMORY;
    map->data = malloc(bytes);
    return map->data ? TM_OK : TM_ERR_MEMORY;
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
