/* SPDX-License-Identifier: MIT */
/* What the program says of itself, on standard output. */
#ifndef TMATCH_CLI_INFO_H
#define TMATCH_CLI_INFO_H

#include <stdbool.h>

/* False if memory ran out. */
bool info_version(void);
/* verbose: and whether the costs, tm_settings.costs, have each. */
bool info_devices(bool verbose, const char *costs);

#endif
