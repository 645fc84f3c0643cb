/* SPDX-License-Identifier: MIT */
/* The greatest sums of products with a template's direction (lcc/direction.h) by wgmma (sm_90a), in the tiles of wgmma_tall.cu: of several
 * planes with a template each, added up, one number for 8 neighbouring windows of a row.
 *
 * A block makes all products of two tiles before it goes on, so that sums stay in registers. A product's blocks come while those of the one
 * before are multiplied with, unless all are in shared memory for good. */
#include "lcc/cuda/tensor/limits.h"
#define TM_TENSOR_TILE_WIDTH TM_TALL_TILE_WIDTH
#define TM_TENSOR_TILE_HEIGHT TM_TALL_TILE_HEIGHT
#define TM_TENSOR_WARPS 12
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/tall_turns.cuh"

/* The tops of a tile's rows, in a map of them. */
enum { TOPS = TM_TALL_TILE_WIDTH / 8 };

/* Products, numbered for each pair of tiles anew: two turns each, one of each warpgroup. */
template <int STEPS, bool ODD>
struct order_of_products {
    const tm_tall_block<STEPS, ODD> &b;
    const int steps;

    __device__ __forceinline__ int end() const
    {
        return (b.count + 1) / 2 * steps;
    }

    __device__ __forceinline__ int tile(int product, int group) const
    {
        return product / steps * 2 + group;
    }

    /* Whether the blocks that it takes must be brought. */
    __device__ __forceinline__ bool brings(int product) const
    {
        return product < (steps > b.p.templates ? end() : steps);
    }
};

/* Goes on with one half of so many groups each, the one lane with the first and the other with the second. */
template <int GROUPS, int LANES>
__device__ __forceinline__ void share_groups(int (&acc)[TM_TALL_GROUPS][4])
{
    const bool second = threadIdx.x & LANES;
#pragma unroll
    for (int g = 0; g < GROUPS / 2; g++)
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int own = second ? acc[g + GROUPS / 2][i] : acc[g][i], other = second ? acc[g][i] : acc[g + GROUPS / 2][i];
            acc[g][i] = max(own, __shfl_xor_sync(~0u, other, LANES));
        }
}

/* The greatest of each 8 neighbouring windows, which are those of 8 lanes, each of which has two groups in the end: 2 k and 2 k + 1, where k is the
 * lane's number among the 8. */
__device__ __forceinline__ void top_across(int (&acc)[TM_TALL_GROUPS][4], int4 (&tops)[2])
{
    share_groups<TM_TALL_GROUPS, 16>(acc);
    share_groups<TM_TALL_GROUPS / 2, 8>(acc);
    share_groups<TM_TALL_GROUPS / 4, 4>(acc);
#pragma unroll
    for (int g = 0; g < 2; g++)
        tops[g] = make_int4(tm_tall_product(acc[g], 0), tm_tall_product(acc[g], 1), tm_tall_product(acc[g], 2), tm_tall_product(acc[g], 3));
}

/* Writes a tile's tops, of which its map has room for all. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void put_tops(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_steps &j, int tile, int (&acc)[TM_TALL_GROUPS][4])
{
    const tm_tall_lane lane;
    const int left = (int)min((int64_t)TILE_WIDTH, j.map_width - b.x(tile)) - lane.column, k = threadIdx.x % 32 / 4;
    int4 tops[2];
    if (__any_sync(~0u, left <= 24)) // windows beyond the map are none
#pragma unroll
        for (int i = 0; i < 4 * TM_TALL_GROUPS; i++)
            if (8 * (i % 4) >= left)
                tm_tall_product(acc[i / 4], i % 4) = INT_MIN;
    top_across(acc, tops);
    int32_t *const to = (int32_t *)j.step[j.count - 1].map + (b.y(tile) + 2 * TM_TALL_GROUP_ROWS * k + lane.row) * j.stride +
                        b.x(tile) / 8 + 4 * (threadIdx.x % 4);
#pragma unroll
    for (int g = 0; g < 2; g++)
        __stcg((int4 *)(to + g * TM_TALL_GROUP_ROWS * j.stride), tops[g]);
}

/* Every second tile, a warpgroup's. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void multiply(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_steps &j, int group)
{
    const tm_tall_turns<STEPS, ODD> turns = {b};
    const order_of_products<STEPS, ODD> order = {b, j.count};
    int product = 0;
#pragma unroll 1
    for (int n = group; n < b.count; n += 2) {
        int acc[TM_TALL_GROUPS][4];
        tm_wgmma_clear(acc);
#pragma unroll 1
        for (int step = 0; step < j.count; step++, product++)
            turns.template multiply<true>(2 * product + group, turns.blocks(product), true, acc);
        put_tops(b, j, n, acc);
    }
#pragma unroll 1
    for (; product < order.end(); product++)
        turns.pass(2 * product + group);
}

template <int STEPS, bool ODD>
__device__ __forceinline__ void stage_template(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_steps &j, int product, int warp)
{
    const tm_tensor_step &step = j.step[product % j.count];
    const tm_tall_part part = {step.row, step.unit, j.height, tm_wide_units(j.width)};
    tm_tall_stage_template<TM_TALL_STAGE_WARPS>(b, tm_tall_turns<STEPS, ODD>{b}.blocks(product), step.wide, part, warp);
}

template <int STEPS, bool ODD>
__device__ __forceinline__ void stage(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_steps &j, int warp)
{
    const tm_tall_turns<STEPS, ODD> turns = {b};
    const order_of_products<STEPS, ODD> order = {b, j.count};
#pragma unroll 1
    for (int turn = 0; turn < 2 * order.end(); turn++) {
        const int product = turn / 2, n = order.tile(product, turn % 2);
        const tm_tensor_step &step = j.step[product % j.count];
        turns.wait_for_made(turn - 2);
        if (n < b.count)
            tm_tall_stage_rows<TM_TALL_STAGE_WARPS>(b, n, turn % 2, step.plane, j.height - step.row, warp);
        tm_tall_tell(b, turn);
        if (turn % 2 && order.brings(product + 1)) // all products with the blocks that stand there are made
            stage_template(b, j, product + 1, warp);
    }
}

template <int STEPS, bool ODD>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    tall_bound_kernel(const __grid_constant__ tm_tensor_steps j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ uint64_t barriers[TM_TALL_TURN_BARRIERS];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), part = warp - TM_TALL_PRODUCT_WARPS;
    const int first = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x), end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    const tm_tall_block<STEPS, ODD> b = {
        j, p, (unsigned)__cvta_generic_to_shared(smem), (unsigned)__cvta_generic_to_shared(barriers), first, end - first};

    tm_tall_turns<STEPS, ODD>{b}.start();
    __syncthreads();
    if (part >= 0) // the kernel before makes planes; the blocks were there before it began
        stage_template(b, j, 0, part);
    tm_early_begin();
    if (part < 0)
        multiply(b, j, warp / 4);
    else
        stage(b, j, part);
}

/* A launch's parts and their shared memory; false where it does not take that template. */
static bool divide(const tm_tensor_device *device, const tm_tensor_steps &j, tm_tall_division *parts, tm_tensor_block *block, tm_tensor_plan *p)
{
    if (!tm_tall_divide_bound(parts, (int64_t)device->shared_memory, j.width, j.height, j.count))
        return false;
    p->part_rows = parts->rows;
    const size_t bytes = tm_tall_turns_bytes(device, TM_TALL_PLANES_FIXED_BYTES, parts->units, parts->rows, j.count * parts->count > 1, p);
    *block = {bytes, TM_TALL_PLANES_FIXED_BYTES, 1};
    return true;
}

bool tm_tall_bound_takes(const tm_tensor_device *device, const tm_tensor_steps &j)
{
    tm_tensor_plan p = {};
    tm_tall_division parts;
    tm_tensor_block block;
    return tm_tall_cover(&p, j) && divide(device, j, &parts, &block, &p);
}

void tm_tall_bound_tops(const tm_device_windows &j, int64_t *stride, int64_t *rows)
{
    *stride = (j.map_width + TILE_WIDTH - 1) / TILE_WIDTH * TOPS;
    *rows = (j.map_height + TILE_HEIGHT - 1) / TILE_HEIGHT * TILE_HEIGHT;
}

cudaError_t tm_tall_bound_launch(const tm_tensor_device *device, const tm_tensor_steps &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    tm_tall_division parts;
    tm_tensor_block block;
    if (!tm_tall_cover(&p, j) || !divide(device, j, &parts, &block, &p))
        return cudaErrorNotSupported;
    const tm_tensor_steps all = tm_tall_steps_of_parts(j, parts, parts.count);
    return tm_wide_of_units(parts.units, [&](auto form) {
        return tm_tensor_start(device, tall_bound_kernel<decltype(form)::STEPS, decltype(form)::ODD>, all, p, block, true, stream);
    });
}
