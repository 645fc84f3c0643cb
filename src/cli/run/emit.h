/* SPDX-License-Identifier: MIT */
/* What becomes of finished jobs, in order: messages, results, totals. */
#ifndef TMATCH_CLI_EMIT_H
#define TMATCH_CLI_EMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "run/job.h"
#include "run/movie_output.h"
#include "run/notes.h"
#include "run/page/page.h"
#include "run/progress.h"
#include "run/report.h"
#include "run/stills.h"

typedef struct cli_emitter {
    const cli_plan *plan;
    cli_report report;
    cli_resume *resume; /* or NULL */
    cli_page *page;     /* or NULL */
    cli_stills *stills; /* of its movies, or NULL */
    cli_movie_output *movie; /* or NULL */
    FILE *lines;        /* one frame's lines of the log */
    char *text;
    size_t text_size;
    bool log_failed, page_failed;
    bool failed; /* something failed: a frame, a template or an output */
    int64_t frames, skipped_frames, broken_frames, bytes;
    int64_t matches;
    cli_notes notes;
    double start_ms;
    cli_progress progress;
} cli_emitter;

/* resume, page and movie may be NULL, and are the caller's. frames:
 * how many there will be, or 0. False when standard output or memory has
 * failed. To be ended in either case. */
bool emitter_begin(cli_emitter *emitter, const cli_plan *plan, cli_resume *resume, cli_page *page,
                   cli_movie_output *movie, size_t frames);
void emitter_end(cli_emitter *emitter);

/* For the pipeline; data is the emitter. False when standard output has failed, or the log cannot
 * be written. */
bool emitter_take(void *data, cli_job *job);

/* Prints the totals, one line on standard error. */
void emitter_summarize(const cli_emitter *emitter);

#endif
