/* SPDX-License-Identifier: MIT */
/* A run: frames are found, loaded, matched and reported, one or a million by the same pipeline. */
#ifndef TMATCH_CLI_RUN_H
#define TMATCH_CLI_RUN_H

#include "options.h"

/* INTERRUPTED: SIGINT or SIGTERM came, and what was begun is finished and written; the process is
 * to end by that signal, which gives it its status. */
typedef enum cli_exit {
    CLI_FOUND = 0,
    CLI_NOT_FOUND = 1,
    CLI_FAILED = 2,
    CLI_INTERRUPTED = 128
} cli_exit;

/* Matches every template against every frame; results come in the frames' order. */
cli_exit cli_run(const cli_options *options);

#endif
