/* SPDX-License-Identifier: MIT */
/* Frames that come through pipes: each is handed to the pipeline when it has arrived, and no more
 * are read than there is room for. */
#ifndef TMATCH_CLI_FEED_H
#define TMATCH_CLI_FEED_H

#include <pthread.h>
#include <stdbool.h>

#include "io/movie/movie.h"
#include "options.h"
#include "run/frames.h"
#include "run/pipeline.h"

typedef struct cli_feed {
    const cli_options *options;
    cli_frames frames;  /* still to come: the first is a stream, others may follow it */
    io_stream *stream;  /* the one that is being read */
    io_streamed picture; /* its first picture, which was read to see whether others follow */
    bool in_movie;       /* it is a movie, of which there is no first picture */
    const cli_plan *plan; /* set before feed_run */
    bool begun;
    bool several; /* there are several streams, or pictures in one: the pipeline is to be fed */
    bool failed;
    pthread_mutex_t lock; /* guards what follows */
    pthread_cond_t room;
    io_movie *movie; /* that is being read */
    size_t held; /* bytes of pictures that are on their way */
    bool stopped;
} cli_feed;

/* Looks for streams among the frames. Sets several where a stream is among other frames, or has
 * several pictures; the only picture of the only stream becomes an ordinary frame. False after a
 * message. To be closed in any case, after the frames. */
bool feed_open(cli_feed *feed, const cli_options *options, cli_frames *frames);
void feed_close(cli_feed *feed);

/* If several is set: takes the frames from the first stream on. False after a message. */
bool feed_take(cli_feed *feed, cli_frames *frames);

/* For feed_movie.c. Waits until earlier pictures have left room for one of so many bytes; false where there
 * will never be, with an error, or where it is stopped. */
bool feed_admit(void *data, size_t bytes, io_error *error);

/* Hands picture number of a frame's stream to the pipeline, or the reason why there is none; with neither, a
 * movie's frame to be passed over, or to be decoded by itself. False when no more is wanted. */
bool feed_add(cli_feed *feed, cli_pipeline *pipeline, const cli_frame *stream, int64_t number,
              io_streamed *picture, const char *reason);
bool feed_is_stopped(cli_feed *feed);

/* Hands on the frames of a movie: a file's, or those of the stream that has begun. */
void feed_movie(cli_feed *feed, cli_pipeline *pipeline, const cli_frame *frame, const char *path);

/* For the pipeline; data is the feed. */
void feed_run(void *data, cli_pipeline *pipeline);
void feed_stop(void *data);

#endif
