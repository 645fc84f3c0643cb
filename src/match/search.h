/* SPDX-License-Identifier: MIT */
/* From the peaks of a map to matches. */
#ifndef TMATCH_MATCH_SEARCH_H
#define TMATCH_MATCH_SEARCH_H

#include "lcc/lcc.h"

/* Which peaks an algorithm is to keep, at first. */
tm_peak_search tm_search_start(const tm_search *search, const tm_job *job);

/* Takes the matches from the job's finished peaks. *enough becomes false where
 * that needs more of the map's peaks: hits is empty then, and the list is made
 * larger for another run. Errors: MEMORY. */
tm_status tm_search_take(tm_hits *hits, const tm_search *search, tm_job *job, int threads,
                         bool *enough);

#endif
