/* SPDX-License-Identifier: MIT */
/* For wgmma_tall_planes.cu, wgmma_tall_masked.cu and wgmma_tall_bound.cu: turns of several templates, for whose products other
 * warps do nothing but fill the buffers. No turn is left out, though it may have no products: a barrier's phases are told apart by their parity alone. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_TURNS_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_TURNS_CUH
#include "lcc/cuda/tensor/tall_products.cuh"

enum { TM_TALL_STAGE_WARPS = 4 };

/* A barrier for a turn of each warpgroup, besides those of tall_block.cuh: its products are made. */
enum { TM_TALL_MADE = TM_TALL_OTHERS, TM_TALL_TURN_BARRIERS = TM_TALL_MADE + 2 };

/* A block's shared memory: operands, and behind these a second template's blocks, where there is room and two are wanted. */
static inline size_t tm_tall_turns_bytes(const tm_tensor_device *device, size_t fixed, int units, int height, bool two,
                                         tm_tensor_plan *p)
{
    const size_t bytes = tm_tall_operand_bytes(units, height),
                 second = tm_tall_second_bytes(units, height);
    p->templates = two && bytes + second + fixed <= device->shared_memory ? 2 : 1;
    return bytes + (p->templates > 1 ? second : 0);
}

/* The steps' products of so many of the parts; the sums before a step are shifted before its first one. */
static inline tm_tensor_steps tm_tall_steps_of_parts(const tm_tensor_steps &j, const tm_tall_division &parts, int count)
{
    tm_tensor_steps all = j;
    all.count = 0;
    for (int s = 0; s < j.count; s++)
        for (int i = 0; i < count; i++) {
            tm_tensor_step &step = all.step[all.count++];
            step = j.step[s];
            step.row = tm_tall_part_row(&parts, i), step.unit = tm_tall_part_unit(&parts, i);
            step.plane += step.row * (int64_t)j.pitch + 16 * step.unit;
            step.shift = i ? 0 : step.shift;
        }
    return all;
}

template <int STEPS, bool ODD>
struct tm_tall_turns {
    const tm_tall_block<STEPS, ODD> &b;

    /* Where the blocks of templates stand that are taken one after the other. */
    __device__ __forceinline__ unsigned blocks(int number) const
    {
        return number % b.p.templates ? b.blocks + tm_tall_operand_bytes(b.UNITS, b.rows()) : b.blocks;
    }

    /* By all threads, which must be synchronized then. */
    __device__ __forceinline__ void start() const
    {
        if (threadIdx.x < TM_TALL_TURN_BARRIERS)
            tm_barrier_init(b.barrier(threadIdx.x), threadIdx.x < TM_TALL_ISSUED ? 32 * TM_TALL_STAGE_WARPS : 128);
    }

    /* A turn's products with the template whose blocks those are. adds: to what acc has. */
    template <bool SIGNED = false>
    __device__ __forceinline__ void multiply(int turn, unsigned blocks, bool adds, int (&acc)[TM_TALL_GROUPS][4]) const
    {
        tm_tall_multiply<SIGNED>(b, turn % 2, turn, blocks, adds, acc);
        tm_barrier_arrive(b.barrier(TM_TALL_MADE + turn % 2));
    }

    /* A turn without products. */
    __device__ __forceinline__ void pass(int turn) const
    {
        tm_tall_wait_for_turn(b, turn % 2, turn);
        tm_barrier_arrive(b.barrier(TM_TALL_ISSUED + turn % 2));
        tm_barrier_arrive(b.barrier(TM_TALL_MADE + turn % 2));
    }

    /* Those who fill the buffers wait for each turn, if there is one, before they fill its buffer again. */
    __device__ __forceinline__ void wait_for_made(int turn) const
    {
        if (turn >= 0)
            tm_barrier_wait(b.barrier(TM_TALL_MADE + turn % 2), turn / 2);
    }
};

#endif
