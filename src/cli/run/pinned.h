/* SPDX-License-Identifier: MIT */
/* Page-locked memory that frames are decoded into, so that a device copies from where
 * they lie. To lock pages takes as long as to copy them: the buffers are made once, when
 * a device is open and it is known how large frames are, and used for one frame after
 * the other. Frames before that, larger ones, and those for which no buffer is free are
 * in malloc's memory. */
#ifndef TMATCH_CLI_PINNED_H
#define TMATCH_CLI_PINNED_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

#include <tmatch/tmatch.h>

#include "io/io.h"

typedef struct pinned_buffers {
    io_memory memory; /* first; for the frames' input settings */
    pthread_mutex_t lock; /* guards all below */
    size_t wanted;        /* bytes of the largest frame so far */
    size_t size;          /* bytes of each buffer; 0: none are made yet */
    tm_host_memory *unused;
    size_t unused_count;
    tm_host_memory *used; /* in any order */
    size_t used_count;
} pinned_buffers;

/* Initialises the buffers, of which there are none yet. To be destroyed. */
void pinned_init(pinned_buffers *pinned);
void pinned_destroy(pinned_buffers *pinned);

/* Makes up to count buffers of the largest frame's size, in at most bytes; where that
 * fails there are none. */
bool pinned_make(pinned_buffers *pinned, tm_matcher *matcher, size_t count, size_t bytes);

/* Frees the buffers that are not in use; no more are made after it. All have to be freed before the
 * matcher, the one that made them, is. */
void pinned_free(pinned_buffers *pinned, tm_matcher *matcher);

#endif
