/* SPDX-License-Identifier: MIT */
/* For wgmma_tall_planes.cu and wgmma_tall_masked.cu: two warpgroups make a block's products in turns, which are numbered: even ones
 * are the first warpgroup's, whose frame rows stand in the first of two buffers. The other warps fill the buffers. No turn is
 * left out, though it may have no products: a barrier's phases are told apart by their parity alone. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_TURNS_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_TURNS_CUH
#include "lcc/cuda/tensor/tall_products.cuh"

enum { TM_TALL_STAGE_WARPS = 4 };

/* Barriers by number, two for the two buffers: what a turn's products take is there; they have been issued; and made. */
enum {
    TM_TALL_THERE = 0,
    TM_TALL_TURN_ISSUED = TM_TALL_THERE + 2,
    TM_TALL_MADE = TM_TALL_TURN_ISSUED + 2,
    TM_TALL_TURN_BARRIERS = TM_TALL_MADE + 2
};

/* A block's shared memory: operands, and behind these a second template's blocks, where there is room. */
static inline size_t tm_tall_turns_bytes(const tm_tensor_device *device, size_t fixed, int width, int height, tm_tensor_plan *p)
{
    const size_t bytes = tm_tall_operand_bytes(width, height),
                 second = tm_tall_blocks(height, tm_wide_steps(width)) * TM_WIDE_BLOCK;
    p->templates = bytes + second + fixed <= device->shared_memory ? 2 : 1;
    return bytes + (p->templates > 1 ? second : 0);
}

template <int STEPS, bool ODD>
struct tm_tall_turns {
    const tm_tall_block<STEPS, ODD> &b;

    /* Where the blocks of templates stand that are taken one after the other. */
    __device__ __forceinline__ unsigned blocks(int number) const
    {
        return number % b.p.templates ? b.blocks + tm_tall_operand_bytes(b.j.width, b.j.height) : b.blocks;
    }

    /* By all threads, which must be synchronized then. */
    __device__ __forceinline__ void start() const
    {
        if (threadIdx.x < TM_TALL_TURN_BARRIERS)
            tm_barrier_init(b.barrier(threadIdx.x), threadIdx.x < TM_TALL_TURN_ISSUED ? 32 * TM_TALL_STAGE_WARPS : 128);
    }

    /* A turn's products with the template whose blocks those are. adds: to what acc has. */
    __device__ __forceinline__ void multiply(int turn, unsigned blocks, bool adds, int (&acc)[TM_TALL_GROUPS][4]) const
    {
        wait_for_turn(turn);
        tm_tall_products(b, blocks, turn % 2, adds, acc);
        tm_barrier_arrive(b.barrier(TM_TALL_TURN_ISSUED + turn % 2));
        tm_wgmma_wait();
        tm_wgmma_keep(acc);
        tm_barrier_arrive(b.barrier(TM_TALL_MADE + turn % 2));
    }

    /* A turn without products. */
    __device__ __forceinline__ void pass(int turn) const
    {
        wait_for_turn(turn);
        tm_barrier_arrive(b.barrier(TM_TALL_TURN_ISSUED + turn % 2));
        tm_barrier_arrive(b.barrier(TM_TALL_MADE + turn % 2));
    }

    __device__ __forceinline__ void wait_for_turn(int turn) const
    {
        tm_barrier_wait(b.barrier(TM_TALL_THERE + turn % 2), turn / 2);
        if (turn)
            tm_barrier_wait(b.barrier(TM_TALL_TURN_ISSUED + 1 - turn % 2), (turn - 1) / 2);
    }

    /* Those who fill the buffers wait for each turn, if there is one, before they fill its buffer again. */
    __device__ __forceinline__ void wait_for_made(int turn) const
    {
        if (turn >= 0)
            tm_barrier_wait(b.barrier(TM_TALL_MADE + turn % 2), turn / 2);
    }

    /* They tell that all that they have begun to copy has come. */
    __device__ __forceinline__ void tell(int turn) const
    {
        tm_copy_wait();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        tm_barrier_arrive(b.barrier(TM_TALL_THERE + turn % 2));
    }
};

#endif
