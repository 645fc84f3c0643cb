/* SPDX-License-Identifier: MIT */
/* The command lines of shards, as their logs have them. */
#ifndef TMATCH_CLI_MERGE_COMMAND_H
#define TMATCH_CLI_MERGE_COMMAND_H

#include "run/merge_logs.h"

/* What a shell takes to run a shard as that of the log was run, from this folder; malloc'ed, NULL if memory ran out. number: of
 * the shard; where it is another than the log's, its own log is "LOG". */
char *merge_command(const merged_log *log, int64_t number);

/* The same for these rows, of a run of rows; end INT64_MAX: to the end of each map. Its log is "LOG". */
char *merge_rows_command(const merged_log *log, int64_t first, int64_t end);

/* The arguments of one run over all frames: without --shard, and without what each shard has for itself, a log and a
 * report. program comes first, NULL last. The strings are the log's; NULL if memory ran out. */
char **merge_arguments(const merged_log *log, char *program);

/* Whether the command line has the long option. */
bool merge_has_option(const merged_log *log, const char *option);

/* Whether two shards have the same of these arguments, in the same folder. False also if memory ran out. */
bool merge_same_arguments(const merged_log *a, const merged_log *b);

#endif
