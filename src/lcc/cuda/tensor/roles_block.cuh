/* SPDX-License-Identifier: MIT */
/* For wgmma_wide_roles.cu: a block's warps and their roles, its barriers and shared memory, and its tiles. */
#ifndef TMATCH_LCC_CUDA_TENSOR_ROLES_BLOCK_CUH
#define TMATCH_LCC_CUDA_TENSOR_ROLES_BLOCK_CUH
#include "lcc/cuda/tensor/wide_stage.cuh"

enum {
    TM_ROLES_PRODUCT_WARPS = 4,                    // a warpgroup
    TM_ROLES_SCORE_WARPS = 8,                      // of 128 columns each
    TM_ROLES_SUM_WARPS = TM_ROLES_SCORE_WARPS + 1, // the others of the last warpgroup are idle
    TM_ROLES_EACH = 4,                             // columns of a thread of a warp that sums
    TM_ROLES_AT_ONCE = 2,                          // rows that are scored together
    TM_ROLES_WORDS = TM_ROLES_SUM_WARPS * 32,
    TM_ROLES_SLOT = TILE_WIDTH / TM_ROLES_EACH + 1, // words of a fourth of a row of S_FT, in different banks than the next fourth
    TM_ROLES_MOST_SLOTS = 2
};

/* Barriers in shared memory, by number. A phase of START is a column of tiles; of ROWS, which take turns, a group of rows that
 * comes later; of FULL and FREE, one for each slot, a row, which is there, or was read; of MEET a meeting of all warps that sum.
 * Whoever wrote or read what a barrier is for arrives at it, thread by thread: racecheck sees no further. */
enum {
    TM_ROLES_START = 0,
    TM_ROLES_ROWS = TM_ROLES_START + TM_WIDE_BATCHES,
    TM_ROLES_FULL = TM_ROLES_ROWS + 2,
    TM_ROLES_FREE = TM_ROLES_FULL + TM_ROLES_MOST_SLOTS,
    TM_ROLES_MEET = TM_ROLES_FREE + TM_ROLES_MOST_SLOTS,
    TM_ROLES_BARRIERS
};

struct tm_roles_memory {
    uint2 before[TM_ROLES_AT_ONCE][TM_ROLES_EACH][TM_ROLES_WORDS]; // S_F and S_FF of all of a warp's columns before each column
    int s_ft[1][TM_ROLES_EACH][TM_ROLES_SLOT];                     // of TM_ROLES_MOST_SLOTS rows, or of one
};

__host__ __device__ __forceinline__ unsigned tm_roles_memory_bytes(int slots)
{
    return (unsigned)(sizeof(tm_roles_memory) + (slots - 1) * sizeof(int[TM_ROLES_EACH][TM_ROLES_SLOT]) + 127) / 128 * 128;
}

/* Tiles one below another in a column of tiles, with what the block has done before. */
struct tm_roles_column {
    int x, y, tiles;
    int number, rows; // columns, and rows of windows
    int groups;       // of rows that came later than the first ones
};

/* Calls work for each of the block's columns of tiles. */
template <typename W>
__device__ __forceinline__ void tm_roles_for_each_column(const tm_tensor_plan &p, W work)
{
    const int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    tm_roles_column c = {};
#pragma unroll 1
    for (; t < end; t += c.tiles, c.number++, c.rows += 8 * c.tiles, c.groups += max(0, c.tiles - 2)) {
        c.x = t / p.tiles_y * TILE_WIDTH, c.y = t % p.tiles_y * TILE_HEIGHT;
        c.tiles = min(end - t, p.tiles_y - t % p.tiles_y);
        work(c);
    }
}

template <int STEPS, bool ODD>
struct tm_roles_block {
    enum { UNITS = 2 * STEPS - ODD };
    const tm_tensor_job &j;
    tm_roles_memory &shared;
    const tm_ring_of_groups<UNITS> ring;
    const unsigned barriers, frag;
    const int slots;

    __device__ __forceinline__ unsigned barrier(int i) const
    {
        return barriers + 8 * i;
    }

    /* The slot of the block's row, and its turn there. */
    __device__ __forceinline__ int slot_of(int row) const
    {
        return slots == 1 ? 0 : row % TM_ROLES_MOST_SLOTS;
    }

    __device__ __forceinline__ int turn_of(int row) const
    {
        return slots == 1 ? row : row / TM_ROLES_MOST_SLOTS;
    }

    /* Waits for the rows that a column's tile has and the tile before has not. */
    __device__ __forceinline__ void wait_for_rows(const tm_roles_column &c, int tile) const
    {
        const int group = c.groups + tile - 2;
        if (tile >= 2 && tile < c.tiles)
            tm_barrier_wait(barrier(TM_ROLES_ROWS + group % 2), group / 2);
    }
};

#endif
