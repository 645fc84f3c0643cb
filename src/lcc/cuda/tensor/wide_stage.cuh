/* SPDX-License-Identifier: MIT */
/* For wgmma_wide_planes.cu: bulk copies that arrive at barriers in shared memory, of frame rows and of blocks of B. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WIDE_STAGE_CUH
#define TMATCH_LCC_CUDA_TENSOR_WIDE_STAGE_CUH
#include "lcc/cuda/tensor/barriers.cuh"
#include "lcc/cuda/tensor/wide_products.cuh"

/* Arrives, and announces copies of so many bytes together, before which the phase does not end. */
__device__ __forceinline__ void tm_barrier_expect(unsigned barrier, unsigned bytes)
{
    asm volatile("{.reg .b64 state; mbarrier.arrive.expect_tx.shared.b64 state, [%0], %1;}" ::"r"(barrier), "r"(bytes) : "memory");
}

__device__ __forceinline__ void tm_barrier_copy(unsigned barrier, unsigned to, const void *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to), "l"(from),
                 "r"(bytes), "r"(barrier)
                 : "memory");
}

/* The groups of 8 frame rows that a tile's products take. */
__host__ __device__ __forceinline__ int tm_wide_groups(int h)
{
    return (h + 7 + 7) / 8;
}

/* The ring's: while a tile's products are made, the tile before is still of use, and the next tile's rows come. */
__host__ __device__ __forceinline__ int tm_wide_ring_groups(int h)
{
    return tm_wide_groups(h) + 2;
}

/* Bytes that are copied of a frame row. */
__device__ __forceinline__ unsigned tm_wide_row_bytes(int w)
{
    return (TILE_WIDTH - 1 + w + 15) / 16 * 16;
}

/* A ring of groups of 8 frame rows, of rows that take so many units. */
template <int UNITS>
struct tm_ring_of_groups {
    enum { ROW = tm_wide_row(UNITS), GROUP = 8 * ROW };
    unsigned at;
    int count;

    /* Lane 0 to 7 of a warp: begins to copy one of 8 rows of the frame. */
    __device__ __forceinline__ void stage(unsigned barrier, int slot, const uint8_t *from, size_t pitch, unsigned bytes) const
    {
        const int line = threadIdx.x % 8;
        tm_barrier_copy(barrier, at + slot * GROUP + line * ROW, from + line * pitch, bytes);
    }

    /* A warp begins to copy a group, for which the barrier has this one arrival. */
    __device__ __forceinline__ void stage_group(unsigned barrier, int slot, const uint8_t *from, size_t pitch, unsigned bytes) const
    {
        if (threadIdx.x % 32 == 0)
            tm_barrier_expect(barrier, 8 * bytes);
        __syncwarp();
        if (threadIdx.x % 32 < 8)
            stage(barrier, slot, from, pitch, bytes);
    }

    __device__ __forceinline__ int after(int slot, int groups) const
    {
        return slot + groups < count ? slot + groups : slot + groups - count;
    }

    /* The address of a row that is counted from a group's first one. */
    __device__ __forceinline__ unsigned row(int slot, int r) const
    {
        const int line = 8 * slot + r;
        return at + (line < 8 * count ? line : line - 8 * count) * ROW;
    }
};

/* Blocks of B, of which there may be none. */
struct tm_block_range {
    int from, count;
};

/* Those of step k of k that the frame rows [first, end) take, if all before have those that they take. The blocks of zeros
 * behind each step come with the first rows. */
__device__ __forceinline__ tm_block_range tm_blocks_of_rows(int k, int h, int first, int end)
{
    const int from = max(k ? 7 : 0, h + 7 - end), to = h + 7 - first + (first ? 0 : 7);
    return {k * (h + 7) + from, max(0, to - from)};
}

enum { TM_WIDE_BATCHES = 4 }; // of what the first products take

/* The group behind a batch's last one. */
__device__ __forceinline__ int tm_wide_batch_end(int batch, int groups)
{
    return min(groups, (batch + 1) * ((groups + TM_WIDE_BATCHES - 1) / TM_WIDE_BATCHES));
}

/* A warp begins to copy a batch of rows to the ring's first slots, with the blocks of B that they take, unless blocks is NULL.
 * With the last batch come the first more groups of the tiles behind the first. The barrier has this one arrival. */
template <int STEPS, int UNITS>
__device__ __forceinline__ void tm_wide_stage_batch(const tm_ring_of_groups<UNITS> &ring, unsigned barrier, int batch, int more, int h,
                                                    const uint8_t *frame, size_t pitch, unsigned row_bytes, const void *blocks,
                                                    unsigned frag)
{
    const int lane = threadIdx.x % 32, groups = tm_wide_groups(h);
    const int from = batch ? tm_wide_batch_end(batch - 1, groups) : 0,
              to = tm_wide_batch_end(batch, groups) + (batch == TM_WIDE_BATCHES - 1 ? more : 0);
    unsigned bytes = (to - from) * 8 * row_bytes;
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        bytes += blocks ? tm_blocks_of_rows(k, h, 8 * from, 8 * to).count * TM_WIDE_BLOCK : 0;
    if (lane == 0)
        tm_barrier_expect(barrier, bytes);
    __syncwarp();
#pragma unroll 1
    for (int g = from + lane / 8; g < to; g += 4)
        ring.stage(barrier, g, frame + (size_t)g * 8 * pitch, pitch, row_bytes);
    if (blocks && lane < STEPS) {
        const tm_block_range of = tm_blocks_of_rows(lane, h, 8 * from, 8 * to);
        if (of.count)
            tm_barrier_copy(barrier, frag + of.from * TM_WIDE_BLOCK, (const uint8_t *)blocks + of.from * TM_WIDE_BLOCK,
                            of.count * TM_WIDE_BLOCK);
    }
}

#endif
