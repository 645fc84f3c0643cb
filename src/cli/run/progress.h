/* SPDX-License-Identifier: MIT */
/* A bar on the last line of a terminal that standard error is; what is printed scrolls above
 * it. It has no colours, and only moves the cursor. */
#ifndef TMATCH_CLI_BATCH_PROGRESS_H
#define TMATCH_CLI_BATCH_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>

enum { PROGRESS_MAX_WIDTH = 160 };

typedef struct cli_progress {
    bool wanted, shared; /* shared: results go to a terminal too */
    size_t total;        /* frames; 0: nobody knows */
    double start_ms, made_ms;
    char line[PROGRESS_MAX_WIDTH + 1];
    int width; /* of what is on the screen; 0: nothing */
} cli_progress;

void progress_begin(cli_progress *progress, size_t total, bool wanted);

/* Takes the bar away, before something else is written. Standard error's lock is held
 * meanwhile, so that messages of other threads can ask for it. */
void progress_hide(cli_progress *progress);

/* Puts it there again after that, or draws it anew, but that not often. fresh: frames that
 * this run did. */
void progress_show(cli_progress *progress, size_t done, size_t fresh, size_t failed);

#endif
