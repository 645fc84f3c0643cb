/* SPDX-License-Identifier: MIT */
/* A thread that asks a codec for frames and does nothing else: the codec's threads wait for whoever comes late. */
#ifndef TMATCH_CLI_MOVIE_AHEAD_H
#define TMATCH_CLI_MOVIE_AHEAD_H

#include <pthread.h>

#include "io/movie/movie.h"

enum { MOVIE_AHEAD = 8 };

/* What io_movie_next has returned. */
typedef struct movie_ahead_frame {
    io_next next;
    io_streamed picture;
    int64_t number;
    io_error error;
} movie_ahead_frame;

typedef struct movie_ahead {
    io_movie *movie;
    pthread_t thread;
    bool runs; /* the thread, else frames are decoded when they are asked for */
    pthread_mutex_t lock; /* guards all below */
    pthread_cond_t changed;
    movie_ahead_frame ring[MOVIE_AHEAD];
    size_t first, count;
    bool reads, decodes; /* who waits for the other */
    bool quit;
} movie_ahead;

/* The movie stays the caller's. ahead: not only when asked. To be closed before the movie is. */
void movie_ahead_open(movie_ahead *ahead, io_movie *movie, bool is_ahead);

/* As io_movie_next. */
io_next movie_ahead_next(movie_ahead *ahead, io_streamed *frame, int64_t *number, io_error *error);

/* Gives back what nobody has asked for. */
void movie_ahead_close(movie_ahead *ahead);

#endif
