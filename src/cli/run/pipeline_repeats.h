/* SPDX-License-Identifier: MIT */
/* A movie's frames that are the one before them once more get its results and are not matched. Where that one is still
 * being matched they wait for it, which keeps no thread. The lock is held by the caller. */
#ifndef TMATCH_CLI_PIPELINE_REPEATS_H
#define TMATCH_CLI_PIPELINE_REPEATS_H

#include "run/pipeline_state.h"

/* For a job that was read. Returns the one that is left to be matched: most often itself; NULL where it has results or
 * waits for them. */
cli_job *pipeline_repeat(cli_pipeline *p, cli_job *job);

/* For a job that was matched, or will not be. Those that wait for it go on to be written with its results. Returns the one
 * that cannot have them and is to be matched itself, or NULL. */
cli_job *pipeline_settle(cli_pipeline *p, cli_job *job);

#endif
