/* SPDX-License-Identifier: MIT */
/* How a run reads frames and templates: in a sandbox or not, with masks, or only some rows. */
#ifndef TMATCH_CLI_INPUTS_H
#define TMATCH_CLI_INPUTS_H

#include "io/sandbox/sandbox.h"
#include "run/mask.h"
#include "run/job.h"

typedef struct cli_inputs {
    io_sandbox *sandbox; /* where files are decoded; or NULL */
    cli_masks masks;
    input_part part; /* of --rows */
    int64_t *heights;
} cli_inputs;

/* Sets the plan's frame_input and template_input by its options, and reads the masks. The inputs stay where they are,
 * as the plan points to them. False after a message; to be closed in either case. */
bool inputs_open(cli_inputs *inputs, cli_plan *plan);

/* With --rows: says of which of the plan's templates, which are loaded, rows are wanted. False after a message. */
bool inputs_want_rows(cli_inputs *inputs, cli_plan *plan);

void inputs_close(cli_inputs *inputs);

#endif
