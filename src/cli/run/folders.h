/* SPDX-License-Identifier: MIT */
/* What the command line or a list names, a file or a folder, becomes frames, in order. */
#ifndef TMATCH_CLI_FOLDERS_H
#define TMATCH_CLI_FOLDERS_H

#include "run/frames.h"

/* Adds a file, or a folder's pictures in the order of their names' bytes. What cannot be read
 * becomes a frame with an error. Names that begin with a dot are passed over; links to files are
 * followed, links to folders below the operand are not. False if memory ran out. */
bool folders_add(cli_frames *frames, const char *operand);

/* Adds what a file, or standard input for "-", lists: operands that each end with the byte. False
 * after a message. */
bool folders_add_list(cli_frames *frames, const char *path, char end);

/* Prints one line about the files that were passed over, if there are any. folder: the only one,
 * to be named, or NULL. */
void folders_note_skipped(const cli_frames *frames, const char *folder);

#endif
