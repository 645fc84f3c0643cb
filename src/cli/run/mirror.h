/* SPDX-License-Identifier: MIT */
/* Folders of outputs, in which the inputs' trees come back. */
#ifndef TMATCH_CLI_BATCH_MIRROR_H
#define TMATCH_CLI_BATCH_MIRROR_H

#include <stdbool.h>

#include "run/frames.h"
#include "run/inputs.h"
#include "io/io.h"

/* False after a message: two frames have the same place in the folder, or a place is an
 * input. inputs NULL: the places get suffixes, and mirror_prepare will see. */
bool mirror_check(const char *folder, const cli_frames *frames, cli_inputs *inputs);

/* The frame's place, with the suffix behind it; malloc'ed, NULL if memory ran out.
 * A file has the frame's name; where no picture can be written under that, .png
 * follows. */
char *mirror_path(const char *folder, const cli_frame *frame, const char *suffix);

/* Makes the folders that lead to path, which mirror_path has made in folder. False if one
 * cannot be made, or path cannot be written to: it is an input, or no regular file, or a
 * symbolic link is on the way. */
bool mirror_prepare(const char *folder, const char *path, cli_inputs *inputs, io_error *error);

#endif
