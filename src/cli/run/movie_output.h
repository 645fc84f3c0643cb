/* SPDX-License-Identifier: MIT */
/* The movie that --output names: a movie's frames with their matches drawn, in their order. */
#ifndef TMATCH_CLI_MOVIE_OUTPUT_H
#define TMATCH_CLI_MOVIE_OUTPUT_H

#include "io/movie/writer.h"
#include "run/job.h"

typedef struct cli_movie_output {
    const cli_plan *plan;
    io_movie_writer *writer;
    int64_t width, height;
    double begin; /* the time of what is shown first */
    bool failed;  /* it has been told */
} cli_movie_output;

/* Whether --output names a movie, and the frames are those of one movie, or may be. */
bool movie_output_wanted(const cli_options *options, const cli_frames *frames);

/* Whether a movie can be written there from these frames; streamed: the first picture of a stream that is no movie,
 * or NULL. False after a message. */
bool movie_output_check(const cli_options *options, const io_streamed *streamed);

/* Adds what was drawn on a frame. False after a message, once. */
bool movie_output_add(cli_movie_output *movie, const cli_job *job);

/* Ends it; the file appears if it is wanted still. False after a message. */
bool movie_output_close(cli_movie_output *movie, bool wanted);

#endif
