/* SPDX-License-Identifier: MIT */
/* Reads back what a log's lines say, which were found to be sound. */
#ifndef TMATCH_CLI_LOG_READ_H
#define TMATCH_CLI_LOG_READ_H

#include "run/report.h"

/* The string in JSON that begins here, malloc'ed; *end, where that is not NULL, is what follows. NULL if memory
 * ran out, or where there is none. */
char *log_read_string(const char *json, const char **end);

/* An array of strings, NULL after the last; to be freed. NULL as above. */
char **log_read_strings(const char *json);
void log_read_free_strings(char **strings);

typedef struct log_result {
    cli_result result; /* of what is printed: its names, matches and best place */
    char *frame;       /* the name that the result points to */
    char *error;       /* why there is no result, or NULL */
} log_result;

/* The frame's name, malloc'ed; NULL if memory ran out, or where the line has none. */
char *log_read_frame(const char *text);

/* Reads a line's result. The template's name is left to the caller. False if memory ran out or it has none;
 * to be freed in either case. */
bool log_read_result(log_result *read, const char *text);
void log_read_free(log_result *read);

#endif
