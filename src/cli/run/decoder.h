/* SPDX-License-Identifier: MIT */
/* Who decodes JPEG frames. */
#ifndef TMATCH_CLI_DECODER_H
#define TMATCH_CLI_DECODER_H

#include <stdbool.h>

#include "options.h"

/* Decides for the whole run: auto becomes libjpeg where nvJPEG is not there or does not decode what the other options
 * ask for, and the fingerprint tells runs with nvJPEG from those without. False after a message: nvJPEG was asked for,
 * and cannot be had. */
bool decoder_choose(cli_options *options);

#endif
