/* SPDX-License-Identifier: MIT */
/* Masks of templates and of frames: from what the user named to a byte a pixel. */
#ifndef TMATCH_CLI_MASK_H
#define TMATCH_CLI_MASK_H

#include "run/frames.h"
#include "run/input.h"

typedef struct cli_mask {
    cli_frames frames; /* the one picture that was named */
    cli_operand operand;
    io_picture picture; /* 8 bits, one channel: 0 where the mask's samples are all 0, else 255 */
} cli_mask;

/* Zeros where there is none. */
typedef struct cli_masks {
    cli_mask tmpl, frame;
} cli_masks;

/* Reads a mask, with the settings' limits and orientation. The name may have a number and a crop, and a file of
 * several pictures needs the number; quiet: where another one follows that is not
 * found so, nothing is said. False after a message; to be freed in either case. */
bool mask_load(cli_mask *mask, const char *name, const input_settings *settings, bool quiet);

void masks_free(cli_masks *masks);

#endif
