/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu: a block's part of the map, its shared memory and barriers, and how frame rows come there.
 *
 * A row stands there in units of 16 bytes: the even ones, which begin at multiples of 16 columns, as they lie in the frame, and behind
 * them the odd ones, which begin 8 columns further. So both are columns of B, 16 columns of the frame apart, whose second half of k is
 * the next unit. What follows the last unit of each is not in its place: the last unit of either has no windows. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_BLOCK_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_BLOCK_CUH
#include "lcc/cuda/tensor/bound_core.cuh"
#include "lcc/cuda/tensor/bound_template.cuh"
#include "lcc/cuda/tensor/small_blocks.cuh"
#include "lcc/cuda/tensor/wgmma_product.cuh"

enum {
    TM_BOUND_UNITS = 64, // even ones, and as many odd ones
    TM_BOUND_ODD = 16 * TM_BOUND_UNITS,
    TM_BOUND_ROW = 2 * TM_BOUND_ODD + 16,
    TM_BOUND_GROUPS = 5,              // of 8 rows in the ring: those of a step, and what is staged meanwhile
    TM_BOUND_STEP_ROWS = 32,          // at most, from a step's first one on
    TM_BOUND_TAPS = 32,               // bytes of a template row as it is, with zeros behind it
    TM_BOUND_PRODUCT_WARPS = 4,
    TM_BOUND_SUM_WARPS = 5,
    TM_BOUND_OTHERS = TM_TENSOR_WARPS - TM_BOUND_PRODUCT_WARPS // the last one of them stages
};
static_assert(TILE_WIDTH == 8 * (2 * TM_BOUND_UNITS - 2), "the last two units have no windows");

/* Limits of a step: for each pair of rows, of 5 cells' columns a word for each two units, which are limits of 16 bits. */
enum {
    TM_BOUND_PLANE = 4 * (TM_BOUND_UNITS + 4), // of a cell's place in a unit; planes lie in different banks
    TM_BOUND_LIMITS_ROW = 5 * TM_BOUND_PLANE,
    TM_BOUND_LIMITS = 4 * TM_BOUND_LIMITS_ROW
};

/* Barriers in shared memory, by number. ROWS: the rows of the step after this one are there. FULL: a step's limits are. MADE: its
 * products are, and the limits of the step before have been read. Of each there are two, for steps by turns. STARTS: 8 rows of the
 * block's first step are there. READY: so is the template. SAMPLED: the block has scored a few windows. KNOWN: there is a score to reach. No
 * barriers of the hardware: of warps that do not pass as many of these racecheck loses track. */
enum {
    TM_BOUND_ROWS = 0,
    TM_BOUND_KNOWN = 2,
    TM_BOUND_FULL = 3,
    TM_BOUND_MADE = 5,
    TM_BOUND_READY = 7,
    TM_BOUND_SAMPLED,
    TM_BOUND_STARTS,
    TM_BOUND_BARRIERS = TM_BOUND_STARTS + 4
};

/* The bytes of a template's rows, which ascend, with a row of zeros before the first one and one behind the last. */
__host__ __device__ constexpr int tm_bound_taps_bytes(int height)
{
    return (height + 2) * TM_BOUND_TAPS;
}

/* The bytes of A, of the template itself, and of its mask: 255 where pixels count, else 0. */
__host__ __device__ constexpr int tm_bound_operand_bytes(int height, bool has_mask)
{
    return tm_small_blocks_bytes(height) + (has_mask ? 2 : 1) * tm_bound_taps_bytes(height);
}

/* What stands behind these, and where there is a mask. */
struct tm_bound_masked_template : tm_bound_template {
    tm_bound_core core;
};

/* Like tm_copy16, but the line stays in the first-level cache for copies of odd units. */
__device__ __forceinline__ void tm_bound_copy16(unsigned dst, const void *src)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

struct tm_bound_block : tm_bound_part<2, tm_tensor_job> {
    unsigned blocks, taps, rows, limits; // addresses; taps: of the template's first row
    const uint8_t *row_memory;           // rows
    const int operands;                  // their bytes
    tm_ring_of<TM_BOUND_ROW> ring;

    __device__ __forceinline__ tm_bound_block(const tm_tensor_job &j, const tm_tensor_plan &p, bool has_mask, uint8_t *shared, uint64_t *barriers,
                                              volatile int *given_up)
        : tm_bound_part<2, tm_tensor_job>(j, p, barriers, given_up), operands(tm_bound_operand_bytes(j.height, has_mask))
    {
        blocks = (unsigned)__cvta_generic_to_shared(shared), taps = blocks + tm_small_blocks_bytes(j.height) + TM_BOUND_TAPS;
        rows = blocks + operands, row_memory = shared + operands;
        limits = rows + TM_BOUND_GROUPS * 8 * TM_BOUND_ROW;
        ring = {rows, TM_BOUND_GROUPS * 8, 0};
    }

    __device__ __forceinline__ const tm_bound_template *rounded() const
    {
        return (const tm_bound_template *)((const uint8_t *)j.bound_fragments + operands);
    }

    /* Where there is a mask. */
    __device__ __forceinline__ const tm_bound_core *masked_core() const
    {
        return &((const tm_bound_masked_template *)rounded())->core;
    }

    /* Waits for the rows of a step that is not the block's first one. false: it is not made. Some warps look as late as when the next step
     * is given up, but no later. */
    __device__ __forceinline__ bool has_rows(int step) const
    {
        wait(TM_BOUND_ROWS, step - 1);
        return !given_up[turn(step)];
    }

    /* By the block's first threads; then all are synchronized. */
    __device__ __forceinline__ void start() const
    {
        const int i = threadIdx.x;
        if (i < 2)
            given_up[i] = 0;
        if (i < TM_BOUND_BARRIERS)
            tm_barrier_init(barrier(i), i >= TM_BOUND_STARTS ? 8 * 32
                                        : i >= TM_BOUND_MADE ? 32 * TM_BOUND_PRODUCT_WARPS
                                        : i >= TM_BOUND_FULL ? 32 * TM_BOUND_SUM_WARPS
                                                             : 32);
    }

    __device__ __forceinline__ void next()
    {
        ring.step();
        next_tile();
        if (is_fresh)
            ring.first = 0;
    }

    /* A warp begins to copy the units of the step's row r. */
    __device__ __forceinline__ void copy_row(int r) const
    {
        const int lane = threadIdx.x % 32;
        const uint8_t *const from = j.frame + (size_t)(y() + r) * j.pitch + x() + 16 * lane;
        const unsigned to = ring.row(r) + 16 * lane;
#pragma unroll
        for (int i = 0; i < 2; i++) {
            tm_bound_copy16(to + 512 * i, from + 512 * i);
            tm_ring_copy(to + TM_BOUND_ODD + 512 * i, from + 512 * i + 8);
        }
    }
};

enum { TM_BOUND_MOST_ROWS = (TM_BOUND_STEP_ROWS + TM_BOUND_OTHERS - 1) / TM_BOUND_OTHERS };

/* The rows of a block's first step are staged by all warps that do not multiply, of which part is one: they begin to copy them, */
__device__ __forceinline__ void tm_bound_begin_rows(const tm_bound_block &b, int part)
{
#pragma unroll
    for (int i = 0; i < TM_BOUND_MOST_ROWS; i++) {
        if (part + i * TM_BOUND_OTHERS < TM_BOUND_STEP_ROWS)
            b.copy_row(part + i * TM_BOUND_OTHERS);
        tm_bound_end_copies();
    }
}

/* and tell when they are there, the first half and the rest. */
__device__ __forceinline__ void tm_bound_finish_rows(const tm_bound_block &b, int part)
{
    enum { HALF = TM_BOUND_MOST_ROWS / 2 };
#pragma unroll
    for (int half = 0; half < 2; half++) {
        const int first = part + half * HALF * TM_BOUND_OTHERS,
                  rows = min((TM_BOUND_STEP_ROWS - first + TM_BOUND_OTHERS - 1) / TM_BOUND_OTHERS, (int)HALF);
        if (half)
            tm_copy_wait();
        else
            tm_bound_wait_for_copies<HALF>();
        tm_wgmma_publish();
        for (int i = 0; i < rows; i++)
            tm_barrier_arrive(b.barrier(TM_BOUND_STARTS + (first + i * TM_BOUND_OTHERS) / 8));
    }
}

/* Stages those of all others, until a block of the launch has listed too much. Between steps the warp has time for something else, which is
 * told the last one whose windows were compared, if there is one. */
template <typename F>
__device__ __forceinline__ void tm_bound_stage(tm_bound_block &b, F something_else)
{
    for (int step = 1; b.t + 1 < b.end; step++) {
        const int score = __shfl_sync(~0u, __ldcg(b.j.running_bests), 0); // others may write it between two lanes' loads
        const bool goes_on = b.goes_on();
        const int before = goes_on ? step - 2 : step - 1; // the last step whose rows are overwritten
        if (before >= 0) {
            b.wait(TM_BOUND_MADE, before);
            b.wait(TM_BOUND_FULL, before);
        }
        if (score == TM_BOUND_GIVEN_UP) {
            if (threadIdx.x % 32 == 0)
                b.given_up[b.turn(step)] = 1;
            b.arrive(TM_BOUND_ROWS, step - 1);
            return;
        }
        b.next();
        const int from = goes_on ? TM_BOUND_STEP_ROWS - 8 : 0;
        for (int r = from; r < TM_BOUND_STEP_ROWS; r++)
            b.copy_row(r);
        tm_copy_wait();
        tm_wgmma_publish();
        b.arrive(TM_BOUND_ROWS, step - 1);
        if (step >= 3)
            something_else(step - 3);
    }
}

#endif
