/* SPDX-License-Identifier: MIT */
/* All files that a run reads, whatever their names: none of them is written to. */
#ifndef TMATCH_CLI_INPUTS_H
#define TMATCH_CLI_INPUTS_H

#include <pthread.h>
#include <stdbool.h>

#include "run/frames.h"
#include "io/io.h"
#include "options.h"
#include "run/template.h"

typedef struct cli_inputs {
    const cli_frames *frames;
    const char **others; /* what is read beside them */
    size_t other_count;
    pthread_mutex_t lock;
    struct cli_identity *sorted; /* of all; NULL until one is asked for */
    size_t count;
} cli_inputs;

/* What frames, templates and options name stays theirs. False after a message; to be freed in
 * either case. */
bool inputs_init(cli_inputs *inputs, const cli_options *options, const cli_frames *frames,
                 const cli_templates *templates);
void inputs_free(cli_inputs *inputs);

/* Whether path can be written to: there is no such file, or it is not read. Called by any
 * thread. */
bool inputs_spare(cli_inputs *inputs, const char *path, io_error *error);

#endif
