/* SPDX-License-Identifier: MIT */
#include "orientation.h"

#include <stdlib.h>
#include <string.h>

#define EXIF_START "Exif\0"

enum { HEADER_BYTES = 8, ENTRY_BYTES = 12, ORIENTATION_TAG = 0x0112, SHORT = 3, LONG = 4 };

/* A block of EXIF data, which has the structure of a TIFF file. */
typedef struct tiff_block {
    const uint8_t *data;
    size_t size;
    bool big_endian;
} tiff_block;

/* The number of so many bytes at a position; 0 where the block ends before it. */
static uint32_t number_at(const tiff_block *b, size_t at, size_t bytes)
{
    uint32_t value = 0;
    if (at > b->size || bytes > b->size - at)
        return 0;
    for (size_t i = 0; i < bytes; i++)
        value = value << 8 | b->data[b->big_endian ? at + i : at + bytes - 1 - i];
    return value;
}

int io_exif_orientation(const uint8_t *data, size_t size)
{
    if (size >= sizeof EXIF_START && memcmp(data, EXIF_START, sizeof EXIF_START) == 0) {
        data += sizeof EXIF_START;
        size -= sizeof EXIF_START;
    }
    if (size < HEADER_BYTES || (memcmp(data, "II*\0", 4) != 0 && memcmp(data, "MM\0*", 4) != 0))
        return 0;
    const tiff_block b = {data, size, data[0] == 'M'};
    const size_t directory = number_at(&b, 4, 4);
    const size_t count = number_at(&b, directory, 2);
    for (size_t i = 0; i < count; i++) {
        const size_t entry = directory + 2 + i * ENTRY_BYTES;
        if (number_at(&b, entry, 2) != ORIENTATION_TAG)
            continue;
        const uint32_t type = number_at(&b, entry + 2, 2);
        const uint32_t value = type == SHORT  ? number_at(&b, entry + 8, 2)
                               : type == LONG ? number_at(&b, entry + 8, 4)
                                              : 0;
        return value <= 8 ? (int)value : 0;
    }
    return 0;
}

int io_file_orientation(const io_format *format, const io_source *source)
{
    const int orientation = format->orientation ? format->orientation(source) : 0;
    return orientation > 1 ? orientation : 0;
}

/* A plane's samples or mask to be exchanged with its transpose's: x counts along rows of
 * from and y along rows of to; the steps are negative where the last row is to be first. */
typedef struct turn {
    uint8_t *to;
    const uint8_t *from;
    ptrdiff_t to_row, from_row; /* bytes */
    int64_t width, height;      /* of the plane from */
} turn;

/* A tile's rows in either plane stay in the first cache. */
enum { TILE = 32, WORD = 8 };

/* Exchanges bits of b with those shift bits further up in a. */
static inline void exchange(uint64_t *a, uint64_t *b, int shift, uint64_t bits)
{
    const uint64_t differing = ((*a >> shift) ^ *b) & bits;
    *a ^= differing << shift;
    *b ^= differing;
}

/* Transposes 8x8 bytes: the quarters are exchanged, then quarters of them, then single bytes. */
static inline void transpose_words(uint8_t *to, ptrdiff_t to_row, const uint8_t *from,
                                   ptrdiff_t from_row)
{
    uint64_t words[WORD];
    for (int i = 0; i < WORD; i++)
        memcpy(&words[i], from + i * from_row, WORD);
    for (int i = 0; i < 4; i++)
        exchange(&words[i], &words[i + 4], 32, UINT64_C(0x00000000ffffffff));
    for (int i = 0; i < 8; i += i % 4 == 1 ? 3 : 1)
        exchange(&words[i], &words[i + 2], 16, UINT64_C(0x0000ffff0000ffff));
    for (int i = 0; i < 8; i += 2)
        exchange(&words[i], &words[i + 1], 8, UINT64_C(0x00ff00ff00ff00ff));
    for (int i = 0; i < WORD; i++)
        memcpy(to + i * to_row, &words[i], WORD);
}

static inline __attribute__((always_inline)) void
transpose_tile(const turn *t, int64_t x0, int64_t y0, int64_t columns, int64_t rows, int64_t pixel)
{
    const uint8_t *from = t->from + y0 * t->from_row + x0 * pixel;
    uint8_t *to = t->to + x0 * t->to_row + y0 * pixel;
    if (pixel == 1 && columns == TILE && rows == TILE) {
        for (int64_t x = 0; x < TILE; x += WORD)
            for (int64_t y = 0; y < TILE; y += WORD)
                transpose_words(to + x * t->to_row + y, t->to_row, from + y * t->from_row + x,
                                t->from_row);
        return;
    }
    for (int64_t x = 0; x < columns; x++)
        for (int64_t y = 0; y < rows; y++)
            memcpy(to + x * t->to_row + y * pixel, from + y * t->from_row + x * pixel,
                   (size_t)pixel);
}

static inline __attribute__((always_inline)) void transpose(const turn *t, int64_t pixel)
{
    for (int64_t y = 0; y < t->height; y += TILE)
        for (int64_t x = 0; x < t->width; x += TILE)
            transpose_tile(t, x, y, t->width - x < TILE ? t->width - x : TILE,
                           t->height - y < TILE ? t->height - y : TILE, pixel);
}

static inline __attribute__((always_inline)) void mirror_rows(uint8_t *samples, int64_t width,
                                                              int64_t height, int64_t pixel)
{
    uint8_t held[16];
    for (int64_t y = 0; y < height; y++) {
        uint8_t *left = samples + y * width * pixel, *right = left + (width - 1) * pixel;
        for (; left < right; left += pixel, right -= pixel) {
            memcpy(held, left, (size_t)pixel);
            memcpy(left, right, (size_t)pixel);
            memcpy(right, held, (size_t)pixel);
        }
    }
}

/* Calls the function with the pixel's size as a constant, so that moves are of that size: 1 or 3
 * channels of 8, 16 or 32 bits. */
#define FOR_PIXELS_OF(pixel, function, ...) \
    switch (pixel) {                        \
    case 1: function(__VA_ARGS__, 1); break;   \
    case 2: function(__VA_ARGS__, 2); break;   \
    case 3: function(__VA_ARGS__, 3); break;   \
    case 4: function(__VA_ARGS__, 4); break;   \
    case 6: function(__VA_ARGS__, 6); break;   \
    default: function(__VA_ARGS__, 12);        \
    }

/* Turns a plane of orientation 5 to 8, whose rows are the upright picture's columns. */
static void turn_plane(uint8_t *to, const uint8_t *from, int64_t width, int64_t height,
                       int64_t pixel, int orientation)
{
    const bool last_row_first = orientation == 6 || orientation == 7;
    const bool last_column_first = orientation == 7 || orientation == 8;
    turn t = {.to = to, .from = from, .width = width, .height = height,
              .to_row = height * pixel, .from_row = width * pixel};
    if (last_row_first) {
        t.from += (height - 1) * t.from_row;
        t.from_row = -t.from_row;
    }
    if (last_column_first) {
        t.to += (width - 1) * t.to_row;
        t.to_row = -t.to_row;
    }
    FOR_PIXELS_OF(pixel, transpose, &t)
}

static void swap_rows(uint8_t *a, uint8_t *b, int64_t size)
{
    for (int64_t i = 0; i < size; i++) {
        const uint8_t held = a[i];
        a[i] = b[i];
        b[i] = held;
    }
}

/* Turns a plane of orientation 2 to 4 in place. */
static void mirror_plane(uint8_t *samples, int64_t width, int64_t height, int64_t pixel,
                         int orientation)
{
    const int64_t row = width * pixel;
    if (orientation != 4)
        FOR_PIXELS_OF(pixel, mirror_rows, samples, width, height)
    for (int64_t y = 0; y < height / 2 && orientation != 2; y++)
        swap_rows(samples + y * row, samples + (height - 1 - y) * row, row);
}

static bool turn_picture(io_picture *picture, int orientation, io_memory *memory, io_error *error)
{
    const size_t pixels = (size_t)(picture->width * picture->height);
    const int64_t pixel = picture->channels * io_sample_size(picture);
    io_picture upright = {.memory = memory};
    uint8_t *mask = picture->mask ? malloc(pixels) : NULL;
    if (picture->mask && !mask)
        return io_fail(error, "not enough memory");
    if (!io_picture_allocate(&upright, picture->height, picture->width, (io_color)picture->channels,
                             8 * io_sample_size(picture), &(io_limits){INT64_MAX}, error)) {
        free(mask);
        return false;
    }
    turn_plane(upright.samples, picture->samples, picture->width, picture->height, pixel,
               orientation);
    io_replace_samples(picture, upright.samples);
    picture->memory = upright.memory;
    if (mask) {
        turn_plane(mask, picture->mask, picture->width, picture->height, 1, orientation);
        free(picture->mask);
        picture->mask = mask;
    }
    picture->width = upright.width;
    picture->height = upright.height;
    return true;
}

bool io_orient_picture(io_picture *picture, int orientation, io_memory *memory, io_error *error)
{
    if (io_orientation_turns(orientation))
        return turn_picture(picture, orientation, memory, error);
    if (orientation <= 1)
        return true;
    mirror_plane(picture->samples, picture->width, picture->height,
                 picture->channels * io_sample_size(picture), orientation);
    if (picture->mask)
        mirror_plane(picture->mask, picture->width, picture->height, 1, orientation);
    return true;
}
