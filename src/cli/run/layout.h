/* SPDX-License-Identifier: MIT */
/* Which threads and matchers a run gets. */
#ifndef TMATCH_CLI_LAYOUT_H
#define TMATCH_CLI_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>

#include <tmatch/tmatch.h>

#include "options.h"
#include "run/input.h"
#include "run/pipeline.h"

typedef struct layout {
    tm_settings settings; /* for engines on the CPU */
    bool a_device_each;   /* whole frames go to devices, one engine each */
    uint64_t device_mask; /* which devices, or TM_ALL_DEVICES until they are counted */
    bool may_open_device; /* if the CPU turns out to have much to do */
    cli_room room;        /* what --max-memory leaves for a frame */
} layout;

/* Fills the threads' part of the settings. frames: 0 where nobody knows how many. */
void layout_make(layout *l, const cli_options *options, pipeline_settings *settings,
                 size_t frames);

/* How many engines for devices there will be. May have to start CUDA, which takes a while. */
size_t layout_find_devices(layout *l, size_t frames);

/* The settings of device engine i, after layout_find_devices. */
tm_settings layout_device(const layout *l, size_t i);

/* False also where CUDA does not answer, which is said, as layout_find_devices does. */
bool layout_has_device(const layout *l);

#endif
