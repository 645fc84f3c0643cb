/* SPDX-License-Identifier: MIT */
/* Score maps, and how two of them compare. */
#ifndef TMATCH_CLI_SCORE_MAP_H
#define TMATCH_CLI_SCORE_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include <tmatch/tmatch.h>

#include "io/io.h"

/* Rows are packed. data is NULL where there is no map. */
typedef struct score_map {
    tm_metric metric;
    bool integers; /* int64_t elements, else float */
    int64_t width, height;
    void *data;
} score_map;

/* Allocates the map of a template's scores in the frame; they stay uninitialised. False with the
 * reason. To be freed. */
bool score_map_create(score_map *map, const tm_settings *settings, const tm_image *frame,
                      int64_t template_width, int64_t template_height, io_error *error);
void score_map_free(score_map *map);

/* The size of an element in bytes. */
static inline size_t score_map_element(const score_map *map)
{
    return map->integers ? sizeof(int64_t) : sizeof(float);
}

/* For tm_match. */
tm_map score_map_view(const score_map *map);

/* How the scores, and the peaks found in them, compare with those by the definition. */
typedef struct verification {
    int64_t positions;
    int64_t differing; /* in any bit */
    double max_abs_error;
    double relative_l1_error; /* sum |a - b| / sum |b|, b by the definition */
    bool same_peak;
} verification;

/* Compares two maps of the same size and metric; same_peak is left to the caller. */
verification score_map_compare(const score_map *map, const score_map *truth);

bool verification_passed(const verification *verification);

#endif
