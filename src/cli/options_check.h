/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CLI_OPTIONS_CHECK_H
#define TMATCH_CLI_OPTIONS_CHECK_H

#include <stdbool.h>

#include "options.h"

/* What can be judged only when all options are known. score is --min-score's
 * argument as it was given. False after a message. */
bool cli_options_check(cli_options *options, const char *score);

#endif
