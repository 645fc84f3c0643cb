/* SPDX-License-Identifier: MIT */
#include "input.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "limits.h"

enum { BUFFER_BYTES = 64 << 10 };

int movie_input_is_over(void *data)
{
    movie_input *in = data;
    in->late |= in->deadline > 0 && clock_ms() > in->deadline;
    return atomic_load(&in->stopped) || in->late;
}

static int read_file(void *data, uint8_t *to, int size)
{
    movie_input *in = data;
    ssize_t got;
    if (movie_input_is_over(in))
        return AVERROR_EXIT;
    do
        got = pread(in->fd, to, (size_t)size, (off_t)in->at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        io_fail(&in->error, "%s", strerror(errno));
    in->at += got > 0 ? got : 0;
    return got < 0 ? AVERROR(errno) : got == 0 ? AVERROR_EOF : (int)got;
}

static int64_t seek_file(void *data, int64_t offset, int whence)
{
    movie_input *in = data;
    struct stat status;

    whence &= ~AVSEEK_FORCE;
    if (fstat(in->fd, &status) != 0)
        return AVERROR(errno);
    if (whence == AVSEEK_SIZE)
        return status.st_size;
    const int64_t from = whence == SEEK_CUR ? in->at : whence == SEEK_END ? status.st_size : 0;
    int64_t at;
    if (__builtin_add_overflow(from, offset, &at) || at < 0)
        return AVERROR(EINVAL);
    in->at = at;
    return at;
}

/* The time that its writer takes is not the movie's. */
static int read_stream(void *data, uint8_t *to, int size)
{
    movie_input *in = data;
    if (movie_input_is_over(in))
        return AVERROR_EXIT;
    const double start = clock_ms();
    const ssize_t got = io_stream_read(in->stream, to, (size_t)size, &in->error);
    if (in->deadline > 0)
        in->deadline += clock_ms() - start;
    return got < 0 ? AVERROR_EXIT : got == 0 ? AVERROR_EOF : (int)got;
}

bool movie_input_open(movie_input *in, const io_libav *libav, const char *path, io_stream *stream,
                      io_error *error)
{
    struct stat status;
    *in = (movie_input){.libav = libav, .stream = stream, .fd = -1, .most_bytes = INT64_MAX};
    if (!stream)
        in->fd = strcmp(path, "-") == 0 ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (!stream && in->fd < 0)
        return io_fail(error, "%s", strerror(errno));
    if (!stream && fstat(in->fd, &status) == 0)
        in->most_bytes = movie_most_bytes(status.st_size);
    uint8_t *buffer = libav->av_malloc(BUFFER_BYTES);
    if (buffer)
        in->context = libav->avio_alloc_context(buffer, BUFFER_BYTES, 0, in, stream ? read_stream : read_file, NULL,
                                                stream ? NULL : seek_file);
    if (in->context)
        return true;
    libav->av_freep(&buffer);
    movie_input_close(in);
    return io_fail(error, "not enough memory");
}

void movie_input_close(movie_input *in)
{
    if (in->context)
        in->libav->av_freep(&in->context->buffer);
    if (in->libav)
        in->libav->avio_context_free(&in->context);
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}
