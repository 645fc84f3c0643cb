/* SPDX-License-Identifier: MIT */
/* What an option sets. */
#ifndef TMATCH_CLI_OPTIONS_SET_H
#define TMATCH_CLI_OPTIONS_SET_H

#include <stdbool.h>

#include "option_table.h"
#include "options.h"

/* text is the option's argument, NULL of one without. False after a message. */
bool cli_options_set(cli_options *options, cli_option option, const char *text);

#endif
