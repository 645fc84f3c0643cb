/* SPDX-License-Identifier: MIT */
/* Page-locked memory that frames are decoded into, so that a device copies from where
 * they lie. To lock pages takes as long as to copy them: the slots are made once, when
 * a device is open and it is known how large frames are, and used for one frame after
 * the other. Frames before that, larger ones, and those for which no slot is free are
 * in malloc's memory. */
#ifndef TMATCH_CLI_SLOTS_H
#define TMATCH_CLI_SLOTS_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <tmatch/tmatch.h>

#include "io/io.h"

typedef struct frame_slots {
    io_memory memory; /* first; for the frames' input settings */
    pthread_mutex_t lock; /* guards all below */
    size_t wanted;        /* bytes of the largest frame so far */
    size_t size;          /* bytes of each slot; 0: none are made yet */
    tm_host_memory *unused;
    size_t unused_count;
    tm_host_memory *used; /* in any order */
    size_t used_count;
} frame_slots;

/* Initialises the slots, of which there are none yet. To be destroyed. */
void slots_init(frame_slots *slots);
void slots_destroy(frame_slots *slots);

/* Makes up to count slots of the largest frame's size, in at most bytes; where that
 * fails there are none. */
bool slots_make(frame_slots *slots, tm_matcher *matcher, size_t count, size_t bytes);

/* Frees the slots that are not in use; no more are made after it. All have to be freed before the
 * matcher, the one that made them, is. */
void slots_free(frame_slots *slots, tm_matcher *matcher);

#endif
