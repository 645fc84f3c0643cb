/* SPDX-License-Identifier: MIT */
/* Folders of outputs, which have the subfolders of the frames. */
#ifndef TMATCH_CLI_MIRROR_H
#define TMATCH_CLI_MIRROR_H

#include <stdbool.h>

#include "io/io.h"
#include "run/frames.h"
#include "run/protected.h"

/* False after a message: two frames have the same path in the folder, or one of these files is
 * protected. protected NULL: the paths get suffixes, and mirror_prepare will see. */
bool mirror_check(const char *folder, const cli_frames *frames, cli_protected *protected);

/* The frame's path in the folder, with the suffix behind it; malloc'ed, NULL if memory ran out.
 * A file has the frame's name; where no picture can be written under that, .png
 * follows. */
char *mirror_path(const char *folder, const cli_frame *frame, const char *suffix);

/* Makes the folders that lead to path, which mirror_path has made in folder. False if one
 * cannot be made, or path cannot be written to: it is an input, or no regular file, or a
 * symbolic link is on the way. */
bool mirror_prepare(const char *folder, const char *path, cli_protected *protected, io_error *error);

#endif
