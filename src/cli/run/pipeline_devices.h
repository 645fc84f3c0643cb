/* SPDX-License-Identifier: MIT */
/* The threads of devices: each opens its device and matches the frames that workers have read. */
#ifndef TMATCH_CLI_PIPELINE_DEVICES_H
#define TMATCH_CLI_PIPELINE_DEVICES_H

#include "run/pipeline_state.h"

/* What a device's thread runs; the argument is its pipeline_thread. */
void *pipeline_open_and_match(void *thread);

/* The same for the first device's thread, which starts the others'. */
void *pipeline_find_and_match(void *thread);

/* Called after a frame was matched on the CPU, with the lock held: asks for a device where more
 * matching is left than its opening takes. */
void pipeline_consider_device(cli_pipeline *pipeline, const cli_job *job);

#endif
