/* SPDX-License-Identifier: MIT */
/* How much may be read from a pipe or a device, which does not say how much there is. */
#ifndef TMATCH_CLI_STREAMS_H
#define TMATCH_CLI_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io.h"

typedef struct stream_limits {
    int64_t max_pixels; /* 0: the default */
    int64_t max_memory; /* bytes; 0: no limit */
    double max_ms;      /* of waiting for a named pipe, or for a picture that it has begun; 0: no limit */
} stream_limits;

/* How many bytes pictures from streams may take, encoded as they arrive: half of --max-memory, or
 * of the machine's memory. */
size_t streams_most(const stream_limits *limits);

/* Whether an encoded picture may take so many bytes; false with a reason that names the limit. */
bool streams_admit(const stream_limits *limits, size_t bytes, io_error *error);

/* Reads a stream that has to be one picture; more are an error. */
bool streams_read_one(io_source *source, const char *path, const stream_limits *limits,
                      io_error *error);

/* Whether what follows the first picture can be ignored: cameras put data behind a JPEG. */
bool streams_may_follow(const io_streamed *first, io_follows follows);

#endif
