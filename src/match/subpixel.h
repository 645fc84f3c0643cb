/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_MATCH_SUBPIXEL_H
#define TMATCH_MATCH_SUBPIXEL_H

#include "lcc/lcc.h"

/* Writes dx and dy of the job's hits, from the scores around them by the
 * definition. */
void tm_subpixel(tm_hits *hits, const tm_job *job, int threads);

#endif
