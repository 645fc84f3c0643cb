/* SPDX-License-Identifier: MIT */
/* The stills of a report: of each appearance the frame with its best match, whole, as a file. Until an appearance is
 * over its still is in memory, as a later frame may be better. */
#ifndef TMATCH_CLI_STILLS_H
#define TMATCH_CLI_STILLS_H

#include "run/intervals.h"
#include "run/job.h"

typedef struct cli_stills cli_stills;

/* Whether a still is to be made of the frame, should it have a match that counts. */
bool stills_wanted(const cli_plan *plan, const cli_job *job);

/* For the appearances of a report; they are to be closed before the stills. NULL if memory ran out. */
cli_stills *stills_open(const cli_plan *plan, cli_intervals *intervals);

/* Takes the job's still for the appearances that have their best match there, as of now. False after a message. */
bool stills_take(cli_stills *stills, const cli_job *job);

/* False if a still could not be written, which was said. NULL is allowed. */
bool stills_are_good(const cli_stills *stills);
void stills_close(cli_stills **stills);

#endif
