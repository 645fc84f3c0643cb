/* SPDX-License-Identifier: MIT */
/* The files that a run reads, by whatever name: no output may overwrite one of them. */
#ifndef TMATCH_CLI_PROTECTED_H
#define TMATCH_CLI_PROTECTED_H

#include <pthread.h>
#include <stdbool.h>

#include "io/io.h"
#include "options.h"
#include "run/frames.h"
#include "run/mask.h"
#include "run/template.h"

typedef struct cli_protected {
    const cli_frames *frames;
    const char **others; /* paths of what is read besides them */
    size_t other_count;
    pthread_mutex_t lock;
    struct cli_identity *sorted; /* all files, count of them; NULL until one is asked for */
    size_t count;
} cli_protected;

/* Keeps pointers to the paths of frames, templates, masks and options. False after a message; to be freed
 * in either case. */
bool protected_init(cli_protected *protected, const cli_options *options, const cli_frames *frames,
                    const cli_templates *templates, const cli_masks *masks);
void protected_free(cli_protected *protected);

/* Whether path can be written to: there is no such file, or it is not read. Called by any
 * thread. */
bool protected_allows(cli_protected *protected, const char *path, io_error *error);

#endif
