/* SPDX-License-Identifier: MIT */
/* Who decodes frames. */
#ifndef TMATCH_CLI_DECODER_H
#define TMATCH_CLI_DECODER_H

#include <stdbool.h>

#include "options.h"

/* Decides for the whole run: auto becomes libjpeg where nvJPEG is not there or does not decode what the other options
 * ask for, and the fingerprint tells runs with a GPU's decoder from those without. False after a message: one was asked
 * for, and cannot be had. */
bool decoder_choose(cli_options *options);

/* Whether what a device has decoded can be matched there; else it is brought to the host. */
bool decoder_leaves_frames(const cli_options *options);

/* The device that decodes for one that matches by these settings: that one, or the first of several. */
int decoder_device(const tm_settings *settings);

#endif
