/* SPDX-License-Identifier: MIT */
/* Peaks: positions of the score map that beat each of their up to eight
 * neighbours in tm_candidate_beats' order. So of two equal neighbours only the
 * one with the smaller y, then the smaller x, can be a peak. */
#ifndef TMATCH_LCC_PEAKS_H
#define TMATCH_LCC_PEAKS_H

#include <stdbool.h>
#include <stddef.h>

#include "lcc/score.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Which peaks are kept: the best most of those that reach the floor, and the
 * best least of the others. */
typedef struct tm_peak_search {
    int64_t floor; /* of tm_candidate.value; INT64_MIN: all peaks reach it */
    size_t most, least;
} tm_peak_search;

/* The best capacity of the candidates that were put in. */
typedef struct tm_peak_set {
    tm_candidate *items;
    size_t count, room, capacity;
    bool more;          /* there were more */
    bool full;          /* a selection was made: others than those that beat */
    tm_candidate worst; /* the worst one that it kept are not wanted */
} tm_peak_set;

/* The peaks of one map, or of parts of it: what is kept does not depend on the
 * order in which they are put in. */
typedef struct tm_peak_list {
    tm_peak_search search;
    tm_peak_set above, below;
    int64_t cut; /* lower peaks may be missing, and those that are there mean nothing;
                    INT64_MIN: none is missing */
    bool failed; /* memory ran out */
} tm_peak_list;

/* The cut is INT64_MIN at first. */
void tm_peak_list_init(tm_peak_list *list, const tm_peak_search *search);
void tm_peak_list_free(tm_peak_list *list);

/* Forgets the peaks and keeps the memory and the cut, for another map. */
void tm_peak_list_clear(tm_peak_list *list);

void tm_peak_list_add(tm_peak_list *list, const tm_candidate *candidates, size_t count);

/* Puts in the peaks of the rows [first, end) of a map so wide. windows are all those of the map that have
 * what tm_peak_list_least says, or more, each once, in any order; it sorts them. */
void tm_peak_list_add_windows(tm_peak_list *list, tm_candidate *windows, size_t count, int64_t width,
                              int64_t first, int64_t end);

/* Puts the peaks of a slice of the map, found by the same search, into the whole
 * map's list, whose cut becomes the slice's if that is higher; position is of the slice's first element. */
void tm_peak_list_merge(tm_peak_list *list, const tm_peak_list *slice, int64_t position);

/* Peaks of a lower value need not be put in any more; INT64_MIN: all are needed. */
int64_t tm_peak_list_least(const tm_peak_list *list);

/* Sorts the peaks, the best first, into above.items: all that there are, or at
 * least the best search.most, or those that reach the floor and the best
 * search.least of the others. False if memory ran out, here or before. */
bool tm_peak_list_finish(tm_peak_list *list);

/* After finish: whether the map has no other peaks. */
bool tm_peak_list_is_whole(const tm_peak_list *list);

#ifdef __cplusplus
}
#endif

#endif
