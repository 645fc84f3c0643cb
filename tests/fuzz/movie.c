/* SPDX-License-Identifier: MIT */
/* A movie, in a file or through a pipe: which of its frames are wanted, and each of them decoded, or its luma where the
 * codec has put it; limits, tmatch's own allocations that fail, and reads that are short or fail. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/format.h"
#include "io/movie/movie.h"

enum { MOST_FRAMES = 100, MOST_DECODED = 8, PIPE_HOLDS = 65536, MEMORY = 16 << 20 };

typedef struct how {
    io_movie_settings settings;
    io_request request;
    bool piped;
    int64_t frame;          /* the only one that is wanted, by its number; 0: all */
    unsigned failing;       /* the allocation that fails */
    unsigned read_most, failing_read;
} how;

static void *take(io_memory *memory, size_t size)
{
    (void)memory;
    return malloc(size);
}

static void give_back(io_memory *memory, void *data)
{
    (void)memory;
    free(data);
}

static io_memory luma_memory = {take, give_back};

static how read_control(uint32_t control)
{
    how h = {.settings = {.threads = 1, .max_pixels = control & 1 ? (control >> 1 & 63) + 1 : 1 << 16, .max_memory = MEMORY,
                          .wish = {.every = control >> 7 & 3, .key_frames = control >> 9 & 1},
                          .memory = control >> 11 & 1 ? NULL : &luma_memory},
             .request = {.color = control >> 10 & 1 ? IO_RGB : IO_GRAY, .deep = control >> 11 & 1},
             .piped = control >> 12 & 1,
             .frame = control >> 31 ? 1 + (control >> 24 & 3) : 0,
             .failing = control >> 13 & 15,
             .read_most = control >> 17 & 15,
             .failing_read = control >> 21 & 3};
    if (control >> 23 & 1) {
        h.settings.wish.has_from = true;
        h.settings.wish.from = 0.01 * (control >> 24 & 15);
    }
    if (control >> 28 & 1) {
        h.settings.wish.has_to = true;
        h.settings.wish.to = 0.04 * (control >> 24 & 15);
    }
    if (control >> 29 & 1) {
        h.settings.wish.after = control >> 24 & 3;
        h.settings.wish.after_time = 0.04 * (control >> 26 & 3);
    }
    if (control >> 30 & 1)
        h.settings.max_ms = 1e-9;
    return h;
}

/* What is matched where it lies is what decoding makes of it. */
static void compare_luma(const io_source *source, const io_picture *gray, const how *h)
{
    io_luma luma;
    if (h->request.color != IO_GRAY || gray->bits == 16 || gray->orientation > 1 ||
        !io_movie_on_host(source, &(io_limits){h->settings.max_pixels}, &luma))
        return;
    FUZZ_CHECK(luma.width == gray->width && luma.height == gray->height && luma.bits == 8);
    for (int64_t y = 0; y < luma.height; y++)
        FUZZ_CHECK(memcmp(luma.memory + y * luma.pitch, gray->samples + y * luma.width, (size_t)luma.width) == 0);
}

static void decode(io_source *source, const how *h)
{
    io_picture picture;
    io_rows *rows;
    io_error error = {.reason = ""};
    if (io_rows_open(&rows, source, h->request.color, &(io_limits){h->settings.max_pixels}, &error)) {
        FUZZ_CHECK(io_rows_whole(rows) && io_rows_width(rows) > 0 && io_rows_height(rows) > 0);
        io_rows_close(&rows);
    }
    if (!io_decode_as(source, &h->request, &(io_limits){h->settings.max_pixels}, &picture, &error)) {
        FUZZ_CHECK(error.reason[0]);
        return;
    }
    FUZZ_CHECK(picture.width > 0 && picture.height > 0 && picture.width <= h->settings.max_pixels / picture.height);
    FUZZ_CHECK(picture.channels == (int)h->request.color && (picture.bits == 8 || h->request.deep));
    compare_luma(source, &picture, h);
    io_picture_free(&picture);
}

static void read_frames(io_movie *movie, const how *h)
{
    const io_movie_wish *wish = &h->settings.wish;
    io_error error = {.reason = ""};
    io_streamed frame;
    io_next next = IO_NEXT_PICTURE;
    int64_t number = 0;

    for (int count = 0; count < MOST_FRAMES; count++) {
        const int64_t last = number;
        next = io_movie_next(movie, &frame, &number, &error);
        if (next != IO_NEXT_PICTURE)
            break;
        FUZZ_CHECK(number > wish->after && (number > last || count == 0 || wish->key_frames || wish->has_from || wish->after));
        FUZZ_CHECK(!frame.timed || isfinite(frame.time));
        FUZZ_CHECK(!frame.timed || !wish->has_from || frame.time >= wish->from);
        FUZZ_CHECK(!frame.timed || !wish->has_to || frame.time < wish->to);
        if (count < MOST_DECODED)
            decode(&frame.source, h);
        io_source_close(&frame.source);
    }
    FUZZ_CHECK(next == IO_NEXT_PICTURE || next == IO_NEXT_END || (next == IO_NEXT_FAILED && error.reason[0]));
}

static bool admit(void *data, size_t size, io_error *error)
{
    (void)data;
    return size <= MEMORY || io_fail(error, "too large");
}

static io_stream *open_pipe(const uint8_t *data, size_t size)
{
    char path[FUZZ_PATH];
    int ends[2];
    io_stream *stream = NULL;
    io_streamed picture;
    io_error error;

    FUZZ_CHECK(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const bool opened = io_stream_open(&stream, path, &(io_stream_room){admit, NULL}, &error);
    close(ends[0]);
    if (!opened)
        return NULL;
    const io_next next = io_stream_next(stream, &picture, &error);
    if (next == IO_NEXT_PICTURE)
        io_source_close(&picture.source);
    if (next != IO_NEXT_MOVIE)
        io_stream_close(&stream);
    return stream;
}

static void read_movie(const uint8_t *data, size_t size, const how *h)
{
    char path[FUZZ_PATH];
    io_stream *stream = NULL;
    io_movie *movie = NULL;
    io_error error = {.reason = ""};
    const int file = h->piped ? -1 : fuzz_file(data, size, path);

    fuzz_shorten_reads(h->read_most, h->piped ? h->failing_read : 0);
    if (h->piped)
        stream = open_pipe(data, size < PIPE_HOLDS ? size : PIPE_HOLDS);
    if (file >= 0 && h->frame) {
        io_source source;
        if (io_movie_frame(&source, path, h->frame, &h->settings, &error)) {
            decode(&source, h);
            io_source_close(&source);
        } else {
            FUZZ_CHECK(error.reason[0]);
        }
    } else if (stream || file >= 0) {
        if (io_movie_open(&movie, path, stream, &h->settings, &error))
            read_frames(movie, h);
        else
            FUZZ_CHECK(error.reason[0]);
        io_movie_close(&movie);
    }
    fuzz_shorten_reads(0, 0);
    if (stream)
        io_stream_close(&stream);
    if (file >= 0)
        close(file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const how h = read_control(fuzz_control(data, &size));

    if (!io_begins_movie(data, size))
        return 0;
    fuzz_fail_allocation(h.failing, true);
    read_movie(data, size, &h);
    fuzz_allocations_succeed();
    return 0;
}
