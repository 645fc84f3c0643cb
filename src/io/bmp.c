/* SPDX-License-Identifier: MIT */
/* Windows' and OS/2's BMP: 1 to 32 bits, with a palette or masks, plain or run-length
 * encoded. A palette of grays makes a gray picture. */
#include "format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_HEADER = 14, CORE_HEADER = 12, INFO_HEADER = 40, LARGEST_HEADER = 124 };
enum { PLAIN, RLE8, RLE4, BITFIELDS, ALPHA_BITFIELDS = 6 };

typedef struct bmp {
    const uint8_t *data, *palette;
    size_t size, offset, stride; /* offset: of the samples, stride: of their rows */
    int64_t width, height;
    bool top_down, colored;
    unsigned bits, compression, colors, entry; /* entry: bytes that a colour of the palette takes */
    uint32_t masks[4];                         /* red, green, blue and alpha; 0: none */
    uint8_t *numbers;                          /* of colours in the palette, unpacked from runs */
} bmp;

/* Whether its lines are run lengths, which are unpacked whole. */
static bool is_packed(const bmp *file)
{
    return file->compression == RLE8 || file->compression == RLE4;
}

static uint32_t number(const bmp *file, size_t at, int bytes)
{
    uint32_t value = 0;
    for (int i = bytes - 1; i >= 0; i--)
        value = value << 8 | file->data[at + (size_t)i];
    return value;
}

static bool probe(const uint8_t *data, size_t size)
{
    const bmp file = {.data = data};
    return size >= FILE_HEADER + CORE_HEADER && memcmp(data, "BM", 2) == 0 &&
           number(&file, FILE_HEADER, 4) >= CORE_HEADER &&
           number(&file, FILE_HEADER, 4) <= LARGEST_HEADER;
}

static bool fail_truncated(io_error *error)
{
    return io_fail(error, "damaged BMP: the file is truncated");
}

/* Reads the size of the picture and the format of its samples. header: the length of the header
 * that says so. */
static bool read_sizes(bmp *file, uint32_t header, io_error *error)
{
    if (header == CORE_HEADER) {
        file->width = number(file, 18, 2);
        file->height = number(file, 20, 2);
        file->bits = number(file, 24, 2);
        file->entry = 3;
    } else {
        file->width = (int32_t)number(file, 18, 4);
        file->height = (int32_t)number(file, 22, 4);
        file->bits = number(file, 28, 2);
        file->compression = header >= 20 ? number(file, 30, 4) : PLAIN;
        file->entry = 4;
    }
    file->top_down = file->height < 0;
    file->height = file->top_down ? -file->height : file->height;
    const bool os2 = header < INFO_HEADER || header == 64;
    const unsigned bits = file->bits;
    const bool known = file->compression == PLAIN
                           ? bits == 1 || bits == 2 || bits == 4 || bits == 8 || bits == 16 ||
                                 bits == 24 || bits == 32
                       : file->compression == RLE8 ? bits == 8 && !file->top_down
                       : file->compression == RLE4 ? bits == 4 && !file->top_down
                       : file->compression == BITFIELDS || file->compression == ALPHA_BITFIELDS
                           ? !os2 && (bits == 16 || bits == 32)
                           : false;
    return known || io_fail(error,
                            "a BMP of %u bits and compression %u, which tmatch does not read; "
                            "'convert IN.bmp OUT.png' may",
                            bits, file->compression);
}

static bool check_masks(const bmp *file, io_error *error)
{
    for (int i = 0; i < 4; i++) {
        const uint32_t mask = file->masks[i];
        const uint32_t most = mask ? mask >> __builtin_ctz(mask) : 0;
        if ((most & (most + 1)) != 0 || (mask == 0 && i < 3))
            return io_fail(error, "damaged BMP: its colours' bits do not stand together");
    }
    return true;
}

/* Reads the masks of the colours in a sample, or takes the usual ones where the file has none.
 * Returns how many bytes they take behind the header. */
static size_t read_masks(bmp *file, uint32_t header)
{
    static const uint32_t usual[2][3] = {{0x7c00, 0x3e0, 0x1f}, {0xff0000, 0xff00, 0xff}};
    const bool given = file->compression == BITFIELDS || file->compression == ALPHA_BITFIELDS;
    const size_t behind = !given || header != INFO_HEADER        ? 0
                          : file->compression == ALPHA_BITFIELDS ? 16
                                                                 : 12;
    const int count = !given ? 0 : header >= 56 || behind == 16 ? 4 : 3;
    if (!given && file->bits > 8)
        memcpy(file->masks, usual[file->bits > 16], sizeof *usual);
    for (int i = 0; i < count && FILE_HEADER + INFO_HEADER + 16 <= file->size; i++)
        file->masks[i] = number(file, FILE_HEADER + INFO_HEADER + 4 * (size_t)i, 4);
    return behind;
}

static bool read_palette(bmp *file, uint32_t header, size_t at, io_error *error)
{
    const uint32_t used = header >= 36 ? number(file, 46, 4) : 0;
    if (file->offset > file->size)
        return fail_truncated(error);
    if (file->offset < at)
        return io_fail(error, "damaged BMP: its samples begin before its header ends");
    file->colored = file->bits > 8;
    if (file->bits > 8)
        return true;
    file->palette = file->data + at;
    file->colors = used && used < 1U << file->bits ? used : 1U << file->bits;
    if (file->colors > (file->offset - at) / file->entry)
        file->colors = (unsigned)((file->offset - at) / file->entry);
    for (unsigned i = 0; i < file->colors; i++) {
        const uint8_t *color = file->palette + i * file->entry;
        file->colored = file->colored || color[0] != color[1] || color[1] != color[2];
    }
    return true;
}

static bool begin(bmp *file, const io_source *source, const io_limits *limits, io_error *error)
{
    *file = (bmp){.data = source->data, .size = source->size};
    const uint32_t header = number(file, FILE_HEADER, 4);
    if (file->size < FILE_HEADER + header + (header == CORE_HEADER ? 0 : 4))
        return fail_truncated(error);
    if (!read_sizes(file, header, error) ||
        !io_check_size(file->width, file->height, limits, error))
        return false;
    const size_t masks = read_masks(file, header);
    file->offset = number(file, 10, 4);
    if (!read_palette(file, header, FILE_HEADER + header + masks, error) ||
        (file->bits > 8 && !check_masks(file, error)))
        return false;
    file->stride = ((size_t)file->width * file->bits + 31) / 32 * 4;
    const bool runs = is_packed(file);
    /* the last row may lack its padding */
    const size_t last = ((size_t)file->width * file->bits + 7) / 8;
    size_t needed;
    return runs ||
           (!__builtin_mul_overflow((size_t)(file->height - 1), file->stride, &needed) &&
            !__builtin_add_overflow(needed, last, &needed) &&
            needed <= file->size - file->offset) ||
           fail_truncated(error);
}

/* Where the next unpacked pixel goes. Pixels beyond a row's end are left out. */
typedef struct pen {
    bmp *file;
    int64_t x, y; /* from the bottom */
} pen;

static void put(pen *p, unsigned value)
{
    if (p->x < p->file->width)
        p->file->numbers[p->y * p->file->width + p->x] = (uint8_t)value;
    p->x++;
}

/* Copies numbers that are stored one by one; false where the file ends. */
static bool copy(pen *p, const uint8_t **at, const uint8_t *end, int count)
{
    const bool half = p->file->compression == RLE4;
    const int bytes = half ? (count + 1) / 2 : count;
    if (end - *at < bytes)
        return false;
    for (int i = 0; i < count; i++)
        put(p, half ? ((*at)[i / 2] >> (i % 2 ? 0 : 4)) & 15 : (*at)[i]);
    *at += bytes + bytes % 2;
    return true;
}

/* Unpacks the runs. Pixels that no run reaches have number 0. */
static bool unpack(bmp *file, io_error *error)
{
    enum { END_OF_ROW, END, MOVE };
    const uint8_t *at = file->data + file->offset, *end = file->data + file->size;
    pen p = {.file = file};
    file->numbers = calloc((size_t)file->width, (size_t)file->height);
    if (!file->numbers)
        return io_fail(error, "not enough memory");
    while (p.y < file->height && (p.y < file->height - 1 || p.x < file->width)) {
        if (end - at < 2)
            return fail_truncated(error);
        const int count = at[0], value = at[1];
        at += 2;
        for (int i = 0; i < count; i++)
            put(&p, file->compression == RLE8 ? value : (value >> (i % 2 ? 0 : 4)) & 15);
        if (count > 0)
            continue;
        if (value == END)
            break;
        if (value > MOVE) {
            if (!copy(&p, &at, end, value))
                return fail_truncated(error);
        } else if (value == MOVE) {
            if (end - at < 2)
                return fail_truncated(error);
            p.x += at[0];
            p.y += at[1];
            at += 2;
        } else {
            p.x = 0;
            p.y++;
        }
    }
    return true;
}

static uint8_t scaled(uint32_t sample, uint32_t mask)
{
    const uint64_t most = mask >> __builtin_ctz(mask);
    return (uint8_t)((((sample & mask) >> __builtin_ctz(mask)) * 255 + most / 2) / most);
}

/* Reads row y, counted from the top, into 1 channel or 3, and its mask unless that is NULL. */
static bool read_row(const bmp *file, int64_t y, uint8_t *to, uint8_t *mask, io_error *error)
{
    const int64_t line = file->top_down ? y : file->height - 1 - y;
    const uint8_t *row = file->numbers ? file->numbers + line * file->width
                                       : file->data + file->offset + (size_t)line * file->stride;
    const unsigned bits = file->numbers ? 8 : file->bits;
    for (int64_t x = 0; x < file->width; x++) {
        if (bits > 8) {
            const uint8_t *p = row + x * (bits / 8);
            const uint32_t sample = (uint32_t)p[0] | (uint32_t)p[1] << 8 |
                                    (bits > 16 ? (uint32_t)p[2] << 16 : 0) |
                                    (bits > 24 ? (uint32_t)p[3] << 24 : 0);
            for (int k = 0; k < 3; k++)
                *to++ = scaled(sample, file->masks[k]);
            if (mask)
                mask[x] = (sample & file->masks[3]) != 0;
            continue;
        }
        const unsigned value =
            (row[x * bits / 8] >> (8 - bits - (unsigned)(x * bits % 8))) & ((1U << bits) - 1);
        if (value >= file->colors)
            return io_fail(error, "damaged BMP: colour %u of a palette of %u", value, file->colors);
        const uint8_t *color = file->palette + value * file->entry; /* blue comes first */
        for (int k = file->colored ? 2 : 0; k >= 0; k--)
            *to++ = color[k];
    }
    return true;
}

static bool read_picture(bmp *file, const io_request *request, io_picture *picture, uint8_t *row,
                         io_error *error)
{
    const int64_t width = file->width;
    bool opaque = false;
    for (int64_t y = 0; y < file->height; y++) {
        uint8_t *mask = picture->mask ? picture->mask + y * width : NULL;
        if (!read_row(file, y, row, mask, error))
            return false;
        io_put_row(picture->samples + y * width * request->color, request->color, row,
                   file->colored ? 3 : 1, width);
        opaque = opaque || !mask || memchr(mask, 1, (size_t)width);
    }
    /* Many writers leave alpha 0 everywhere, and mean a picture that can be seen. */
    if (!opaque) {
        free(picture->mask);
        picture->mask = NULL;
    }
    return true;
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    bmp file;
    if (!begin(&file, source, limits, error) ||
        !io_picture_allocate(picture, file.width, file.height, request->color, 8, limits, error))
        return false;
    const bool alpha = file.masks[3] != 0;
    picture->colored = file.colored;
    picture->alpha_ignored = alpha && !request->alpha;
    picture->mask = alpha && request->alpha ? malloc((size_t)(file.width * file.height)) : NULL;
    uint8_t *row = malloc((size_t)file.width * 3);
    bool good = row && (picture->mask || !alpha || !request->alpha);
    if (!good)
        io_fail(error, "not enough memory");
    else
        good = !is_packed(&file) || unpack(&file, error);
    good = good && read_picture(&file, request, picture, row, error);
    free(file.numbers);
    free(row);
    return good;
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    bmp *file = rows->state;
    if (!begin(file, rows->source, limits, error))
        return false;
    rows->width = file->width;
    rows->height = file->height;
    rows->colored = file->colored;
    rows->alpha_ignored = file->masks[3] != 0;
    if (is_packed(file))
        rows->whole = "a BMP of run lengths";
    rows->row = malloc((size_t)rows->width * 3);
    return rows->row || io_fail(error, "not enough memory");
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    const bmp *file = rows->state;
    if (!read_row(file, rows->next, rows->row, NULL, error))
        return false;
    io_put_row(to, rows->color, rows->row, file->colored ? 3 : 1, rows->width);
    const int64_t line = file->top_down ? rows->next : file->height - 1 - rows->next;
    const size_t from = file->offset + (size_t)line * file->stride;
    io_rows_spend(rows, from, from + file->stride);
    return true;
}

static int64_t rows_skip(io_rows *rows, int64_t count)
{
    (void)rows;
    return count;
}

const io_format io_format_bmp = {
    .name = "BMP",
    .probe = probe,
    .decode = decode,
    .rows_state = sizeof(bmp),
    .rows_open = rows_open,
    .rows_read = rows_read,
    .rows_skip = rows_skip,
};
