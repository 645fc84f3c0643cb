/* SPDX-License-Identifier: MIT */
/* Which peaks of some rows of a map may be matches of the whole map. */
#ifndef TMATCH_MATCH_PART_PEAKS_H
#define TMATCH_MATCH_PART_PEAKS_H

#include "lcc/slices.h"
#include "match/search.h"

/* Some rows of a job's map. */
typedef struct tm_part_job {
    tm_job whole;
    tm_rows own;  /* the part's rows */
    tm_rows held; /* the slice's: the neighbours' too */
    tm_peak_list list;
    tm_cut cut;
} tm_part_job;

/* Puts what may be a match of the whole map into hits, from the finished peaks of the slice; hits
 * is empty so far. *enough becomes false where that needs more of the slice's peaks: hits is empty
 * then, and the list made larger, or its cut lower, for another run. False if memory ran out. */
bool tm_part_take(tm_part_hits *hits, const tm_search *search, tm_part_job *part,
                  const tm_job *slice, bool *enough);

/* Appends a position of the slice; *room is how many items there is memory for. False if memory ran
 * out. */
bool tm_part_add(tm_part_hits *hits, size_t *room, const tm_part_job *part, tm_candidate peak);

/* A candidate of the slice's map whose first row is that row of the whole map. */
tm_part_hit tm_part_hit_of(const tm_part_job *part, tm_candidate peak, int64_t first_row);

#endif
