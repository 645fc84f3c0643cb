/* SPDX-License-Identifier: MIT */
/* What becomes of finished jobs, in order: messages, results, totals. */
#ifndef TMATCH_CLI_BATCH_EMIT_H
#define TMATCH_CLI_BATCH_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "batch/job.h"
#include "report.h"

typedef struct cli_emitter {
    const cli_plan *plan;
    cli_report report;
    bool failed; /* a frame, a template or an output */
    int64_t frames, broken_frames, bytes;
    int64_t matches, pairs_without;
    double start_ms;
} cli_emitter;

/* False when standard output has failed. */
bool emitter_begin(cli_emitter *emitter, const cli_plan *plan);

/* For the pipeline; data is the emitter. */
bool emitter_take(void *data, cli_job *job);

/* One line on standard error. */
void emitter_summarize(const cli_emitter *emitter);

#endif
