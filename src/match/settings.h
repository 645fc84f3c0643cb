/* SPDX-License-Identifier: MIT */
/* What is wrong with what a caller gave: a sentence fragment, or NULL. */
#ifndef TMATCH_MATCH_SETTINGS_H
#define TMATCH_MATCH_SETTINGS_H

#include "tmatch/tmatch.h"

/* The one place that validates settings. */
const char *tm_settings_fault(const tm_settings *settings);

const char *tm_search_fault(const tm_search *search);
const char *tm_image_fault(const tm_image *image);

/* Of a map of that size, if it has data. element: bytes of one. */
const char *tm_map_fault(const tm_map *map, int64_t width, int64_t height, size_t element);

#endif
