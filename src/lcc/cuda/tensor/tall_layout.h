/* SPDX-License-Identifier: MIT */
/* The shared memory of wgmma_tall.cu and its likes, and the parts in which they take a template for whose blocks it has no room: for
 * their launches, and for whoever plans without CUDA's headers. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_LAYOUT_H
#define TMATCH_LCC_CUDA_TENSOR_TALL_LAYOUT_H

#include "integers.h"
#include "lcc/cuda/tensor/limits.h"
#include "lcc/score.h"

enum { TM_WIDE_BLOCK = 512 }; /* bytes of a template row's blocks in a step of k: 16 shifts x 32 of k */
enum { TM_WIDE_LEAST_UNITS = 3, TM_WIDE_MOST_UNITS = 8 };

/* How many units of 16 columns a template row takes, shifted. */
TM_HOST_DEVICE int tm_wide_units(int w)
{
    return (w + 15 + 15) / 16;
}

/* Bytes of a staged frame row of which products take so many units. */
#define TM_WIDE_ROW(tile_width, units) ((tile_width) - 16 + 16 * (units))

enum {
    TM_TALL_SUM_WARPS = 8,
    TM_TALL_GROUP_ROWS = 4, /* of windows, for which the template's rows are staggered in A */
    TM_TALL_GROUPS = TM_TALL_TILE_HEIGHT / TM_TALL_GROUP_ROWS,
    TM_TALL_ELEMENT = 16 * 8 + 16, /* bytes of S_F and S_FF of every 8th column, in different banks than the next ones */
    TM_TALL_SLOT_ROW = 8 * TM_TALL_ELEMENT,
    TM_TALL_SLOT = TM_TALL_GROUP_ROWS * TM_TALL_SLOT_ROW,
    TM_TALL_CHAIN = TM_TALL_TILE_WIDTH * 8,
    TM_TALL_SUMS_BYTES = TM_TALL_SUM_WARPS * TM_TALL_SLOT + 2 * TM_TALL_CHAIN /* of window sums */
};

/* Bytes that a block declares besides, rounded up: of wgmma_tall.cu, and of wgmma_tall_planes.cu. */
enum { TM_TALL_FIXED_BYTES = 1024, TM_TALL_PLANES_FIXED_BYTES = 256 };

/* The template's blocks in shared memory, rows in ascending order. First come those of each step of k that takes one frame row: h
 * rows, and 3 of zeros before, between and behind. Where the number of units is odd, those of the step that takes two frame rows
 * follow. They are half as large, as each meets one of the two: 3 of zeros, h rows, and 4 of zeros. */
TM_HOST_DEVICE int tm_tall_whole_blocks(int units, int h)
{
    return 3 + units / 2 * (h + 3);
}

TM_HOST_DEVICE int tm_tall_template_bytes(int units, int h)
{
    return tm_tall_whole_blocks(units, h) * TM_WIDE_BLOCK + units % 2 * (h + 7) * (TM_WIDE_BLOCK / 2);
}

/* Frame rows of a tile; the last one has the unit that stands behind an odd number of them, which meets zeros. */
TM_HOST_DEVICE int tm_tall_rows(int h)
{
    return TM_TALL_TILE_HEIGHT + h;
}

/* Shared memory for operands: the template's blocks, and the frame rows of two tiles. */
TM_HOST_DEVICE unsigned tm_tall_operand_bytes(int units, int h)
{
    return (unsigned)(tm_tall_template_bytes(units, h) + 2 * tm_tall_rows(h) * TM_WIDE_ROW(TM_TALL_TILE_WIDTH, units));
}

/* Behind a second template's blocks, nobody reads these bytes. compute-sanitizer takes A for 2048 bytes of memory, where that of
 * half-blocks is 1280. */
enum { TM_TALL_BEHIND = 768 };

/* What the blocks of a second template take. */
TM_HOST_DEVICE unsigned tm_tall_second_bytes(int units, int h)
{
    return (unsigned)tm_tall_template_bytes(units, h) + TM_TALL_BEHIND;
}

/* The parts in which a template is taken, numbered along its rows: of so many rows and units each. */
typedef struct tm_tall_division {
    int rows, units;
    int across, count; /* parts beside each other, and in all */
} tm_tall_division;

/* Where one of them begins. */
static inline int tm_tall_part_row(const tm_tall_division *d, int part)
{
    return part / d->across * d->rows;
}

static inline int tm_tall_part_unit(const tm_tall_division *d, int part)
{
    return part % d->across * d->units;
}

enum { TM_TALL_PART_UNITS = 40 }; /* units of a row that take as long as what a part takes besides its products */

/* In how many units' time its products are made, of a map's tile. */
static inline int tm_tall_division_units(const tm_tall_division *d)
{
    return d->count * ((d->rows + 3) * d->units + TM_TALL_PART_UNITS);
}

/* Sets the parts that take the least time where a block has shared memory for operands, with the blocks of one template or of two, and so
 * many bytes besides; false where they would be more than most. */
static inline bool tm_tall_divide(tm_tall_division *d, int64_t shared_memory, int w, int h, int templates, int64_t besides, int most)
{
    const int units = tm_wide_units(w), fewest = (int)ceil_div(units, TM_WIDE_MOST_UNITS),
              narrowest = (int)ceil_div(units, TM_WIDE_LEAST_UNITS);
    int least = 0, down = 2;

    for (int across = fewest; across <= most && across <= narrowest && down > 1; across++) {
        const int wide = (int)larger(ceil_div(units, across), TM_WIDE_LEAST_UNITS);
        int high = h;
        down = 1;
        while (down * across <= most &&
               tm_tall_operand_bytes(wide, high) + (templates > 1 ? tm_tall_second_bytes(wide, high) : 0) + besides > shared_memory)
            down++, high = (int)ceil_div(h, down);
        const tm_tall_division found = {high, wide, across, down * across};
        if (found.count > most)
            continue;
        const int time = tm_tall_division_units(&found);
        if (!least || time < least)
            least = time, *d = found;
    }
    return least > 0;
}

/* The parts in which wgmma_tall.cu takes a template: false where it does not. */
static inline bool tm_tall_divide_gray(tm_tall_division *d, int64_t shared_memory, int64_t w, int64_t h)
{
    return w <= TM_TALL_WIDEST && w * h <= TM_MMA_SMALL_TAPS && tm_wide_units((int)w) >= TM_WIDE_LEAST_UNITS &&
           tm_tall_divide(d, shared_memory, (int)w, (int)h, 1, TM_TALL_SUMS_BYTES + TM_TALL_FIXED_BYTES, TM_TENSOR_STEPS);
}

/* Likewise wgmma_tall_planes.cu, for so many products, whose parts are all steps of one launch. A tile must have products enough for what its
 * sums take in memory, unless always. */
static inline bool tm_tall_divide_planes(tm_tall_division *d, int64_t shared_memory, int64_t w, int64_t h, int count, bool always)
{
    return w * h <= TM_TENSOR_TAPS && (always || (h + 3) * tm_wide_units((int)w) >= 50) &&
           tm_tall_divide(d, shared_memory, (int)w, (int)h, 1, TM_TALL_PLANES_FIXED_BYTES, TM_TENSOR_STEPS / count);
}

/* Likewise wgmma_tall_bound.cu, of a template of so many channels, where it takes that size at all. Blocks of parts that are not
 * all in shared memory come while others are multiplied with. */
static inline bool tm_tall_divide_bound(tm_tall_division *d, int64_t shared_memory, int64_t w, int64_t h, int channels)
{
    return w * h * channels <= TM_TENSOR_TAPS && tm_wide_units((int)w) >= TM_WIDE_LEAST_UNITS &&
           ((channels == 1 && tm_tall_divide(d, shared_memory, (int)w, (int)h, 1, TM_TALL_PLANES_FIXED_BYTES, 1)) ||
            tm_tall_divide(d, shared_memory, (int)w, (int)h, 2, TM_TALL_PLANES_FIXED_BYTES, TM_TENSOR_STEPS / channels));
}

/* Bytes of the map of other parts' sums that wgmma_tall.cu adds to, whose rows are so many elements apart. */
static inline int64_t tm_tall_partial_stride(int64_t map_width)
{
    return (map_width + 3) / 4 * 4;
}

static inline int64_t tm_tall_partial_bytes_of(const tm_tall_division *d, int64_t map_width, int64_t map_height)
{
    return d->count > 1 ? tm_tall_partial_stride(map_width) * map_height * (int64_t)sizeof(uint32_t) : 0;
}

#define TM_TALL_MOST_PARTIAL_BYTES (INT64_C(512) << 20)

#endif
