/* SPDX-License-Identifier: MIT */
/* The threads that let a device decode frames, beside the one that lets it match them. */
#ifndef TMATCH_CLI_PIPELINE_DECODERS_H
#define TMATCH_CLI_PIPELINE_DECODERS_H

#include "run/pipeline_state.h"

/* So many for each device: while the frames of one are matched, and the files of others are looked at, those of another
 * are decoded. */
enum { PIPELINE_DECODERS = 4 };

/* The lock is held by the caller. False after a message: memory or threads ran out. */
bool pipeline_start_decoders(cli_pipeline *p, cli_engine *engine);

#endif
