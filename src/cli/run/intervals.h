/* SPDX-License-Identifier: MIT */
/* Appearances: what is found of a template in a movie's frames, one after the other, at one place or one that moves.
 * They depend on the results alone, so that those of an earlier run, of a log, give the same. */
#ifndef TMATCH_CLI_INTERVALS_H
#define TMATCH_CLI_INTERVALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "options.h"
#include "run/report.h"

/* A match in one frame. */
typedef struct cli_sighting {
    int64_t index; /* of the frame in its movie, from 1 */
    double time;   /* at which it is shown */
    cli_match match;
} cli_sighting;

typedef struct cli_appearance {
    const char *file, *tmpl;
    bool timed; /* else it is a match in a picture, which no time belongs to */
    bool posed, integers;
    cli_sighting first, last, best;
    int64_t frames; /* in how many it was found */
    double end;     /* when the first frame without it is shown, or the last one has been */
    /* For the tracker: */
    size_t slot;
    bool missing, over;
    double speed[2]; /* in 1/1000 of a pixel a second */
    struct cli_appearance *next;
} cli_appearance;

/* Opens the tracker of a report with so many templates, and prints the header. To be closed in either case. Each of
 * these is false when memory ran out. */
bool intervals_open(cli_intervals **intervals, const cli_options *options, size_t templates, FILE *out);

/* Takes the result of a frame and a template, in order; failed: there is none. Prints what is over. */
bool intervals_take(cli_intervals *intervals, const cli_result *result, bool failed);

/* Ends what is not over, at the end of the last frame. */
void intervals_finish(cli_intervals *intervals);

/* How many appearances there were. */
int64_t intervals_count(const cli_intervals *intervals);

/* NULL is allowed. */
void intervals_close(cli_intervals **intervals);

#endif
