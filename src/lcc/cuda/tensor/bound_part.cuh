/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu and wgmma_bound_pixels.cu: a block's part of the map, and the barriers between its warps. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_PART_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_PART_CUH
#include "lcc/cuda/tensor/barriers.cuh"
#include "lcc/cuda/tensor/ring.cuh"

/* Templates whose windows are bounded. */
enum { TM_BOUND_LEAST_WIDTH = 15, TM_BOUND_MOST_WIDTH = 25, TM_BOUND_LEAST_HEIGHT = 9, TM_BOUND_MOST_HEIGHT = 24 };

static inline bool tm_bound_has_size(int width, int height)
{
    return width >= TM_BOUND_LEAST_WIDTH && width <= TM_BOUND_MOST_WIDTH && height >= TM_BOUND_LEAST_HEIGHT && height <= TM_BOUND_MOST_HEIGHT;
}

enum { TM_BOUND_MOST_TILES = 1 << 20 }; // whose numbers stand before 12 bits of a pair's place
enum { TM_BOUND_START = 1 }; // so many steps' time takes the start of a column of tiles

/* What the launch's running best is where a block has listed more than it scores. */
enum { TM_BOUND_GIVEN_UP = INT_MAX };

/* A block goes down columns of tiles, each of which is a step, counted from 0 in the block. TURNS: of the barriers between steps. */
template <int TURNS, typename JOB>
struct tm_bound_part {
    const JOB &j;
    const tm_tensor_plan &p;
    const unsigned barriers;      // an address
    int first, t, end, tx, ty;    // tiles: the block's first one, this one and behind the last; its place
    bool is_fresh;                // no rows of the step before are of use
    volatile int *const given_up; // in shared memory, for steps by turns: 1: that step is not made, as the launch has been given up

    __device__ __forceinline__ tm_bound_part(const JOB &j, const tm_tensor_plan &p, uint64_t *barriers, volatile int *given_up)
        : j(j), p(p), barriers((unsigned)__cvta_generic_to_shared(barriers)), is_fresh(true), given_up(given_up)
    {
        first = t = begin_of(blockIdx.x), end = begin_of(blockIdx.x + 1);
        tx = t / p.tiles_y, ty = t % p.tiles_y;
    }

    /* A block's first tile. All have as many as the others or one more, where the start of a further column of tiles counts, too. */
    __device__ __forceinline__ int begin_of(unsigned block) const
    {
        const int column = p.tiles_y + TM_BOUND_START, all = p.tiles / p.tiles_y * column - TM_BOUND_START, blocks = gridDim.x;
        const int place = (int)block * (all / blocks) + min((int)block, all % blocks) + TM_BOUND_START;
        return place / column * p.tiles_y + max(0, place % column - TM_BOUND_START);
    }

    __device__ __forceinline__ unsigned barrier(int number) const
    {
        return barriers + 8 * number;
    }

    static __device__ __forceinline__ int turn(int step)
    {
        return (unsigned)step % TURNS;
    }

    /* Waits for the barrier of a step, of which there are TURNS from that number on. */
    __device__ __forceinline__ void wait(int barriers, int step) const
    {
        tm_barrier_wait(barrier(barriers + turn(step)), (unsigned)step / TURNS);
    }

    __device__ __forceinline__ void arrive(int barriers, int step) const
    {
        tm_barrier_arrive(barrier(barriers + turn(step)));
    }

    /* Goes to the next tile. */
    __device__ __forceinline__ void next_tile()
    {
        is_fresh = ++ty == p.tiles_y;
        t++;
        if (is_fresh)
            ty = 0, tx++;
    }

    /* Whether the next step takes rows of this one. */
    __device__ __forceinline__ bool goes_on() const
    {
        return ty + 1 < p.tiles_y;
    }

    /* Whether a block that begins with this tile scores some of its windows: not where many are beyond the map, as these may have the greatest
     * sums, unless all tiles are like that. */
    __device__ __forceinline__ bool is_sampled() const
    {
        return (x() + TILE_WIDTH / 2 <= j.map_width || p.tiles == p.tiles_y) && (y() + TILE_HEIGHT <= j.map_height || p.tiles_y == 1);
    }

    /* The windows' first column and row in the map. */
    __device__ __forceinline__ int64_t x() const
    {
        return (int64_t)tx * TILE_WIDTH;
    }

    __device__ __forceinline__ int64_t y() const
    {
        return (int64_t)ty * TILE_HEIGHT;
    }
};

/* The copies that this thread has begun since the last time are a group. */
__device__ __forceinline__ void tm_bound_end_copies()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* All groups have come but the last ones. */
template <int LAST>
__device__ __forceinline__ void tm_bound_wait_for_copies()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LAST) : "memory");
}

/* By one warp, as all of a block would wait for each other at one slice of the second-level cache: tells other blocks the score of this one's
 * samples, and takes theirs if it is better. good: the order of a good score. So often it looks for another's score at first: while it knows
 * none above 0, as where it has not sampled, and while it knows no good one. */
__device__ __forceinline__ void tm_bound_exchange(int *running_best, int good, int *sampled)
{
    enum { FEW_TRIES = 5, MOST_TRIES = 20 };
    if (threadIdx.x % 32 == 0) {
        int order = *sampled;
        order = max(order, atomicMax(running_best, order));
#pragma unroll
        for (int i = 0; i < MOST_TRIES && order < (i < FEW_TRIES ? good : 1); i++)
            order = *(volatile const int *)running_best;
        *sampled = order;
    }
    __syncwarp();
}

/* By the warps that make limits, in a block's first step: the order of the best score that the block has sampled or was told of. by: the barriers
 * that say that samples are scored, and that it is known. */
template <typename B>
__device__ __forceinline__ int tm_bound_first_order(const B &b, int warp, int by_samples, int by_known, int good, int *sampled)
{
    if (!warp) {
        tm_barrier_wait(b.barrier(by_samples), 0);
        tm_bound_exchange(b.j.running_bests, good, sampled);
        tm_barrier_arrive(b.barrier(by_known));
    }
    tm_barrier_wait(b.barrier(by_known), 0);
    return *sampled;
}

#endif
