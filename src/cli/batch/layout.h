/* SPDX-License-Identifier: MIT */
/* Which threads and matchers a run gets. */
#ifndef TMATCH_CLI_BATCH_LAYOUT_H
#define TMATCH_CLI_BATCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <tmatch/tmatch.h>

#include "batch/pipeline.h"
#include "options.h"

typedef struct layout {
    tm_settings settings; /* of all engines, but for what each has for itself */
    bool a_device_each;   /* whole frames go to devices, one engine each */
    uint64_t device_mask; /* then: which */
    bool may_open_device; /* should the CPU turn out to have much to do */
} layout;

/* Fills the threads' part of the settings. frames: 0 where nobody knows how many. */
void layout_make(layout *l, const cli_options *options, pipeline_settings *settings,
                 size_t frames);

/* Of engine i. */
tm_settings layout_settings(const layout *l, size_t i);

/* Of a device that is opened late, and whether there is one. */
tm_settings layout_device(const layout *l);
bool layout_has_device(void);

#endif
