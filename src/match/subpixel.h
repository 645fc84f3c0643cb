/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_MATCH_SUBPIXEL_H
#define TMATCH_MATCH_SUBPIXEL_H

#include "lcc/lcc.h"

/* Writes dx and dy of the job's hits: where the top of a surface lies that is fitted to the
 * scores around each hit, which are made by the definition. */
void tm_subpixel(tm_hits *hits, const tm_job *job, int threads);

#endif
