/* SPDX-License-Identifier: MIT */
#include "limits.h"

#include <inttypes.h>
#include <limits.h>

/* The most threads of a codec; more gain little, and each holds a frame. */
enum { MOST_THREADS = 16 };

/* So many frames, and one for each thread, a codec may hold at a time. */
enum { HELD_BY_CODEC = 20 };

/* Bytes of a pixel, of 4:4:4 in 8 bits, or 4:2:0 in more. */
enum { PIXEL = 3 };

/* Bytes of a pixel of the layouts that have most, all in one piece of memory. */
enum { LARGEST_PIXEL = 8 };

/* Where --max-memory is given; each holds an index. */
enum { MOST_STREAMS = 100 };

int movie_threads(const io_movie_settings *s)
{
    return s->threads < 1 || s->threads > MOST_THREADS ? MOST_THREADS : s->threads;
}

/* Black frames take few bytes in honest movies too, so that the ratio to the file tells nothing. */
static int64_t most_pixels(const io_movie_settings *s)
{
    return s->max_pixels ? s->max_pixels : IO_SMALL_FILE_PIXELS;
}

/* How many bytes all frames together take that a codec holds. */
static int64_t bytes_held(const io_movie_settings *s, int64_t pixels)
{
    return pixels * PIXEL * (HELD_BY_CODEC + movie_threads(s));
}

void movie_limit_container(AVFormatContext *container, const io_libav *libav, const io_movie_settings *s)
{
    /* For 2^28 pixels in 16 bits, or an index of a week. */
    int64_t most = 512 << 20;
    enum { LEAST = 16 << 20, LEAST_SHARE = 1 << 20, SHARE = 12 };

    if (s->max_pixels)
        most = s->max_pixels > INT_MAX / LARGEST_PIXEL      ? INT_MAX
               : s->max_pixels < LEAST / LARGEST_PIXEL      ? LEAST
                                                            : s->max_pixels * LARGEST_PIXEL;
    if (s->max_memory && s->max_memory / SHARE < most)
        most = s->max_memory / SHARE < LEAST_SHARE ? LEAST_SHARE : s->max_memory / SHARE;
    if (s->max_memory)
        container->max_streams = MOST_STREAMS;
    libav->av_max_alloc((size_t)most);
}

bool movie_check_size(const io_movie_settings *s, int width, int height, io_error *error)
{
    const io_limits limits = {most_pixels(s)};
    if (!io_check_size(width, height, &limits, error))
        return false;
    const int64_t need = bytes_held(s, (int64_t)width * height);
    return !s->max_memory || need <= s->max_memory / 2 ||
           io_fail(error, "decoding a movie of %dx%d pixels may take %" PRId64 " MiB, and half of --max-memory is less",
                   width, height, need >> 20);
}

void movie_limit_codec(AVCodecContext *codec, const io_movie_settings *s)
{
    enum { BLOCKS = 1 << 16 }; /* what a small picture may grow by to be of whole blocks */
    const int64_t room = s->max_memory ? s->max_memory / 2 / bytes_held(s, 1) : INT64_MAX;
    const int64_t most = room < most_pixels(s) ? room : most_pixels(s);
    codec->max_pixels = most + most / 8 + BLOCKS;
}

int64_t movie_bytes(const AVPacket *packet)
{
    return packet->size + 32;
}

int64_t movie_most_bytes(int64_t file_size)
{
    /* An edit list may show some packets more than once, and headers may be stripped from them. */
    enum { TIMES = 16, AND = 1 << 16 };
    return file_size > INT64_MAX / TIMES - AND ? INT64_MAX : file_size * TIMES + AND;
}
