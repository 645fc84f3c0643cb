/* SPDX-License-Identifier: MIT */
/* What a user should know about a result besides its line: that it is weak, how near the best
 * position came to --min-score, what may help. Notes go to standard error, in the order of the
 * frames; only the first ones in a long run, whose summary has the numbers. */
#ifndef TMATCH_CLI_NOTES_H
#define TMATCH_CLI_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "run/report.h"
#include "run/resume.h"
#include "run/template.h"

enum { NOTES_SHOWN = 10 };

typedef struct cli_notes {
    const cli_options *options;
    const cli_templates *templates;
    int64_t results;
    int64_t count;   /* how many notes there were, with those that are not shown */
    int64_t weak;    /* results of which the best match is weak */
    int64_t without; /* results without a match */
    double nearest;  /* the best score of those; NAN: none is known */
    bool integers;
    char nearest_frame[256]; /* cut, where it is longer */
} cli_notes;

/* The options and templates are the caller's. */
void notes_begin(cli_notes *notes, const cli_options *options, const cli_templates *templates);

/* Counts the result, and prints a note if there is one to print. */
void notes_take(cli_notes *notes, const cli_result *result);

/* Counts one that an earlier run has logged. */
void notes_take_line(cli_notes *notes, const char *frame, const log_line *line);

/* Whether some were not shown. */
bool notes_were_held(const cli_notes *notes);

/* ", 1 weak, 2 without a match (the nearest: 0.7100, b.png)", for the summary. */
enum { NOTES_SUMMARY_SIZE = 512 };
void notes_summary(const cli_notes *notes, char text[NOTES_SUMMARY_SIZE]);

#endif
