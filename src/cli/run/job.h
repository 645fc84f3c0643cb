/* SPDX-License-Identifier: MIT */
/* One frame on its way: read, matched, its pictures written, its results printed.
 * One thread at a time has it. */
#ifndef TMATCH_CLI_JOB_H
#define TMATCH_CLI_JOB_H

#include <stdbool.h>
#include <stdio.h>

#include "options.h"
#include "run/engine.h"
#include "run/frames.h"
#include "run/input.h"
#include "run/input_device.h"
#include "run/protected.h"
#include "run/resume.h"
#include "run/template.h"

/* What all jobs share and none changes. */
typedef struct cli_plan {
    const cli_options *options;
    input_settings frame_input, template_input;
    const cli_templates *templates;
    bool output_is_folder, output_is_movie;
    bool has_movies; /* among the frames */
    cli_protected *protected; /* what is not to be overwritten */
    int thumbnail_side; /* the width of a report's thumbnails */
    const cli_resume *resume; /* or NULL */
    const cli_shard *shard;   /* that this log is of, or NULL */
} cli_plan;

typedef struct cli_job {
    cli_frame frame;
    cli_operand operand;
    cli_input input;
    bool skipped; /* all pairs are in the log */
    bool loaded;  /* the input is in memory, if not undecoded */
    size_t *batch; /* counts the frames that are not matched yet of those that a device decoded together; or NULL */
    bool failed; /* an output could not be written, or a verification fails */
    bool finished; /* it waits for its turn to be printed */
    /* For frames that are the one before them once more: */
    uint64_t serial;         /* the number of the frame in the run, from 1 */
    bool settled;            /* it has been matched, or will not be */
    bool repeatable;         /* its results are those of any frame of the same samples */
    struct cli_job *follower; /* the frame after it, which waits for its results */
    int64_t bytes;
    cli_pair *pairs; /* one for each template */
    uint64_t *ids;   /* for the log, one with each template */
    FILE *thumbnail; /* a JPEG, for --report; thumb_size 0: none */
    char *thumb;
    size_t thumb_size;
    /* Until its turn comes: */
    io_picture still; /* the frame, where one of its matches may be the best of an appearance */
    io_picture drawn; /* what a movie of matches gets */
    /* Its messages, until its turn comes. */
    FILE *messages;
    char *text;
    size_t text_size;
} cli_job;

/* Whether a finished job still holds pictures. */
static inline bool job_holds_pictures(const cli_job *job)
{
    return job->drawn.samples || job->still.samples;
}

/* A job is used for one frame after the other. False if memory ran out; to be freed
 * in either case. */
bool job_init(cli_job *job, const cli_plan *plan);
void job_free(cli_job *job, const cli_plan *plan);

/* To be called in this order after frame has been set, whose strings stay the caller's. */
void job_begin(cli_job *job, const cli_plan *plan);
void job_load(cli_job *job, const cli_plan *plan);
/* For an undecoded input: what came of the frame on the device, and how long that took. */
void job_decoded(cli_job *job, const cli_plan *plan, const io_nvjpeg_frame *frame, int device, void *stream, double ms);

void job_match(cli_job *job, const cli_plan *plan, const cli_engine *engine);
void job_release(cli_job *job, const cli_plan *plan); /* frees a picture that job_write does not need */
void job_write(cli_job *job, const cli_plan *plan); /* also frees the picture */
void job_end(cli_job *job);                         /* after its results are printed */

#endif
