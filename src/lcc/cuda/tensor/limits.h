/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels take, and the shared memory that mma.cu uses: for its launches, and
 * for whoever plans without CUDA's headers. */
#ifndef TMATCH_LCC_CUDA_TENSOR_LIMITS_H
#define TMATCH_LCC_CUDA_TENSOR_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

/* The most pixels of a template: n * 255^2 < 2^32 and n * 255 < 2^24. */
#define TM_TENSOR_TAPS 65793

#define TM_TENSOR_STEPS 32 /* of one launch */

/* A block of mma.cu makes tiles of this width, or of TM_MMA_MANY_TILE_WIDTH where there are many
 * templates. */
#define TM_MMA_TILE_WIDTH 256
#define TM_MMA_MANY_TILE_WIDTH 512
#define TM_MMA_TILE_HEIGHT 16
#define TM_MMA_PART_WIDTH 128 /* of a warp */
#define TM_MMA_PART_HEIGHT 8
#define TM_MMA_FIXED_BYTES 256 /* that a block declares besides, rounded up */

/* The most pixels for which n S_FT fits in 31 bits and a sign. */
#define TM_MMA_SMALL_TAPS 33025

/* The tiles of wgmma_tall.cu and its likes, and the widest template whose window sums the first one makes. */
#define TM_TALL_TILE_WIDTH 128
#define TM_TALL_TILE_HEIGHT 64
#define TM_TALL_WIDEST 113

/* Whether LCC keeps both of a column's sums in one word. */
static inline bool tm_mma_packs(int64_t width, int64_t height)
{
    return height <= 31 && width * height <= TM_MMA_SMALL_TAPS;
}

/* Whether a template is so narrow that its kernel has strides that are known when compiled: */
static inline bool tm_mma_is_narrow(int64_t width)
{
    return width <= 25;
}
#define TM_MMA_NARROW_ROW_BYTES(tile_width) ((tile_width) + 32)
#define TM_MMA_NARROW_SUMS_PITCH(tile_width) ((((tile_width) + 27) / 4 + 1) | 1)

/* The frame's rows that a block stages and, for LCC, the column and window sums of its tile. */
typedef struct tm_mma_layout {
    int row_bytes;             /* of a staged row */
    int words;                 /* groups of 4 columns whose sums are made */
    int sums_pitch, win_pitch; /* rows of column and of window sums, in 16 bytes */
    int64_t rows, sums;        /* bytes of all */
} tm_mma_layout;

static inline tm_mma_layout tm_mma_layout_of(int tile_width, int64_t width, int64_t height,
                                             bool narrow, bool pack)
{
    const int each = pack ? 1 : 2;
    tm_mma_layout l;

    l.row_bytes = narrow ? TM_MMA_NARROW_ROW_BYTES(tile_width)
                         : tile_width + (int)((width + 22) / 16 * 16);
    l.words = (int)((tile_width + width + 2) / 4);
    l.sums_pitch = narrow ? TM_MMA_NARROW_SUMS_PITCH(tile_width) : (each * l.words + 1) | 1;
    l.win_pitch = tile_width / 2 + 1;
    const int pitch = l.sums_pitch > l.win_pitch ? l.sums_pitch : l.win_pitch;
    l.rows = (TM_MMA_TILE_HEIGHT + height - 1) * l.row_bytes;
    l.sums = 16 * (TM_MMA_TILE_HEIGHT * (int64_t)pitch + each * l.words);
    return l;
}

/* How many blocks of so many bytes of shared memory a multiprocessor takes, if others do not limit
 * it: it has what the largest block may have and 1 KB more, and every block takes 1 KB besides its
 * own. */
static inline int64_t tm_tensor_blocks_that_fit(int64_t largest, int64_t bytes)
{
    return (largest + 1024) / (bytes + 1024);
}

#endif
