/* SPDX-License-Identifier: MIT */
/* --merge: puts the logs of shards together, and prints what one run would have printed. */
#ifndef TMATCH_CLI_MERGE_H
#define TMATCH_CLI_MERGE_H

#include "options.h"
#include "run/run.h"

/* The operands are the logs. Prints nothing on standard output unless all shards are there, finished, of one run and
 * whole. */
cli_exit merge_run(const cli_options *options);

#endif
