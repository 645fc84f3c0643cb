/* SPDX-License-Identifier: MIT */
#include "run/streams.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The most bytes that a pixel takes, as three numbers of a text matrix, and what a small picture's
 * file may hold besides pixels. */
enum { PIXEL_BYTES = 48, OTHER_BYTES = 16 << 20 };

size_t streams_most(const stream_limits *limits)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    if (limits->max_memory)
        return (size_t)limits->max_memory / 2;
    return pages > 0 && page > 0 ? (size_t)pages * (size_t)page / 2 : SIZE_MAX / 2;
}

bool streams_admit(const stream_limits *limits, size_t bytes, io_error *error)
{
    const size_t most = streams_most(limits);
    if (bytes > most) {
        snprintf(error->reason, sizeof error->reason, "more than %zu %s, half of %s%s",
                 most < 1 << 20 ? most >> 10 : most >> 20, most < 1 << 20 ? "KiB" : "MiB",
                 limits->max_memory ? "--max-memory" : "this machine's memory",
                 ", which is what a picture on a pipe may take");
        return false;
    }
    const int64_t pixels = limits->max_pixels ? limits->max_pixels : IO_DEFAULT_MAX_PIXELS;
    if (bytes > OTHER_BYTES && (bytes - OTHER_BYTES) / PIXEL_BYTES > (size_t)pixels) {
        snprintf(error->reason, sizeof error->reason,
                 "more than %zu MiB, which is what --max-pixels allows a picture on a pipe",
                 bytes >> 20);
        return false;
    }
    return true;
}

static bool admit(void *limits, size_t bytes, io_error *error)
{
    return streams_admit(limits, bytes, error);
}

bool streams_may_follow(const io_streamed *first, io_follows follows)
{
    return follows == IO_FOLLOWS_NOTHING ||
           (follows == IO_FOLLOWS_GARBAGE && first->source.size > 2 &&
            memcmp(first->source.data, "\xff\xd8", 2) == 0);
}

bool streams_read_one(io_source *source, const char *path, const stream_limits *limits,
                      io_error *error)
{
    stream_limits own = *limits;
    const io_stream_room room = {admit, &own};
    io_stream *stream = NULL;
    io_streamed picture;

    if (!io_stream_open(&stream, path, &room, error))
        return false;
    if (limits->max_ms > 0 && strcmp(path, "-") != 0)
        io_stream_limit_waiting(stream, limits->max_ms, true);
    bool good = io_stream_next(stream, &picture, error) == IO_NEXT_PICTURE;
    if (good && (!streams_may_follow(&picture, io_stream_follows(stream)) ||
                 io_count_pages(&picture.source) > 1 || io_rest_of(&picture.source) != IO_REST_NONE)) {
        io_source_close(&picture.source);
        strcpy(error->reason, "holds several pictures, and a template or a mask is one");
        good = false;
    }
    io_stream_close(&stream);
    if (good)
        *source = picture.source;
    return good;
}
