/* SPDX-License-Identifier: MIT */
/* For wgmma_tall.cu, wgmma_tall_masked.cu, wgmma_tall_planes.cu and wgmma_tall_bound.cu: a block's operands in shared memory, its tiles, and what its
 * warps have of these; for the first one also roles and barriers of warps that sum. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_BLOCK_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_BLOCK_CUH
#include "lcc/cuda/tensor/barriers.cuh"
#include "lcc/cuda/tensor/ring.cuh"
#include "lcc/cuda/tensor/wide_products.cuh"

enum {
    TM_TALL_PRODUCT_WARPS = 8, // two warpgroups, which multiply in turns and score what they have multiplied
    TM_TALL_TURNS = TM_TALL_GROUPS / TM_TALL_SUM_WARPS // groups of a warp that sums, in a tile
};

/* Barriers in shared memory, by number; two stand for a turn of each warpgroup. ROWS: a turn's frame rows are there, and the blocks
 * that they meet. ISSUED: its products. Whoever wrote or read what a barrier is for arrives at it, thread by thread: racecheck
 * sees no further. */
enum { TM_TALL_ROWS = 0, TM_TALL_ISSUED = TM_TALL_ROWS + 2, TM_TALL_OTHERS = TM_TALL_ISSUED + 2 };

/* The others where warps sum, whose turns are tiles. FULL, FREE: a slot has the sums of a group; they were read. CHAINED: a warp has
 * passed on the sums of its group's last row. */
enum {
    TM_TALL_FULL = TM_TALL_OTHERS,
    TM_TALL_FREE = TM_TALL_FULL + 2 * TM_TALL_SUM_WARPS,
    TM_TALL_CHAINED = TM_TALL_FREE + 2 * TM_TALL_SUM_WARPS,
    TM_TALL_BARRIERS = TM_TALL_CHAINED + TM_TALL_SUM_WARPS
};

/* How many threads arrive at these. */
__device__ __forceinline__ int tm_tall_arrivals(int barrier)
{
    const bool of_a_warp = (barrier >= TM_TALL_FULL && barrier < TM_TALL_FREE) || barrier >= TM_TALL_CHAINED;
    return barrier < TM_TALL_ISSUED ? 32 * TM_TALL_SUM_WARPS : of_a_warp ? 32 : 128;
}

/* Sets the tiles of a map; false where it is too large for them. */
static inline bool tm_tall_cover(tm_tensor_plan *p, const tm_device_windows &j)
{
    return tm_tensor_cover(p, j) && max(j.map_width, j.map_height) <= 1 << 30;
}

/* What a lane that multiplies has of each group: 4 windows of a row, 8 columns apart. The template's first lines in A are those of
 * the last row, because its rows ascend. */
struct tm_tall_lane {
    const int row, column; // of the group, and of the first window in the tile

    __device__ __forceinline__ tm_tall_lane()
        : row(TM_TALL_GROUP_ROWS - 1 - threadIdx.x / 32 % 4), column(threadIdx.x % 4 * 32 + threadIdx.x % 32 / 4)
    {
    }
};

/* The sum of a lane's window e, in a group's accumulators. */
template <typename T>
__device__ __forceinline__ T &tm_tall_product(T (&acc)[4], int e)
{
    return acc[e % 2 * 2 + e / 2];
}

/* A part of a template: its first row and unit, and what the template has of them. */
struct tm_tall_part {
    int row, unit, rows, units;
};

template <int STEPS, bool ODD>
struct tm_tall_block {
    enum { UNITS = 2 * STEPS - ODD, ROW = tm_wide_row(UNITS) }; // of 16 columns; bytes of a staged frame row
    const tm_device_windows &j;
    const tm_tensor_plan &p;
    const unsigned blocks, barriers; // addresses in shared memory
    const int first, count;          // tiles, numbered down the columns of tiles

    /* The part whose products are made, of rows() rows and UNITS units. */
    __device__ __forceinline__ tm_tall_part part() const
    {
        return {p.part_row, p.part_unit, j.height, tm_wide_units(j.width)};
    }

    __device__ __forceinline__ int rows() const
    {
        return p.part_rows;
    }

    __device__ __forceinline__ unsigned barrier(int i) const
    {
        return barriers + 8 * i;
    }

    /* The place in the map of the block's tile n. */
    __device__ __forceinline__ int64_t x(int n) const
    {
        return (int64_t)((first + n) / p.tiles_y) * TILE_WIDTH;
    }

    __device__ __forceinline__ int64_t y(int n) const
    {
        return (int64_t)((first + n) % p.tiles_y) * TILE_HEIGHT;
    }

    __device__ __forceinline__ unsigned frame_rows(int n) const
    {
        return blocks + tm_tall_template_bytes(UNITS, rows()) + n % 2 * (tm_tall_rows(rows()) * ROW);
    }

    __device__ __forceinline__ unsigned slot(int i) const
    {
        return frame_rows(0) + 2 * (tm_tall_rows(rows()) * ROW) + i * TM_TALL_SLOT;
    }

    __device__ __forceinline__ unsigned chain(int i) const
    {
        return slot(TM_TALL_SUM_WARPS) + i * TM_TALL_CHAIN;
    }
};

#endif
