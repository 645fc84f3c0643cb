/* SPDX-License-Identifier: MIT */
/* A progress bar on the last line of the terminal, if standard error is one; what is printed
 * scrolls above it. It has no colours, and only moves the cursor. */
#ifndef TMATCH_CLI_PROGRESS_H
#define TMATCH_CLI_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRESS_MAX_WIDTH = 160 };

typedef struct cli_progress {
    bool wanted, shared; /* shared: results go to a terminal too */
    size_t total;        /* frames; 0: nobody knows */
    double start_ms, made_ms;
    char line[PROGRESS_MAX_WIDTH + 1];
    int width; /* how wide the bar on the screen is; 0: there is none */
} cli_progress;

void progress_begin(cli_progress *progress, size_t total, bool wanted);

/* Takes the bar away, before something else is written. Locks standard error meanwhile, so that any
 * thread may call it. */
void progress_hide(cli_progress *progress);

/* Puts the bar there again, or updates it, ten times a second at most. fresh: frames that this run
 * did. */
void progress_show(cli_progress *progress, size_t done, size_t fresh, size_t failed);

#endif
