/* SPDX-License-Identifier: MIT */
/* A bar on standard error, where that is a terminal: plain characters, so there is
 * nothing for NO_COLOR to take away. */
#ifndef TMATCH_CLI_BATCH_PROGRESS_H
#define TMATCH_CLI_BATCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

typedef struct cli_progress {
    bool wanted, shared; /* shared: results go to a terminal too */
    size_t total;        /* frames; 0: nobody knows */
    double start_ms, drawn_ms;
    int width; /* of what is on the screen; 0: nothing */
} cli_progress;

void progress_begin(cli_progress *progress, size_t total, bool wanted);

/* Takes the bar away, before something else is written. */
void progress_hide(cli_progress *progress);

/* Draws it, but not often. fresh: frames that this run did. */
void progress_show(cli_progress *progress, size_t done, size_t fresh, size_t failed);

#endif
