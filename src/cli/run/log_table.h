/* SPDX-License-Identifier: MIT */
/* Lines of a log by their ids. */
#ifndef TMATCH_CLI_LOG_TABLE_H
#define TMATCH_CLI_LOG_TABLE_H

#include <stdbool.h>
#include <stddef.h>

#include "run/log_line.h"

/* Open addressing; zero is an empty table. */
typedef struct log_table {
    log_line *lines;
    size_t capacity, count; /* capacity is a power of two, or 0 */
} log_table;

/* Takes a line, whose id is not 0, in the place of one that has its id. False if memory ran out: then the table is as
 * before. */
bool log_table_put(log_table *table, const log_line *line);

/* The line, which the next put may move, or NULL. No line has the id 0. */
const log_line *log_table_find(const log_table *table, uint64_t id);

void log_table_free(log_table *table);

#endif
