/* SPDX-License-Identifier: MIT */
/* The sound of a movie that is written: another one's, packet by packet as it is. */
#ifndef TMATCH_IO_MOVIE_SOUND_H
#define TMATCH_IO_MOVIE_SOUND_H

#include "libav.h"
#include "writer.h"

typedef struct movie_sound {
    struct io_movie *movie; /* NULL: there is none */
    AVStream *track;        /* of the movie that is written */
    double from, to;        /* seconds of the other movie; from becomes 0 */
    int64_t first;          /* the same in its ticks: what comes before is left out */
    char refused[32];       /* the codec that the container does not take, or "" */
} movie_sound;

/* Adds a track to the container for the sound that is wished for, if there is some that it takes. A negative status of
 * libav's where that fails. To be closed in any case. */
int movie_sound_open(movie_sound *sound, const io_libav *libav, const io_movie_sound *wish, AVFormatContext *container);

/* Writes what is heard before this time, in seconds of the movie that is written. What cannot be read is left out. */
int movie_sound_copy(movie_sound *sound, AVFormatContext *container, double until);

void movie_sound_close(movie_sound *sound);

#endif
