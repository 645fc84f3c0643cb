/* SPDX-License-Identifier: MIT */
/* INT, TERM and HUP are blocked in every thread but one, which waits for them. What it then does is
 * ordinary code, which may take locks. */
#ifndef TMATCH_CLI_SIGNALS_H
#define TMATCH_CLI_SIGNALS_H

#include <stdbool.h>

/* Before any other thread starts; false if its own cannot be started. A signal removes temporary files and ends the
 * process by itself, as the shell expects. */
bool signals_start(void);

/* From now on the first SIGINT or SIGTERM calls stop(data), in the signals' thread;
 * NULL: it ends the process again. Returns once no call is under way. */
void signals_on_interrupt(void (*stop)(void *data), void *data);

/* Ends the process by the signal that called stop. */
_Noreturn void signals_die_interrupted(void);

#endif
