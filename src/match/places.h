/* SPDX-License-Identifier: MIT */
/* Peaks of a job's map, found where a reduced frame looks like the reduced template. */
#ifndef TMATCH_MATCH_PLACES_H
#define TMATCH_MATCH_PLACES_H

#include "match/matcher.h"

/* Puts peaks into found that are no nearer to each other than about twice the template's size, until
 * there are so many and, unless the floor is INT64_MIN, one is below the floor; there may be fewer.
 * The job is 8-bit gray without masks, by LCC. Errors: MEMORY and those of a match. */
tm_status tm_places_find(tm_matcher *matcher, const tm_job *job, size_t count, int64_t floor,
                         tm_peak_list *found);

#endif
