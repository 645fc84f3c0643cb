/* SPDX-License-Identifier: MIT */
/* Work in a process that was forked. The thread that comes out of fork() inherits an
 * OpenMP team whose other threads did not come along, and waits for them for good. A
 * thread that begins after the fork has a team of its own. */
#ifndef TMATCH_MATCH_FORKED_H
#define TMATCH_MATCH_FORKED_H

#include "match/matcher.h"

/* Runs the work and returns what it returned: in the calling thread, or, where that came
 * out of a fork, in a thread that lasts as long as the work. MEMORY, with the reason on the
 * matcher, where that cannot be started. */
tm_status tm_run_forked(tm_matcher *matcher, tm_status (*work)(void *context), void *context);

/* How many forks lie between the first process and this one. What was made at another
 * count has threads and devices that are not this process's. */
unsigned tm_forks(void);

#endif
