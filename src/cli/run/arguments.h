/* SPDX-License-Identifier: MIT */
/* The frames and templates that the command line names. */
#ifndef TMATCH_CLI_ARGUMENTS_H
#define TMATCH_CLI_ARGUMENTS_H

#include "options.h"
#include "run/frames.h"
#include "run/watch.h"

/* Finds them: files, those of folders and lists, and with --watch what is in its folder already, which is opened
 * here. names: those of the templates. False after a message. */
bool arguments_find(const cli_options *options, cli_frames *frames, cli_frames *names, cli_watch *watch);

#endif
