/* SPDX-License-Identifier: MIT */
/* Folders of outputs, in which the inputs' trees come back. */
#ifndef TMATCH_CLI_BATCH_MIRROR_H
#define TMATCH_CLI_BATCH_MIRROR_H

#include <stdbool.h>

#include "frames.h"
#include "io/io.h"

/* False after a message: two frames have the same place in the folder, or a place is
 * an input: a frame, or one of the other files. */
bool mirror_check(const char *folder, const cli_frames *frames, const char *const *others,
                  size_t other_count);

/* The frame's place, with the suffix behind it; malloc'ed, NULL if memory ran out.
 * A file has the frame's name; where no picture can be written under that, .png
 * follows. */
char *mirror_path(const char *folder, const cli_frame *frame, const char *suffix);

/* Makes the folders that lead to path. False if one cannot be made. */
bool mirror_make_folders(const char *path, io_error *error);

#endif
