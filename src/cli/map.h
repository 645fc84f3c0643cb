/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLI_MAP_H
#define TMATCH_CLI_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <tmatch/tmatch.h>

/* A packed score map. data is NULL where there is none. */
typedef struct score_map {
    tm_metric metric;
    bool integers; /* int64_t elements, else float */
    int64_t width, height;
    void *data;
} score_map;

/* Errors: those of tm_map_size, and MEMORY. */
tm_status score_map_create(score_map *map, const tm_settings *settings, const tm_image *frame,
                           int64_t template_width, int64_t template_height);
static inline size_t score_map_element(const score_map *map)
{
    return map->integers ? sizeof(int64_t) : sizeof(float);
}

void score_map_free(score_map *map);

/* For tm_match. */
tm_map score_map_view(const score_map *map);

#endif
