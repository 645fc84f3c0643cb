/* SPDX-License-Identifier: MIT */
/* --merge of logs of --rows: the lines of a frame's parts become the line of one run. */
#ifndef TMATCH_CLI_MERGE_ROWS_H
#define TMATCH_CLI_MERGE_ROWS_H

#include "options.h"
#include "run/merge_logs.h"

/* The line of a frame with a template, with the sum of a log's, malloc'ed; NULL after a message: rows are
 * missing, a line is not as this version writes it, or memory ran out. options: of the runs. */
char *merge_rows_text(const merged_logs *logs, const cli_options *options, size_t frame, size_t tmpl);

#endif
