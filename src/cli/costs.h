/* SPDX-License-Identifier: MIT */
/* What was measured of this machine's devices, kept in the user's cache: $XDG_CACHE_HOME/tmatch/costs, or
 * ~/.cache/tmatch/costs. */
#ifndef TMATCH_CLI_COSTS_H
#define TMATCH_CLI_COSTS_H

#include <stdbool.h>

#include <tmatch/tmatch.h>

#include "options.h"

/* The text for tm_settings.costs; the caller's to free. NULL where there is none. A file that is none of ours
 * is passed over with a note, unless quiet. */
char *costs_read(bool quiet);

/* --calibrate: measures the settings' devices, prints what it found, and keeps it for the next runs. Returns
 * the exit status. */
int costs_calibrate(const tm_settings *settings);

/* After a run of so many milliseconds in which these CUDA devices matched, bit i for device i: measures those whose costs
 * nobody knows, unless the run was short, and keeps what it finds. Says nothing, but if the options are verbose, and where
 * the file cannot be written in the end. SIGINT and SIGTERM end the process with the status meanwhile, the run's. */
void costs_learn(const cli_options *options, uint64_t matched, double run_ms, int status);

#endif
