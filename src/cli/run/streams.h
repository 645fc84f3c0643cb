/* SPDX-License-Identifier: MIT */
/* What may be read of a pipe or a device, which tells nobody how much there is of it. */
#ifndef TMATCH_CLI_STREAMS_H
#define TMATCH_CLI_STREAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io/io.h"

typedef struct stream_limits {
    int64_t max_pixels; /* 0: the default */
    int64_t max_memory; /* bytes; 0: no limit */
} stream_limits;

/* Bytes that pictures as they arrive may take: half of --max-memory, or of the machine's. */
size_t streams_most(const stream_limits *limits);

/* Whether a picture may take so many, as it is encoded; false with the limit's name. */
bool streams_admit(const stream_limits *limits, size_t bytes, io_error *error);

/* Reads a stream that is to be one picture; more of them are an error. */
bool streams_read_one(io_source *source, const char *path, const stream_limits *limits,
                      io_error *error);

/* Whether what follows the first picture is of no concern: cameras put things behind a JPEG. */
bool streams_may_follow(const io_streamed *first, io_follows follows);

#endif
