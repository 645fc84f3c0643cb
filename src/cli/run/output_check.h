/* SPDX-License-Identifier: MIT */
/* Whether the outputs can be written, checked before any work. */
#ifndef TMATCH_CLI_OUTPUT_CHECK_H
#define TMATCH_CLI_OUTPUT_CHECK_H

#include <stdbool.h>

#include "options.h"
#include "run/frames.h"
#include "run/protected.h"
#include "run/template.h"

/* Before any work: refuses an output that is an input or another output, is a
 * directory or has no directory to be in; and folders where two frames would have
 * the same output. Prints why. */
bool output_check(const cli_options *options, const cli_frames *frames,
                  const cli_templates *templates, cli_protected *protected);

/* Whether --output names a folder, for many frames. */
bool output_is_folder(const cli_options *options, const cli_frames *frames);

#endif
