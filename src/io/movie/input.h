/* SPDX-License-Identifier: MIT */
/* A movie's bytes, from a file or a stream, for libavformat. */
#ifndef TMATCH_IO_MOVIE_INPUT_H
#define TMATCH_IO_MOVIE_INPUT_H

#include <stdatomic.h>

#include "libav.h"

typedef struct movie_input {
    const io_libav *libav;
    io_stream *stream; /* or NULL: */
    int fd;            /* of the file */
    int64_t at;
    int64_t most_bytes; /* that packets may hold together */
    AVIOContext *context;
    atomic_bool stopped;
    double deadline; /* in clock.h's milliseconds; 0: none */
    bool late;
    io_error error;  /* why reading has failed, or "" */
} movie_input;

/* path is of no interest where there is a stream. */
bool movie_input_open(movie_input *input, const io_libav *libav, const char *path, io_stream *stream,
                      io_error *error);
void movie_input_close(movie_input *input);

/* For AVIOInterruptCB; data is the input. */
int movie_input_is_over(void *data);

#endif
