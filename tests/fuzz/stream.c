/* SPDX-License-Identifier: MIT */
/* Pictures through a pipe, by whole reads and by short ones, which have to find the same; reads and
 * allocations that fail. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/io.h"

enum { PIPE_HOLDS = 65536, MOST_PICTURES = 64, MOST_DECODED = 8, MOST_BYTES = 1 << 20, MOST_READS = 256 };

typedef struct found {
    size_t sizes[MOST_PICTURES], count;
    io_next end;
    int64_t offset;
} found;

static bool admit(void *data, size_t size, io_error *error)
{
    (void)data;
    if (size <= MOST_BYTES)
        return true;
    snprintf(error->reason, sizeof error->reason, "too large");
    return false;
}

static void decode(const io_source *source)
{
    io_picture picture;
    io_error error;
    if (io_decode(source, IO_GRAY, &(io_limits){1 << 12}, &picture, &error))
        io_picture_free(&picture);
}

/* A movie's bytes are handed on as they came, up to the pipe's end or a read that fails. */
static void compare_rest(io_stream *s, const uint8_t *data, size_t size)
{
    uint8_t part[512];
    io_error error = {.reason = ""};
    size_t passed = (size_t)io_stream_offset(s);
    ssize_t got;

    while ((got = io_stream_read(s, part, sizeof part, &error)) > 0) {
        FUZZ_CHECK((size_t)got <= size - passed && memcmp(part, data + passed, (size_t)got) == 0);
        passed += (size_t)got;
    }
    FUZZ_CHECK(got == 0 ? passed == size : error.reason[0]);
}

static found read_pictures(const uint8_t *data, size_t size, bool decoded, bool follow)
{
    found f = {.end = IO_NEXT_FAILED};
    char path[32];
    int ends[2];
    io_stream *s;
    io_streamed picture;
    io_error error = {.reason = ""};

    FUZZ_CHECK(pipe2(ends, O_CLOEXEC) == 0 && write(ends[1], data, size) == (ssize_t)size);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    const bool opened = io_stream_open(&s, path, &(io_stream_room){admit, NULL}, &error);
    close(ends[0]);
    FUZZ_CHECK(opened || error.reason[0]);
    while (opened && (f.end = io_stream_next(s, &picture, &error)) == IO_NEXT_PICTURE) {
        if (f.count < MOST_PICTURES)
            f.sizes[f.count] = picture.source.size;
        if (decoded && f.count < MOST_DECODED)
            decode(&picture.source);
        io_source_close(&picture.source);
        FUZZ_CHECK(++f.count <= size + 1);
        if (follow)
            io_stream_follows(s);
    }
    FUZZ_CHECK(f.end != IO_NEXT_STOPPED && (f.end == IO_NEXT_END || f.end == IO_NEXT_MOVIE || error.reason[0]));
    if (opened) {
        if (f.end == IO_NEXT_MOVIE)
            compare_rest(s, data, size);
        f.offset = io_stream_offset(s);
        FUZZ_CHECK(f.offset >= 0 && f.offset <= (int64_t)size);
        io_stream_close(&s);
    }
    return f;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t control = fuzz_control(data, &size);
    size = size < PIPE_HOLDS ? size : PIPE_HOLDS;
    const found whole = read_pictures(data, size, true, false);

    fuzz_shorten_reads((control & 63) + 1 + size / MOST_READS, 0);
    const found torn = read_pictures(data, size, false, control & 64);
    fuzz_shorten_reads(0, 0);
    if (whole.count != torn.count || whole.end != torn.end || whole.offset != torn.offset ||
        memcmp(whole.sizes, torn.sizes, sizeof whole.sizes) != 0)
        fuzz_fail(__FILE__, __LINE__, "%zu pictures, end %d at %lld; by short reads %zu, %d at %lld", whole.count,
                  (int)whole.end, (long long)whole.offset, torn.count, (int)torn.end, (long long)torn.offset);
    if (control >> 8 & 15) {
        fuzz_shorten_reads(0, control >> 8 & 15);
        read_pictures(data, size, false, control & 64);
        fuzz_shorten_reads(0, 0);
    }
    if (control >> 12 & 15) {
        fuzz_fail_allocation(control >> 12 & 15, false);
        read_pictures(data, size, false, control & 64);
        fuzz_allocations_succeed();
    }
    return 0;
}
