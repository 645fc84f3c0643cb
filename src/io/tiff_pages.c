/* SPDX-License-Identifier: MIT */
/* The chain of a TIFF's directories. libtiff reads whatever is in each that it passes, so
 * that the thousandth page would take a thousand times as long as the first. */
#include "tiff.h"

#include <inttypes.h>

/* libtiff accepts as many entries. */
enum { MOST_ENTRIES = 4096 };
enum { TAG_NEW_SUBFILE_TYPE = 254, TAG_SUBFILE_TYPE = 255, TAG_ORIENTATION = 274 };

typedef struct chain {
    const io_source *source;
    bool big_endian, big; /* BigTIFF has 8 bytes where TIFF has 4 */
    uint64_t at;          /* the directory that comes next; 0: none */
    uint64_t seen;        /* a directory that all later ones are compared with (Brent) */
    int64_t steps, until;
    uint64_t bytes; /* of the directories so far */
    bool loops; /* the directory that comes next was there before */
    bool extra; /* the one before is a smaller version of a page, or its mask */
    int orientation; /* the page's, or 0 */
} chain;

static uint64_t number(const chain *c, uint64_t at, int bytes)
{
    uint64_t value = 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | c->source->data[at + (uint64_t)(c->big_endian ? i : bytes - 1 - i)];
    return value;
}

static bool begin(chain *c, const io_source *source, io_error *error)
{
    *c = (chain){.source = source, .until = 1};
    if (source->size < 16)
        return io_fail(error, "damaged TIFF: the file is truncated");
    c->big_endian = source->data[0] == 'M';
    c->big = number(c, 2, 2) == 43;
    c->at = c->big ? number(c, 8, 8) : number(c, 4, 4);
    return c->at != 0 || io_fail(error, "damaged TIFF: it has no picture");
}

/* Looks at a directory and goes to the next. Entries are in the order of their tags. */
static bool step(chain *c, io_error *error)
{
    const uint64_t size = c->source->size, head = c->big ? 8 : 2, entry = c->big ? 20 : 12;
    const uint64_t link = c->big ? 8 : 4;
    if (io_source_late(c->source, error))
        return false;
    if (c->loops)
        return io_fail(error, "damaged TIFF: its directories are a loop");
    if (c->at > size || size - c->at < head)
        return io_fail(error, "damaged TIFF: the file is truncated");
    const uint64_t count = number(c, c->at, (int)head);
    if (count == 0 || count > MOST_ENTRIES)
        return io_fail(error, "damaged TIFF: a directory of %" PRIu64 " entries", count);
    if (size - c->at - head < count * entry + link)
        return io_fail(error, "damaged TIFF: the file is truncated");
    /* else a few bytes would make thousands of pages; a loop may be that long until it is known */
    if ((c->bytes += head + count * entry + link) > 4 * size)
        return io_fail(error, "damaged TIFF: its directories lie over each other");
    uint64_t at = c->at + head;
    c->extra = false;
    c->orientation = 0;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t here = at + i * entry, tag = number(c, here, 2);
        if (tag > TAG_ORIENTATION)
            break;
        /* numbers of 16 bits, or of 32, are left-justified in the entry */
        const uint64_t value = number(c, here + entry - link, number(c, here + 2, 2) == 3 ? 2 : 4);
        if (tag == TAG_NEW_SUBFILE_TYPE && (value & (FILETYPE_REDUCEDIMAGE | FILETYPE_MASK)))
            c->extra = true;
        if (tag == TAG_SUBFILE_TYPE && value == OFILETYPE_REDUCEDIMAGE)
            c->extra = true;
        if (tag == TAG_ORIENTATION && value <= 8)
            c->orientation = (int)value;
    }
    if (++c->steps == c->until) {
        c->seen = c->at;
        c->until *= 2;
    }
    c->at = number(c, at + count * entry, (int)link);
    c->loops = c->at == c->seen;
    return true;
}

/* Walks to the page, so that the chain stands behind it, and says where its directory is. */
static bool walk(chain *c, const io_source *source, uint64_t *offset, io_error *error)
{
    if (!begin(c, source, error))
        return false;
    for (int64_t found = -1; c->at != 0;) {
        *offset = c->at;
        if (!step(c, error))
            return false;
        found += !c->extra || found < 0; /* the first is a page, whatever it says */
        if (found == source->page)
            return true;
    }
    return io_fail(error, "the TIFF has no page %" PRId64, source->page + 1);
}

bool io_tiff_find_page(const io_source *source, uint64_t *offset, io_error *error)
{
    chain c;
    return walk(&c, source, offset, error);
}

int io_tiff_orientation(const io_source *source)
{
    chain c;
    uint64_t offset;
    io_error error;
    return walk(&c, source, &offset, &error) ? c.orientation : 0;
}

/* An entry's numbers, wherever they are. */
typedef struct numbers {
    uint64_t at, count;
    int bytes; /* of each */
} numbers;

/* False where they are not in the file. Types that nobody knows have no numbers. */
static bool find_numbers(const chain *c, uint64_t entry, numbers *n)
{
    static const uint8_t bytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
    const uint64_t type = number(c, entry + 2, 2), link = c->big ? 8 : 4, size = c->source->size;
    *n = (numbers){.count = number(c, entry + 4, (int)link)};
    if (type >= sizeof bytes || bytes[type] == 0)
        return true;
    n->bytes = bytes[type];
    if (n->count > size / bytes[type])
        return false;
    n->at = entry + 4 + link;
    if (n->count * bytes[type] > link)
        n->at = number(c, n->at, (int)link);
    return n->at <= size - n->count * bytes[type];
}

static uint64_t further(uint64_t end, uint64_t at, uint64_t size)
{
    return at <= UINT64_MAX - size && at + size > end ? at + size : end;
}

/* Where the bytes end that a directory of the file names, at least at end. 0 where it is damaged, or names more
 * strips than have room in the file, of which seen is the number. */
static uint64_t end_of_directory(const chain *c, uint64_t directory, uint64_t end, uint64_t *seen)
{
    const uint64_t head = c->big ? 8 : 2, entry = c->big ? 20 : 12, count = number(c, directory, (int)head);
    numbers where = {0}, n;
    end = further(end, directory, head + count * entry + (c->big ? 8 : 4));
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t here = directory + head + i * entry, tag = number(c, here, 2);
        if (!find_numbers(c, here, &n))
            return 0;
        end = further(end, n.at, n.count * (uint64_t)n.bytes);
        if (tag == TIFFTAG_STRIPOFFSETS || tag == TIFFTAG_TILEOFFSETS || tag == TIFFTAG_JPEGIFOFFSET)
            where = n;
        if (tag != TIFFTAG_STRIPBYTECOUNTS && tag != TIFFTAG_TILEBYTECOUNTS && tag != TIFFTAG_JPEGIFBYTECOUNT)
            continue;
        const uint64_t strips = n.bytes == 0 ? 0 : n.count < where.count ? n.count : where.count;
        if ((*seen += strips) > c->source->size)
            return 0;
        for (uint64_t k = 0; k < strips && where.bytes; k++)
            end = further(end, number(c, where.at + k * (uint64_t)where.bytes, where.bytes),
                          number(c, n.at + k * (uint64_t)n.bytes, n.bytes));
    }
    return end;
}

uint64_t io_tiff_end(const io_source *source)
{
    chain c;
    io_error error;
    uint64_t end = 1, seen = 0;
    if (!begin(&c, source, &error))
        return 0;
    while (c.at != 0 && end != 0) {
        const uint64_t directory = c.at;
        if (!step(&c, &error))
            return 0;
        end = end_of_directory(&c, directory, end, &seen);
    }
    return end;
}

int64_t io_tiff_count_pages(const io_source *source)
{
    chain c;
    io_error error;
    int64_t count = 0;
    if (!begin(&c, source, &error))
        return 1;
    while (c.at != 0) {
        if (!step(&c, &error))
            return count + 1;
        count += !c.extra || count == 0;
    }
    return count;
}
