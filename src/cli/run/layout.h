/* SPDX-License-Identifier: MIT */
/* Which threads and matchers a run gets. */
#ifndef TMATCH_CLI_BATCH_LAYOUT_H
#define TMATCH_CLI_BATCH_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <tmatch/tmatch.h>

#include "run/pipeline.h"
#include "run/input.h"
#include "options.h"

typedef struct layout {
    tm_settings settings; /* of the engines on the CPU */
    bool a_device_each;   /* whole frames go to devices, one engine each */
    uint64_t device_mask; /* which, or TM_ALL_DEVICES until they are counted */
    bool may_open_device; /* should the CPU turn out to have much to do */
    cli_room room;        /* that --max-memory leaves for a frame */
} layout;

/* Fills the threads' part of the settings. frames: 0 where nobody knows how many. */
void layout_make(layout *l, const cli_options *options, pipeline_settings *settings,
                 size_t frames);

/* How many device engines there are to be, which may take CUDA's start. */
size_t layout_find_devices(layout *l, size_t frames);

/* The settings of device engine i, after that. */
tm_settings layout_device(const layout *l, size_t i);

bool layout_has_device(void);

#endif
