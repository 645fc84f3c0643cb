/* SPDX-License-Identifier: MIT */
/* The options of appearances, --intervals and --gap. */
#ifndef TMATCH_CLI_OPTIONS_INTERVALS_H
#define TMATCH_CLI_OPTIONS_INTERVALS_H

#include "options.h"

/* Whether they go together with the others. False after a usage error. */
bool options_check_intervals(const cli_options *options);

#endif
