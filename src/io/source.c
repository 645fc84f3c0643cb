/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"

/* Files smaller than this are read: that costs less than a mapping's page faults. */
enum { MAP_FROM = 16 << 20, FIRST_READ = 64 << 10 };

/* The last byte of capacity stays free, so that a file of the expected size is
 * read to its end without growing. */
static bool read_to_end(io_source *source, int fd, size_t expected, io_error *error)
{
    size_t capacity = expected + 1, size = 0;
    uint8_t *data = malloc(capacity);
    while (data) {
        ssize_t got = read(fd, data + size, capacity - size);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            io_fail(error, "%s", strerror(errno));
            free(data);
            return false;
        }
        if (got == 0) {
            *source = (io_source){.data = data, .size = size};
            return true;
        }
        size += (size_t)got;
        if (size == capacity) {
            uint8_t *larger = capacity > SIZE_MAX / 2 ? NULL : realloc(data, capacity *= 2);
            if (!larger)
                free(data);
            data = larger;
        }
    }
    return io_fail(error, "not enough memory to read the file");
}

static bool open_descriptor(io_source *source, int fd, off_t map_from, io_error *error)
{
    struct stat status;
    if (fstat(fd, &status) != 0)
        return io_fail(error, "%s", strerror(errno));
    if (S_ISDIR(status.st_mode))
        return io_fail(error, "is a directory");
    if (!S_ISREG(status.st_mode))
        return read_to_end(source, fd, FIRST_READ, error);
    if (status.st_size < map_from)
        return read_to_end(source, fd, (size_t)status.st_size, error);
    /* Standard input may stand in the middle of a file; a mapping starts at 0. */
    if (lseek(fd, 0, SEEK_CUR) == 0 && io_map(source, fd, (size_t)status.st_size))
        return true;
    return read_to_end(source, fd, (size_t)status.st_size, error);
}

static bool open_path(io_source *source, const char *path, off_t map_from, io_error *error)
{
    if (strcmp(path, "-") == 0)
        return open_descriptor(source, STDIN_FILENO, map_from, error);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return io_fail(error, "%s", strerror(errno));
    bool ok = open_descriptor(source, fd, map_from, error);
    close(fd);
    return ok;
}

bool io_source_open(io_source *source, const char *path, io_error *error)
{
    return open_path(source, path, MAP_FROM, error);
}

bool io_source_map(io_source *source, const char *path, io_error *error)
{
    return open_path(source, path, 1, error);
}

bool io_source_late(const io_source *source, io_error *error)
{
    const bool late = source->deadline > 0 && clock_ms() > source->deadline;
    if (late && error)
        io_fail(error, "takes longer than --max-time-per-frame allows");
    return late;
}

void io_source_release(io_source *source, size_t used)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t end = used / page * page;
    if (!source->mapped || end <= source->released)
        return;
    io_source_release_range(source, source->released, end);
    source->released = end;
}

void io_source_release_range(const io_source *source, size_t begin, size_t end)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t first = begin / page * page;
    if (source->mapped && end > first)
        madvise((uint8_t *)(uintptr_t)source->data + first, end - first, MADV_DONTNEED);
}

/* Bytes between the parts are given back with them: if they are needed they are read again. */
void io_rows_spend(io_rows *rows, size_t begin, size_t end)
{
    const bool none = rows->spent_begin == rows->spent_end;
    rows->spent_begin = none || begin < rows->spent_begin ? begin : rows->spent_begin;
    rows->spent_end = none || end > rows->spent_end ? end : rows->spent_end;
    if (rows->spent_end - rows->spent_begin < IO_RELEASE_BYTES)
        return;
    io_source_release_range(rows->source, rows->spent_begin, rows->spent_end);
    rows->spent_begin = rows->spent_end = 0;
}

void io_source_close(io_source *source)
{
    const io_source before = *source;
    if (source->mapped)
        io_unmap(source);
    else if (source->frame)
        source->frame->free(source->frame);
    else
        free((void *)(uintptr_t)source->data);
    *source = (io_source){0};
    if (before.closed)
        before.closed(before.owner, before.size);
}
