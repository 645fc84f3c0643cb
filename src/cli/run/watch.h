/* SPDX-License-Identifier: MIT */
/* Frames that arrive in a folder while tmatch runs. A frame is taken when it is
 * complete: when the file is closed after writing, or appears under its name. */
#ifndef TMATCH_CLI_WATCH_H
#define TMATCH_CLI_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/frames.h"
#include "run/pipeline.h"

typedef struct cli_watch {
    const char *folder;
    int inotify, wake;
    uint64_t *known; /* hashes of the files that the operands named, sorted */
    size_t known_count;
    bool failed; /* the folder went away, or frames were missed */
} cli_watch;

/* To be called before the operands are looked for, so that no frame is missed in between. False
 * after a message. To be closed in either case. */
bool watch_open(cli_watch *watch, const char *folder);
void watch_close(cli_watch *watch);

/* Remembers these frames, so that they are not taken a second time as long as they do not change. */
bool watch_know(cli_watch *watch, const cli_frames *frames);

/* For the pipeline; data is the watch. */
void watch_feed(void *data, cli_pipeline *pipeline);
void watch_stop(void *data);

#endif
