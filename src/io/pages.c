/* SPDX-License-Identifier: MIT */
/* Files that hold several pictures: by a directory, which their format walks, or one after
 * the other. */
#include "format.h"
#include "split.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct walker {
    io_part part;
    int64_t only, count;
    io_take_part *take;
    void *data;
} walker;

static bool give(walker *w, const io_part *part, const char *reason)
{
    w->count++;
    return (w->only && w->only != w->count) || w->take(w->data, part, reason);
}

/* Bytes behind a single picture are ignored in a file. In a stream they are an error, except behind
 * a JPEG, where cameras put data of their own. */
static bool may_end_in_garbage(const io_source *source, bool stream)
{
    return !io_y4m_begins(source->data, source->size) && (!stream || source->data[0] == 0xff);
}

/* Gives pictures that stand one after the other. A single one is not given, unless it is asked for. */
static bool walk(walker *w, const io_source *source, bool stream)
{
    io_splitter splitter = {0};
    io_part part = {0}, first = {0};
    size_t at = 0;
    int64_t found_count = 0, frames = 0;
    io_error error = {.reason = ""};

    while (!error.reason[0] && !(w->only && w->count >= w->only)) {
        if (found_count > 0)
            at += io_split_skip(source->data + at, source->size - at);
        if (at == source->size)
            break;
        const size_t left = source->size - at;
        const io_split found = io_split_next(&splitter, source->data + at, left, true);
        if (found == IO_SPLIT_HEADER) {
            part.header = (int64_t)at;
            part.header_size = splitter.end;
            at += splitter.end;
            frames = 0;
            continue;
        }
        part.offset = (int64_t)at;
        part.size = found == IO_SPLIT_PICTURE ? splitter.end : left;
        if (!splitter.in_movie)
            part.header_size = 0;
        part.timed = splitter.in_movie && splitter.video.rate;
        if (part.timed)
            part.time = (double)frames++ * (double)splitter.video.scale / (double)splitter.video.rate;
        if (found == IO_SPLIT_NONE || found == IO_SPLIT_BROKEN) {
            if (found_count == 0 || (found_count == 1 && may_end_in_garbage(source, stream)))
                break;
            io_split_fail(found, part.offset, &error);
        }
        at += part.size;
        if (++found_count == 1) {
            first = part;
            continue;
        }
        if (found_count == 2 && !give(w, &first, NULL))
            return false;
        if (!(w->only && w->count >= w->only) &&
            !give(w, &part, error.reason[0] ? error.reason : NULL))
            return false;
    }
    if (found_count == 1 && w->only == 1)
        return give(w, &first, NULL);
    if (w->count == 0)
        w->count = 1;
    return true;
}

/* Standard input cannot be opened once for each page, so there a page's bytes are the file's. */
static bool walk_pages(walker *w, const io_source *source, bool stream)
{
    const int64_t count = io_count_pages(source);
    if (w->only ? w->only > count : count == 1) {
        w->count = count;
        return true;
    }
    for (int64_t page = 0; page < count && !(w->only && w->count >= w->only); page++)
        if (!give(w, &(io_part){.page = page, .size = stream ? source->size : 0}, NULL))
            return false;
    return true;
}

static bool find_parts(walker *w, const io_source *source, bool stream)
{
    const io_format *format = io_find_format(source->data, source->size);
    if ((stream && !(format && format->pages)) || format == &io_format_pnm ||
        format == &io_format_y4m)
        return walk(w, source, stream);
    return walk_pages(w, source, stream);
}

int64_t io_count_pages(const io_source *source)
{
    const io_format *format = io_find_format(source->data, source->size);
    const int64_t count = format && format->pages ? format->pages(source) : 1;
    return count < 1 ? 1 : count;
}

int64_t io_find_parts(const char *path, int64_t only, io_take_part *take, void *data)
{
    walker w = {.only = only, .take = take, .data = data};
    const bool standard = strcmp(path, "-") == 0;
    io_source source;
    struct stat status;
    bool good = true;
    const int fd = standard ? STDIN_FILENO
                            : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

    if (fd < 0)
        return 1;
    /* The file is mapped whatever its size: only the first bytes of most files are looked at. */
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        io_map(&source, fd, (size_t)status.st_size)) {
        good = find_parts(&w, &source, standard);
        io_unmap(&source);
    }
    if (!standard)
        close(fd);
    return !good ? -1 : w.count ? w.count : 1;
}

/* Whether a JPEG says by a segment (CIPA DC-007) that the pictures behind it are parts of it. */
static bool has_parts(const uint8_t *data, size_t size)
{
    for (size_t at = 2; size - at >= 8 && data[at] == 0xff && data[at + 1] != 0xda;
         at += 2 + (size_t)(data[at + 2] << 8 | data[at + 3]))
        if (data[at + 1] == 0xe2 && memcmp(data + at + 4, "MPF", 4) == 0)
            return true;
        else if (size - at < 2 + (size_t)(data[at + 2] << 8 | data[at + 3]))
            break;
    return false;
}

/* Where the first picture ends, or all pages do; 0 where that is not known. */
static uint64_t find_end(const io_source *source, const io_format *format)
{
    io_splitter splitter = {0};
    if (format->end)
        return format->end(source);
    if (format == &io_format_jpeg && has_parts(source->data, source->size))
        return 0;
    return io_split_next(&splitter, source->data, source->size, true) == IO_SPLIT_PICTURE ? splitter.end : 0;
}

io_rest io_rest_of(const io_source *source)
{
    const io_format *format = source->frame ? NULL : io_find_format(source->data, source->size), *next;
    const uint64_t end = format ? find_end(source, format) : 0;
    if (end == 0 || end >= source->size)
        return IO_REST_NONE;
    const size_t at = (size_t)end + io_split_skip(source->data + end, source->size - (size_t)end);
    if (format == &io_format_pnm) {
        io_splitter second = {0};
        return io_split_next(&second, source->data + at, source->size - at, true) == IO_SPLIT_PICTURE
                   ? IO_REST_OF_PNM
                   : IO_REST_NONE;
    }
    next = io_find_format(source->data + at, source->size - at);
    return !next || next == &io_format_text ? IO_REST_NONE : format->end ? IO_REST_OF_TIFF : IO_REST_OF_STREAM;
}

/* Reads up to size bytes; *got is less where the file ends before. False with errno. */
static bool read_at(int fd, uint8_t *to, size_t size, int64_t offset, size_t *got)
{
    for (*got = 0; *got < size;) {
        const ssize_t count = pread(fd, to + *got, size - *got, (off_t)(offset + (int64_t)*got));
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return count == 0;
        *got += (size_t)count;
    }
    return true;
}

bool io_source_open_part(io_source *source, const char *path, const io_part *part, io_error *error)
{
    if (part->size == 0) {
        const bool good = io_source_open(source, path, error);
        if (good)
            source->page = part->page;
        return good;
    }
    const bool standard = strcmp(path, "-") == 0;
    const int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    uint8_t *data = fd < 0 ? NULL : malloc(part->header_size + part->size);
    size_t header = 0, body = 0;
    bool good = data && read_at(fd, data, part->header_size, part->header, &header) &&
                header == part->header_size &&
                read_at(fd, data + header, part->size, part->offset, &body);
    if (!good)
        io_fail(error, "%s", fd >= 0 && !data ? "not enough memory" : strerror(errno));
    if (!standard && fd >= 0)
        close(fd);
    if (!good)
        free(data);
    else
        *source = (io_source){.data = data, .size = header + body, .page = part->page};
    return good;
}

bool io_may_have_pages(const char *name, bool likely)
{
    const io_format *format = io_named_format(name);
    if (!format || format->not_in_folders)
        return !likely;
    return format->pages || format == &io_format_y4m || (!likely && format == &io_format_pnm);
}
