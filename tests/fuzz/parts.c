/* SPDX-License-Identifier: MIT */
/* Files that hold several pictures: what is found in them lies in them, and can be opened. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "io/io.h"

enum { MOST_PARTS = 200, MOST_OPENED = 8 };

typedef struct list {
    size_t size;
    io_part parts[MOST_OPENED];
    int64_t count;
} list;

static bool take_part(void *data, const io_part *part, const char *reason)
{
    list *l = data;
    FUZZ_CHECK(part->page >= 0 && part->offset >= 0 && part->header >= 0);
    FUZZ_CHECK(part->size <= l->size && (size_t)part->offset <= l->size - part->size);
    FUZZ_CHECK(part->header_size <= l->size && (size_t)part->header <= l->size - part->header_size);
    FUZZ_CHECK(!reason || *reason);
    if (l->count < MOST_OPENED && !reason)
        l->parts[l->count] = *part;
    return ++l->count < MOST_PARTS;
}

static void open_part(const char *path, const io_part *part)
{
    io_source source;
    io_picture picture;
    io_error error = {.reason = ""};
    if (!io_source_open_part(&source, path, part, &error)) {
        FUZZ_CHECK(error.reason[0]);
        return;
    }
    if (io_decode(&source, IO_RGB, &(io_limits){1 << 12}, &picture, &error))
        io_picture_free(&picture);
    io_source_close(&source);
}

static list find(const char *path, size_t size, int64_t only)
{
    list l = {.size = size};
    const int64_t count = io_find_parts(path, only, take_part, &l);
    FUZZ_CHECK(count == -1 ? l.count == MOST_PARTS : l.count == 0 || only || l.count == count);
    FUZZ_CHECK(!only || l.count <= 1);
    for (int64_t i = 0; i < l.count && i < MOST_OPENED; i++)
        open_part(path, &l.parts[i]);
    return l;
}

static void look_at_rest(const uint8_t *data, size_t size)
{
    uint8_t *copy = fuzz_copy(data, size, false);
    const io_rest rest = io_rest_of(&(io_source){.data = copy, .size = size});
    FUZZ_CHECK(rest >= IO_REST_NONE && rest <= IO_REST_OF_TIFF);
    free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint32_t control = fuzz_control(data, &size);
    char path[FUZZ_PATH];
    const int fd = fuzz_file(data, size, path);

    look_at_rest(data, size);
    const list all = find(path, size, 0);
    const int64_t only = (control & 7) + 1;
    const list one = find(path, size, only);
    FUZZ_CHECK(all.count < only || all.count == MOST_PARTS || one.count == 1);
    fuzz_shorten_reads((control >> 4 & 255) + 1, control >> 12 & 15);
    find(path, size, 0);
    fuzz_shorten_reads(0, 0);
    fuzz_fail_allocation(control >> 16 & 63, true);
    find(path, size, 0);
    fuzz_allocations_succeed();
    close(fd);
    return 0;
}
