/* SPDX-License-Identifier: MIT */
/* The files of --chapters and --edl: appearances as players and editors read them. */
#ifndef TMATCH_CLI_INTERVAL_FILES_H
#define TMATCH_CLI_INTERVAL_FILES_H

#include "run/intervals.h"

/* Writes those that are asked for. False after a message. */
bool interval_files_write(const cli_options *options, const cli_intervals *intervals);

#endif
