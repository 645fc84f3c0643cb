/* SPDX-License-Identifier: MIT */
/* A movie that is written, picture by picture, by FFmpeg's libraries. */
#ifndef TMATCH_IO_MOVIE_WRITER_H
#define TMATCH_IO_MOVIE_WRITER_H

#include "io/io.h"

typedef struct io_movie_writer io_movie_writer;

/* The endings of the movies that are written, for messages. */
#define IO_WRITTEN_MOVIES ".mp4 .m4v .mov .mkv .webm"

/* Whether a name's ending, in any case, is that of a movie that could be written. */
bool io_is_written_movie_name(const char *name);

/* The encoder that is taken for a name with such an ending: that of libavcodec's which comes first in the list for
 * it. NULL, with the reason, where there is none. */
const char *io_movie_encoder(const char *name, io_error *error);

/* Whose sound a movie gets, as it is: that of the file at path, NULL for none, between these seconds of it. */
typedef struct io_movie_sound {
    const char *path;
    double from, to;
} io_movie_sound;

/* The file appears at commit. threads: that encode; 0: one for each core. What sound there is has to suit the container,
 * else there is none. */
bool io_movie_create(io_movie_writer **writer, const char *path, int64_t width, int64_t height, int threads,
                     const io_movie_sound *sound, io_error *error);

/* The codec of sound that the container does not take, or "". */
const char *io_movie_refused_sound(const io_movie_writer *writer);

/* Adds an RGB picture of 8 bits, at least as large as the movie, of which the upper left part is taken. time: when it
 * is shown, in seconds; later than those before, if only by a tick. */
bool io_movie_add(io_movie_writer *writer, const io_picture *picture, double time, io_error *error);

/* Both end it, and make it NULL. */
bool io_movie_commit(io_movie_writer **writer, io_error *error);
void io_movie_abort(io_movie_writer **writer);

#endif
