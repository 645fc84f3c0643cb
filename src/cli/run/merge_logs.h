/* SPDX-License-Identifier: MIT */
/* The logs that --merge puts together: read, checked, and by place. */
#ifndef TMATCH_CLI_MERGE_LOGS_H
#define TMATCH_CLI_MERGE_LOGS_H

#include <sys/types.h>

#include "options.h"
#include "run/shard_log.h"

typedef struct merged_log {
    const char *path;
    FILE *file;
    shard_record record; /* of the last run that was begun */
    bool told;           /* a frame of it has failed, which has been said */
    size_t damaged;      /* lines that do not count */
    size_t lines;        /* of the run, without those that later ones replace */
} merged_log;

/* Where the line of a frame with a template is. */
typedef struct merged_line {
    off_t offset;
    uint32_t length; /* without the newline */
    uint32_t log;    /* its index plus 1; 0: there is none */
} merged_line;

typedef struct merged_logs {
    merged_log *list;
    size_t count;
    size_t frames, templates;
    bool by_rows;       /* of runs with --rows, each of which has lines of all frames */
    merged_line *lines; /* see merge_line */
} merged_logs;

/* Opens the logs and finds the lines. False after messages that say all that is wrong: logs are of other runs, missing,
 * there twice, not finished, or miss lines. To be closed in either case. */
bool merge_open(merged_logs *logs, const cli_options *options);
void merge_close(merged_logs *logs);

/* The line of a frame with a template, both from 0; of that log, where the logs are by rows. */
merged_line *merge_line(const merged_logs *logs, size_t log, size_t frame, size_t tmpl);

/* A line's text, malloc'ed; NULL after a message. */
char *merge_text(const merged_logs *logs, const merged_line *line);

/* Whether the logs are finished parts of one run, each there once. Those of rows are put in the order of their rows.
 * False after messages. */
bool merge_check_shards(merged_logs *logs);

/* Whether all lines are there. False after messages. */
bool merge_check_lines(const merged_logs *logs);

#endif
