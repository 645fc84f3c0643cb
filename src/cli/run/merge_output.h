/* SPDX-License-Identifier: MIT */
/* What --merge writes besides results: one log, one report. */
#ifndef TMATCH_CLI_MERGE_OUTPUT_H
#define TMATCH_CLI_MERGE_OUTPUT_H

#include "io/io.h"
#include "options.h"
#include "run/run.h"
#include "run/shard.h"

typedef struct merge_output {
    const cli_options *given; /* the command line of --merge */
    io_output log;
    FILE *places; /* a log for the report, whose ids are the lines' places */
    uint64_t count;
} merge_output;

/* False after a message. To be closed in either case. */
bool merge_output_open(merge_output *output, const cli_options *given);

/* Takes the next line, in the order of one run. */
void merge_output_add(merge_output *output, const char *text, size_t length, uint64_t id);

/* Puts the log in its place. False after a message. */
bool merge_output_finish_log(merge_output *output);

/* Makes the report that one run with these options would have made; the frames and templates have to be there as the
 * shard says. */
cli_exit merge_output_report(merge_output *output, const cli_options *options, const cli_shard *shard);

void merge_output_close(merge_output *output);

#endif
