/* SPDX-License-Identifier: MIT */
/* Checks of what callers give. Each returns what is wrong, as a clause for a message, or NULL. */
#ifndef TMATCH_MATCH_SETTINGS_H
#define TMATCH_MATCH_SETTINGS_H

#include <stdbool.h>

#include "tmatch/tmatch.h"

const char *tm_settings_fault(const tm_settings *settings);

/* Copies a caller's search, which may be shorter. */
const char *tm_search_read(tm_search *search, const tm_search *given);
const char *tm_image_fault(const tm_image *image);

/* What of this does not depend on how the samples lie. */
const char *tm_picture_fault(const tm_image *image);

/* Whether so many items a stride apart, forth or back, lie within memory. */
bool tm_span_fits(ptrdiff_t stride, int64_t count);

/* Accepts a map without data; another must hold width * height elements of so many bytes. */
const char *tm_map_fault(const tm_map *map, int64_t width, int64_t height, size_t element);

#endif
