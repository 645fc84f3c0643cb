/* SPDX-License-Identifier: MIT */
/* From which score on certified search has to find peaks, where that is not simply the least
 * score of a match: for the best few, and for margins. */
#ifndef TMATCH_MATCH_CUT_H
#define TMATCH_MATCH_CUT_H

#include "match/matcher.h"

/* Peaks of the map, the best first, of which no box can overlap two. */
typedef struct tm_cut {
    tm_candidate *apart;
    size_t count;
} tm_cut;

/* The same for devices, which look at the map themselves. */
typedef struct tm_cut_rule {
    tm_cutter cutter;
    const tm_search *search;
} tm_cut_rule;

/* Sets the job's cutter to the rule's, where a cut may help a device. Both last as long as the job. */
void tm_cut_by_device(tm_cut_rule *rule, const tm_search *search, tm_job *job);

/* Looks at some of the job's windows, where certified search would be chosen for it, and sets
 * job->peaks->cut, so low that the search will most likely find all peaks that it needs, and
 * job->known, which lies in *cut. job->peaks is still empty. *cut is to be freed, also after a
 * failure. Errors: MEMORY and those of a match. */
tm_status tm_cut_choose(tm_matcher *matcher, const tm_search *search, tm_job *job, tm_cut *cut);

void tm_cut_free(tm_cut *cut);

/* Remembers whether that was worth it, for the template's next frame. */
void tm_cut_note(tm_matcher *matcher, const tm_job *job, const tm_cut *cut);

#endif
