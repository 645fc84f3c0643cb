/* SPDX-License-Identifier: MIT */
#include "unfilter.h"

#include <string.h>

enum { NONE, SUB, UP, AVERAGE, PAETH, FILTERS };

/* The bytes of a pixel, each in a lane of 16 bits. */
typedef int16_t lanes __attribute__((vector_size(16)));
typedef uint8_t packed __attribute__((vector_size(8)));

#define INLINE static inline __attribute__((always_inline))

/* Three bytes take two loads, and six as well: where such a pixel was stored, one load is faster. */
INLINE lanes load(const uint8_t *from, int pixel)
{
    packed bytes = {0};
    memcpy(&bytes, from, pixel == 3 ? 4 : pixel == 6 ? 8 : (size_t)pixel);
    return __builtin_convertvector(bytes, lanes);
}

INLINE void store(uint8_t *to, lanes value, int pixel)
{
    const packed bytes = __builtin_convertvector(value, packed);
    memcpy(to, &bytes, (size_t)pixel);
}

INLINE lanes choose(lanes where, lanes yes, lanes no)
{
    return (yes & where) | (no & ~where);
}

/* The one of left, up and corner that is nearest to left + up - corner, without the three distances. */
INLINE lanes paeth(lanes left, lanes up, lanes corner)
{
    const lanes less = left < up;
    const lanes low = choose(less, left, up), high = choose(less, up, left);
    const lanes limit = corner + corner + corner - up - left;
    return choose(limit > low, choose(high > limit, corner, low), high);
}

INLINE lanes unfilter(int filter, const uint8_t *at, int pixel, lanes left, lanes up, lanes corner)
{
    const lanes guess = filter == SUB       ? left
                        : filter == AVERAGE ? (left + up) >> 1
                                            : paeth(left, up, corner);
    return (load(at, pixel) + guess) & 255;
}

INLINE void unfilter_row(int filter, uint8_t *row, size_t size, int pixel, const uint8_t *above)
{
    lanes left = {0}, corner = {0};
    for (size_t x = 0; x < size; x += (size_t)pixel) {
        const lanes up = load(above + x, pixel);
        left = unfilter(filter, row + x, pixel, left, up, corner);
        corner = up;
        store(row + x, left, pixel);
    }
}

/* Two rows, the lower one a pixel behind the upper. A pixel waits for the one to its left: so twice
 * as many are on their way. */
INLINE void unfilter_paeth_rows(uint8_t *row, uint8_t *below, size_t size, int pixel, const uint8_t *above)
{
    lanes left = {0}, corner = {0}, left_below = {0}, corner_below = {0};
    for (size_t x = 0; x < size; x += (size_t)pixel) {
        const lanes up = load(above + x, pixel), up_below = left;
        left = unfilter(PAETH, row + x, pixel, left, up, corner);
        corner = up;
        if (x > 0) {
            left_below = unfilter(PAETH, below + x - pixel, pixel, left_below, up_below, corner_below);
            corner_below = up_below;
            store(below + x - pixel, left_below, pixel);
        }
        store(row + x, left, pixel);
    }
    left_below = unfilter(PAETH, below + size - pixel, pixel, left_below, left, corner_below);
    store(below + size - pixel, left_below, pixel);
}

/* Returns how many rows are done: 1 or 2. */
INLINE size_t unfilter_rows(uint8_t *row, bool pair, size_t size, int pixel, const uint8_t *above)
{
    switch (row[-1]) {
    case SUB: unfilter_row(SUB, row, size, pixel, above); break;
    case AVERAGE: unfilter_row(AVERAGE, row, size, pixel, above); break;
    case PAETH:
        if (pair)
            unfilter_paeth_rows(row, row + size + 1, size, pixel, above);
        else
            unfilter_row(PAETH, row, size, pixel, above);
        return 1 + pair;
    case UP:
        for (size_t x = 0; x < size; x++)
            row[x] = (uint8_t)(row[x] + above[x]);
    }
    return 1;
}

bool io_unfilter(uint8_t *rows, size_t count, size_t size, int pixel, const uint8_t *above)
{
    for (size_t y = 0, done; y < count; y += done) {
        uint8_t *row = rows + y * (size + 1) + 1;
        const bool pair = y + 1 < count && row[-1] == PAETH && row[size] == PAETH;
        if (row[-1] >= FILTERS)
            return false;
        switch (pixel) {
        case 1: done = unfilter_rows(row, pair, size, 1, above); break;
        case 2: done = unfilter_rows(row, pair, size, 2, above); break;
        case 3: done = unfilter_rows(row, pair, size, 3, above); break;
        case 4: done = unfilter_rows(row, pair, size, 4, above); break;
        case 6: done = unfilter_rows(row, pair, size, 6, above); break;
        default: done = unfilter_rows(row, pair, size, 8, above); break;
        }
        above = row + (done - 1) * (size + 1);
    }
    return true;
}
