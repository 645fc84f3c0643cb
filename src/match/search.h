/* SPDX-License-Identifier: MIT */
/* From the peaks of a map to matches. */
#ifndef TMATCH_MATCH_SEARCH_H
#define TMATCH_MATCH_SEARCH_H

#include "match/cut.h"

/* The least rank of scores that are min_score or better; INT64_MIN where that is NAN. */
int64_t tm_search_floor(double min_score, tm_metric metric, bool integer);

/* Which peaks an algorithm is to keep, at first. */
tm_peak_search tm_search_start(const tm_search *search, const tm_job *job);

/* Lets a search keep more of the peaks that reach the floor, or of the others, up to a limit; false
 * where it keeps as many already. */
bool tm_search_enlarge(tm_peak_search *search, bool above, size_t limit);

/* Empties a list for another run that finds more: with its cut lowered to the given one, or with more
 * peaks kept. False where the list has what it would have then. */
bool tm_search_goes_on(tm_peak_list *list, const tm_search *search, int64_t cut);

/* Whether the search is for the best match and no more, which a job without peaks finds. */
static inline bool tm_search_is_for_best(const tm_search *search)
{
    return search->most == 1 && !search->margin;
}

/* Takes the match of such a search. False if memory ran out. */
bool tm_search_take_best(tm_hits *hits, const tm_search *search, const tm_job *job, int threads);

/* Takes the matches from the job's finished peaks. *enough becomes false where
 * that needs more of the map's peaks: hits is empty then, and the list is made
 * larger, or its cut lower, for another run. cut is what the cut was chosen by.
 * Errors: MEMORY. */
tm_status tm_search_take(tm_hits *hits, const tm_search *search, tm_job *job, const tm_cut *cut,
                         int threads, bool *enough);

#endif
