/* SPDX-License-Identifier: MIT */
/* When a movie's frames are shown, as its packets say before they are decoded: so that decoding can begin in
 * the middle, and frames have the numbers that they have from the beginning. */
#ifndef TMATCH_IO_MOVIE_TIMES_H
#define TMATCH_IO_MOVIE_TIMES_H

#include "libav.h"

typedef struct movie_times {
    int64_t *list; /* in the track's unit, in order */
    size_t count, capacity;
    int64_t key;   /* the last frame at or before the wanted time from which decoding can begin */
    bool has_key;
} movie_times;

/* Reads packets up to the time, in the track's unit. False where one says no time, they hold more than most_bytes
 * together, or memory ran out. To be freed in either case. */
bool movie_times_read(movie_times *times, const io_libav *libav, AVFormatContext *container, const AVStream *track,
                      int64_t wanted, int64_t most_bytes);
void movie_times_free(movie_times *times);

/* How many frames are shown before the time. */
int64_t movie_times_before(const movie_times *times, int64_t time);

#endif
