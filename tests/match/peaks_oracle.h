/* SPDX-License-Identifier: MIT */
/* Brute force over the oracle's map: each peak by its definition, sorted, suppressed by
 * comparing all with all whose rows are near. */
#ifndef TMATCH_TESTS_PEAKS_ORACLE_H
#define TMATCH_TESTS_PEAKS_ORACLE_H

#include <stdbool.h>
#include <stddef.h>

#include "lcc/metrics.h"
#include "tmatch/tmatch.h"

/* What is searched. */
typedef struct scene {
    tm_image frame, tmpl;
    tm_metric metric;
    tm_domain domain;
    const char *text;
} scene;

/* Matchers of one device, one a metric and domain, kept across cases. */
typedef struct scene_matchers {
    tm_settings settings;
    tm_matcher *made[TM_METRICS][3];
} scene_matchers;

tm_matcher *scene_matcher(scene_matchers *m, const scene *p);
void scene_matchers_free(scene_matchers *m);

/* Whether two margins are the same, or both are none. */
bool same_margin(double a, double b);

typedef struct truth {
    int64_t width, height, pad_x, pad_y;
    double sign; /* -1: the least score is the best */
    double *map; /* times sign, -INFINITY where a position is skipped */
    tm_hit *peaks; /* all, sorted; in the map's coordinates */
    size_t count;
    bool created; /* the template is not flat */
} truth;

/* False where there is nothing to be found: a flat template, or all masked out. */
bool truth_make(truth *t, const scene *p);
void truth_free(truth *t);

double truth_at(const truth *t, int64_t x, int64_t y);
double map_element(const tm_map *map, tm_metric metric, size_t i);

/* What a search is to find: hits has room for all peaks and one more; returns their number. */
size_t truth_suppress(const truth *t, const tm_search *s, int64_t w, int64_t h, tm_hit *hits,
                       bool *cut_off);

/* Fails the test where a match's sub-pixel place is not the top of its surface. */
void check_subpixel(const truth *t, tm_metric metric, const tm_hit *expected,
                           const tm_hit *hit, const char *text);

#endif
