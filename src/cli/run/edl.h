/* SPDX-License-Identifier: MIT */
/* An edit decision list as CMX 3600 has it: a cut for each appearance, one after the other. */
#ifndef TMATCH_CLI_EDL_H
#define TMATCH_CLI_EDL_H

#include "io/io.h"
#include "run/intervals.h"

/* path: of the file, after which the list is named. False with an error. */
bool edl_put(FILE *out, const char *path, const cli_intervals *intervals, io_error *error);

#endif
