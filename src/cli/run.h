/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLI_RUN_H
#define TMATCH_CLI_RUN_H

#include "options.h"

typedef enum cli_exit { CLI_FOUND = 0, CLI_NOT_FOUND = 1, CLI_FAILED = 2 } cli_exit;

/* Matches every template against every frame, in the order given. */
cli_exit cli_run(const cli_options *options);

#endif
