/* SPDX-License-Identifier: MIT */
/* Reads back what match_part_log has written: a line of a part's log. */
#ifndef TMATCH_CLI_PART_LINE_H
#define TMATCH_CLI_PART_LINE_H

#include <tmatch/tmatch.h>

#include "options.h"

typedef struct part_line {
    tm_part_hits hits; /* to be freed */
    tm_search search;  /* by which they were found */
    int64_t pixels;    /* of the template that count */
} part_line;

/* Reads the text of a line with a result. options: of its run. False if memory ran out, or where the line is another
 * version's; the hits are to be freed in either case. */
bool part_line_read(part_line *line, const char *text, const cli_options *options);

/* Whether frame and template have the same sizes in both lines. */
bool part_line_same_sizes(const char *a, const char *b);

#endif
