/* SPDX-License-Identifier: MIT */
/* Pictures from a pipe, one after the other, each as soon as its last byte is there. */
#include "format.h"
#include "movie/movie.h"
#include "split.h"
#include "waiting.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

/* How much is read from a pipe at a time, and how much memory is taken at first. */
enum { CHUNK = 64 << 10, FIRST_CAPACITY = 256 << 10 };

struct io_stream {
    io_stream_room room;
    io_waiting waiting;
    /* The movie's header, which goes before each frame, then bytes of the stream. */
    uint8_t *buffer;
    size_t capacity, prefix, filled;
    int64_t offset; /* where in the stream the byte after the header was */
    bool ended, stopped, over;
    io_splitter splitter;
    uint8_t *header;
    size_t header_size;
    int64_t pictures, frames; /* frames: those of the movie */
};

bool io_is_stream(const char *path)
{
    struct stat status;
    const bool standard = strcmp(path, "-") == 0;
    if ((standard ? fstat(STDIN_FILENO, &status) : stat(path, &status)) != 0)
        return false;
    if (standard && S_ISREG(status.st_mode))
        return lseek(STDIN_FILENO, 0, SEEK_CUR) != 0;
    return !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

bool io_stream_open(io_stream **opened, const char *path, const io_stream_room *room,
                    io_error *error)
{
    io_stream *s = calloc(1, sizeof *s);
    if (!s)
        return io_fail(error, "not enough memory");
    *s = (io_stream){.room = *room, .waiting = {.fd = STDIN_FILENO, .wake = eventfd(0, EFD_CLOEXEC)}};
    /* A pipe without a writer yet is waited for in poll, which can be stopped. */
    if (s->waiting.wake >= 0 && strcmp(path, "-") != 0)
        s->waiting.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (s->waiting.wake >= 0 && s->waiting.fd >= 0) {
        *opened = s;
        return true;
    }
    io_fail(error, "%s", strerror(errno));
    io_stream_close(&s);
    return false;
}

void io_stream_close(io_stream **stream)
{
    io_stream *s = *stream;
    if (!s)
        return;
    if (s->waiting.wake >= 0)
        close(s->waiting.wake);
    if (s->waiting.fd > STDIN_FILENO)
        close(s->waiting.fd);
    free(s->buffer);
    free(s->header);
    free(s);
    *stream = NULL;
}

void io_stream_limit_waiting(io_stream *s, double ms, bool pauses)
{
    struct stat status;
    s->waiting.most_ms = ms;
    s->waiting.pauses = pauses;
    s->waiting.written = fstat(s->waiting.fd, &status) != 0 || !S_ISFIFO(status.st_mode);
}

void io_stream_stop(const io_stream *s)
{
    const uint64_t one = 1;
    /* It can fail only where it has been stopped 2^64 times. */
    if (write(s->waiting.wake, &one, sizeof one) < 0)
        return;
}

/* Whether a picture may have so many bytes. */
static bool admit(const io_stream *s, uint64_t bytes, io_error *error)
{
    return bytes > SIZE_MAX / 4 ? io_fail(error, "a picture of 2^62 bytes or more")
                                : s->room.admit(s->room.data, (size_t)bytes, error);
}

/* Makes room for more of the picture. It grows with what arrives, not with what a header announces. */
static bool grow(io_stream *s, io_error *error)
{
    const uint64_t need = s->splitter.need;
    size_t wanted = s->prefix + s->filled + CHUNK;
    if (!admit(s, need, error))
        return false;
    if (s->prefix + need > wanted)
        wanted = s->prefix + (size_t)need;
    if (wanted <= s->capacity)
        return true;
    const size_t most = s->capacity ? 2 * s->capacity : FIRST_CAPACITY;
    if (wanted > most)
        wanted = most;
    if (s->prefix + s->filled + CHUNK > wanted)
        wanted = s->prefix + s->filled + CHUNK;
    if (!s->room.admit(s->room.data, wanted, error))
        return false;
    uint8_t *larger = realloc(s->buffer, wanted);
    if (!larger)
        return io_fail(error, "not enough memory");
    s->buffer = larger;
    s->capacity = wanted;
    return true;
}

/* Reads what there is, or waits for it. False where that fails, or was stopped. */
static bool read_more(io_stream *s, io_error *error)
{
    if (!grow(s, error))
        return false;
    for (;;) {
        const io_waited waited = io_wait(&s->waiting, s->filled > 0, error);
        s->stopped |= waited == IO_WAITED_STOPPED;
        if (s->stopped || waited == IO_WAITED_FAILED)
            return s->stopped ? io_fail(error, "stopped") : false;
        const size_t used = s->prefix + s->filled;
        size_t most = s->capacity - used;
        if (most > CHUNK && s->splitter.need < s->filled + most)
            most = s->splitter.need > s->filled + CHUNK ? (size_t)s->splitter.need - s->filled : CHUNK;
        const ssize_t got = read(s->waiting.fd, s->buffer + used, most);
        if (got < 0 && errno != EINTR && errno != EAGAIN)
            return io_fail(error, "%s", strerror(errno));
        if (waited == IO_WAITED_LATE && io_waited_too_long(&s->waiting, s->filled > 0, got, error))
            return false;
        if (got < 0)
            continue;
        s->ended = got == 0;
        s->filled += (size_t)got;
        return true;
    }
}

static void drop(io_stream *s, size_t count)
{
    uint8_t *data = s->buffer + s->prefix;
    memmove(data, data + count, s->filled - count);
    s->filled -= count;
    s->offset += (int64_t)count;
}

/* Begins a buffer for the next picture, with the movie's header in front. */
static bool restart(io_stream *s, const uint8_t *rest, size_t size, io_error *error)
{
    const size_t prefix = s->splitter.in_movie ? s->header_size : 0;
    const size_t capacity = prefix + size + FIRST_CAPACITY;
    uint8_t *buffer = malloc(capacity);
    if (!buffer)
        return io_fail(error, "not enough memory");
    if (prefix)
        memcpy(buffer, s->header, prefix);
    if (size)
        memcpy(buffer + prefix, rest, size);
    s->buffer = buffer;
    s->capacity = capacity;
    s->prefix = prefix;
    s->filled = size;
    s->waiting.waited_ms = 0;
    return true;
}

/* Hands the first size bytes over to the picture, with the header in front. */
static bool hand_over(io_stream *s, size_t size, io_streamed *picture, io_error *error)
{
    uint8_t *mine = s->buffer;
    const bool frame = s->prefix > 0 && s->splitter.in_movie;
    const size_t before = s->prefix, whole = frame ? before + size : size;

    if (!restart(s, mine + before + size, s->filled - size, error))
        return false;
    if (!frame && before)
        memmove(mine, mine + before, size); /* the movie has ended */
    uint8_t *smaller = realloc(mine, whole ? whole : 1);
    *picture = (io_streamed){.source = {.data = smaller ? smaller : mine, .size = whole}};
    if (frame && s->splitter.video.rate) {
        picture->timed = true;
        picture->time = (double)s->frames * (double)s->splitter.video.scale /
                        (double)s->splitter.video.rate;
    }
    s->frames += frame;
    s->offset += (int64_t)size;
    s->pictures++;
    return true;
}

static bool keep_header(io_stream *s, size_t size, io_error *error)
{
    uint8_t *header = realloc(s->header, size), *old = s->buffer;
    if (!header)
        return io_fail(error, "not enough memory");
    s->header = header;
    s->header_size = size;
    s->frames = 0;
    memcpy(header, s->buffer + s->prefix, size);
    if (!restart(s, old + s->prefix + size, s->filled - size, error))
        return false;
    s->offset += (int64_t)size;
    free(old);
    return true;
}

ssize_t io_stream_read(io_stream *s, uint8_t *to, size_t size, io_error *error)
{
    if (s->filled == 0 && !s->ended && !read_more(s, error))
        return -1;
    const size_t got = size < s->filled ? size : s->filled;
    memcpy(to, s->buffer + s->prefix, got);
    drop(s, got);
    return (ssize_t)got;
}

/* Where the splitter cannot tell a picture's end, all bytes up to the stream's end are one picture. */
static bool take_all(io_stream *s, io_streamed *picture, io_error *error)
{
    if (s->filled > 0 && io_find_format(s->buffer + s->prefix, s->filled))
        while (!s->ended)
            if (!read_more(s, error))
                return false;
    s->over = true;
    return hand_over(s, s->filled, picture, error);
}

/* Passes over white space up to the next picture's first byte; false where reading fails. */
static bool skip_space(io_stream *s, io_error *error)
{
    for (;;) {
        const size_t spaces =
            s->splitter.scan || !s->filled ? 0 : io_split_skip(s->buffer + s->prefix, s->filled);
        if (s->pictures > 0 && spaces)
            drop(s, spaces);
        if (s->filled > 0 || s->ended)
            return true;
        if (!read_more(s, error))
            return false;
    }
}

/* Fails where no picture, or a broken one, follows another. */
static io_next lose(io_stream *s, io_split found, io_error *error)
{
    s->over = true;
    io_split_fail(found, s->offset, error);
    return IO_NEXT_FAILED;
}

static io_next end_with(io_stream *s, bool good)
{
    s->over |= !good;
    return good ? IO_NEXT_PICTURE : s->stopped ? IO_NEXT_STOPPED : IO_NEXT_FAILED;
}

/* Takes what begins a stream and is none of the formats that are split. */
static io_next take_first(io_stream *s, io_streamed *picture, io_error *error)
{
    while (!s->ended && s->filled < CHUNK)
        if (!read_more(s, error))
            return end_with(s, false);
    if (s->filled > 0 && io_begins_movie(s->buffer + s->prefix, s->filled))
        return IO_NEXT_MOVIE;
    return end_with(s, take_all(s, picture, error));
}

io_next io_stream_next(io_stream *s, io_streamed *picture, io_error *error)
{
    while (!s->over) {
        if (!skip_space(s, error))
            return end_with(s, false);
        if (s->filled == 0) {
            s->over = true;
            /* an empty file, or a movie without a frame: its decoder says so */
            return s->pictures == 0 ? end_with(s, hand_over(s, 0, picture, error)) : IO_NEXT_END;
        }
        const io_split found =
            io_split_next(&s->splitter, s->buffer + s->prefix, s->filled, s->ended);
        if (found != IO_SPLIT_MORE && s->splitter.said && !admit(s, s->splitter.said, error))
            return end_with(s, false); /* as where it comes in parts, before it is known to be torn or damaged */
        if (found == IO_SPLIT_PICTURE)
            return end_with(s, hand_over(s, s->splitter.end, picture, error));
        if (found == IO_SPLIT_NONE || found == IO_SPLIT_BROKEN)
            return s->pictures == 0 ? take_first(s, picture, error) : lose(s, found, error);
        if (found == IO_SPLIT_MORE && s->ended)
            return end_with(s, hand_over(s, s->filled, picture, error)); /* torn, as its decoder will say */
        if (found == IO_SPLIT_HEADER ? !keep_header(s, s->splitter.end, error)
                                     : !read_more(s, error))
            return end_with(s, false);
    }
    return IO_NEXT_END;
}

io_follows io_stream_follows(io_stream *s)
{
    io_error error;
    io_splitter copy;
    io_split found;

    do {
        if (s->over)
            return IO_FOLLOWS_NOTHING;
        if (!skip_space(s, &error)) /* a writer that only forgets to close has said enough */
            return s->waiting.late && s->waiting.pauses ? IO_FOLLOWS_NOTHING
                                                        : IO_FOLLOWS_PICTURE; /* io_stream_next says why */
        if (s->filled == 0)
            return IO_FOLLOWS_NOTHING;
        copy = s->splitter;
        found = io_split_next(&copy, s->buffer + s->prefix, s->filled, s->ended);
    } while (found == IO_SPLIT_MORE && !copy.scan && !s->ended && read_more(s, &error));
    return found == IO_SPLIT_NONE ? IO_FOLLOWS_GARBAGE : IO_FOLLOWS_PICTURE;
}

int64_t io_stream_offset(const io_stream *s)
{
    return s->offset;
}
