/* SPDX-License-Identifier: MIT */
/* The threads that let a device decode frames, beside the one that lets it match them. */
#ifndef TMATCH_CLI_PIPELINE_DECODERS_H
#define TMATCH_CLI_PIPELINE_DECODERS_H

#include "run/pipeline_state.h"

/* So many for each device: while the frames of one are matched, and the files of others are looked at, those of another
 * are decoded. */
enum { PIPELINE_DECODERS = 4 };

/* The lock is held by the caller of both. False after a message: memory or threads ran out. */
bool pipeline_start_decoders(cli_pipeline *p, cli_engine *engine);

/* After a job was matched: the memory that a decoder has for it may be used again. */
void pipeline_note_matched(cli_pipeline *p, cli_job *job);

#endif
