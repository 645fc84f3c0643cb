/* SPDX-License-Identifier: MIT */
/* A line of the log of --resume. */
#ifndef TMATCH_CLI_LOG_LINE_H
#define TMATCH_CLI_LOG_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#define LOG_LINE_START "{\"frame\":"
#define LOG_LINE_SHARD ",\"shard\":{\"run\":\"" /* where a line of a shard goes on after its result */

typedef struct log_line {
    uint64_t id; /* 0: it has none */
    off_t offset; /* where the line begins in the log */
    uint32_t length; /* without the newline */
    uint32_t matches;
    bool failed, weak;
    double best; /* the score that came nearest, where nothing was found; else NAN */
} log_line;

/* False if it is damaged: its sum is not that of its bytes, or it has none, as older logs,
 * and is no JSON of a line's shape. text has length bytes and a zero after them. */
bool log_line_parse(log_line *line, const char *text, size_t length);

/* How many of the bytes are the result, without what a shard adds, id, sum and what closes the object. */
size_t log_line_result(const char *text, size_t length);

/* What comes after a result of so many bytes: the id, if it is not 0, the sum, and the end. */
void log_line_end(FILE *out, const char *result, size_t length, uint64_t id);

#endif
