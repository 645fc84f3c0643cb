/* SPDX-License-Identifier: MIT */
/* How many threads can be had. OpenMP ends the process where it cannot start one that it was
 * asked for, as under a limit on processes or on address space; so it is asked for as many as
 * could be started before. */
#ifndef TMATCH_LCC_THREADS_H
#define TMATCH_LCC_THREADS_H

/* What threads of a call write in turns they lock by a mutex of that call. OpenMP's critical sections are
 * the process's: where another thread is in one while the process is forked, it stays closed in the child. */

#define TM_NO_THREAD "cannot start a thread; a limit, such as 'ulimit -u', allows no more"

/* How many threads, the calling one included, the calling thread's parallel regions may have: as
 * many as wanted, or as many as could be started when it first wanted more than before.
 * wanted > 0. */
int tm_team_size(int wanted);

#endif
