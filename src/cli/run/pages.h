/* SPDX-License-Identifier: MIT */
/* Files that hold several pictures. */
#ifndef TMATCH_CLI_PAGES_H
#define TMATCH_CLI_PAGES_H

#include "run/frames.h"

/* Appends a file's frame, or one for each of its pictures, or the one that "#N" behind the
 * name of a named file asks for. A file of that very name goes before. Takes over what the
 * frame points to. False if memory ran out. */
bool pages_add(cli_frames *frames, cli_frame frame);

#endif
