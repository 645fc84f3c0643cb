/* SPDX-License-Identifier: MIT */
/* Products of several planes with templates wider than 25 columns by wgmma (sm_90a), as maps of their sums, in the tiles of
 * wgmma_tall.cu.
 *
 * A block takes one product after the other, each for some tiles. What the products before gave to the same map, it has written
 * itself and reads again, each thread its own sums. Where shared memory has room for the blocks of two templates, those of the
 * next one come meanwhile. A template for whose blocks it has no room is taken in parts of its rows, of its units of 16 columns, or of
 * both: each is a product of its own, as of a smaller template. */
#include "lcc/cuda/tensor/limits.h"
#define TM_TENSOR_TILE_WIDTH TM_TALL_TILE_WIDTH
#define TM_TENSOR_TILE_HEIGHT TM_TALL_TILE_HEIGHT
#define TM_TENSOR_WARPS 12
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/tall_map.cuh"
#include "lcc/cuda/tensor/tall_turns.cuh"

enum { MOST_CACHED = 32 << 20 }; // bytes of a map that the second-level cache keeps

/* A block's parts of the work, one after the other: a step's products of some tiles. All products are spread evenly, but a tile's of
 * steps that add to one map are one block's. Turns are counted in pairs, so that a tile is one warpgroup's in all of these. */
struct part_of_work {
    const tm_tensor_steps &j;
    const tm_tensor_plan &p;
    int before, before_next;    // products of the blocks before this one, and of this one too
    int step, chain, chain_end; // the step is of these, which add to one map
    int tile, tiles;            // the first tile, and how many
    int turn;                   // the first one
    int templates;              // the number of the step's part of a template among those that the block takes one after the other

    __device__ __forceinline__ part_of_work(const tm_tensor_steps &job, const tm_tensor_plan &plan)
        : j(job), p(plan), before(products_before(blockIdx.x)), before_next(products_before(blockIdx.x + 1)), step(-1), chain(0),
          chain_end(0), tile(0), tiles(0), turn(0), templates(-1)
    {
    }

    __device__ __forceinline__ int products_before(int block) const
    {
        return (int)((int64_t)j.count * p.tiles * block / gridDim.x);
    }

    /* The first tile of a block before which there are so many products. */
    __device__ __forceinline__ int first_tile(int products) const
    {
        const int steps = chain_end - chain;
        return max(0, min((products - chain * p.tiles + steps - 1) / steps, p.tiles));
    }

    __device__ __forceinline__ int turns() const
    {
        return (tiles + 1) & ~1;
    }

    /* Goes on to the next part, if there is one. */
    __device__ __forceinline__ bool next()
    {
        const int taken = step;
        turn += turns();
        do {
            if (++step == j.count)
                return false;
            if (step == chain_end)
                for (chain = step, chain_end++; chain_end < j.count && j.step[chain_end].map == j.step[step].map;)
                    chain_end++;
            tile = first_tile(before), tiles = first_tile(before_next) - tile;
        } while (tiles <= 0);
        templates += taken < 0 || !is_part(j.step[taken]);
        return true;
    }

    /* Whether the step takes the same part of a template. */
    __device__ __forceinline__ bool is_part(const tm_tensor_step &o) const
    {
        const tm_tensor_step &s = j.step[step];
        return s.wide == o.wide && s.row == o.row && s.unit == o.unit;
    }

    __device__ __forceinline__ tm_tall_part part() const
    {
        return {j.step[step].row, j.step[step].unit, j.height, tm_wide_units(j.width)};
    }
};

/* Every second tile of each step, a warpgroup's. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void multiply(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_steps &j, int group)
{
    const tm_tall_turns<STEPS, ODD> turns = {b};
    part_of_work work(j, b.p);
#pragma unroll 1
    while (work.next()) {
        const bool adds = work.step > work.chain;
        const int shift = j.step[work.step].shift;
        int n = group;
#pragma unroll 1
        for (; n < work.tiles; n += 2) {
            const tm_tall_map part(j.step[work.step].map, j.stride, j.map_height, b.x(work.tile + n), b.y(work.tile + n));
            int acc[TM_TALL_GROUPS][4];
            part.load(acc, adds, shift);
            turns.multiply(work.turn + n, turns.blocks(work.templates), true, acc);
            part.store(acc);
        }
        if (n < work.turns())
            turns.pass(work.turn + n);
    }
}

template <int STEPS, bool ODD>
__device__ __forceinline__ void stage(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_steps &j, int warp)
{
    const tm_tall_turns<STEPS, ODD> turns = {b};
    part_of_work work(j, b.p);
    bool here = false; // the step's blocks are, or come
#pragma unroll 1
    for (bool more = work.next(); more;) {
        part_of_work next = work;
        more = next.next();
        const bool others = more && next.templates != work.templates;
#pragma unroll 1
        for (int n = 0; n < work.turns(); n++) {
            const int turn = work.turn + n;
            turns.wait_for_made(turn - 2);
            if (n < work.tiles)
                tm_tall_stage_rows<TM_TALL_STAGE_WARPS>(b, work.tile + n, turn % 2, j.step[work.step].plane,
                                                        j.height - j.step[work.step].row, warp);
            if (n == 0 && !here) {
                turns.wait_for_made(turn - 1);
                tm_tall_stage_template<TM_TALL_STAGE_WARPS>(b, turns.blocks(work.templates), j.step[work.step].wide, work.part(), warp);
            }
            tm_tall_tell(b, turn);
            if (n == 1 && others && b.p.templates > 1) // all products of the template before are made
                tm_tall_stage_template<TM_TALL_STAGE_WARPS>(b, turns.blocks(next.templates), j.step[next.step].wide, next.part(), warp);
        }
        here = !others || b.p.templates > 1;
        work.next();
    }
}

template <int STEPS, bool ODD>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    tall_steps_kernel(const __grid_constant__ tm_tensor_steps j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ uint64_t barriers[TM_TALL_TURN_BARRIERS];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    const tm_tall_block<STEPS, ODD> b = {
        j, p, (unsigned)__cvta_generic_to_shared(smem), (unsigned)__cvta_generic_to_shared(barriers), 0, p.tiles};

    tm_tall_turns<STEPS, ODD>{b}.start();
    __syncthreads();
    tm_early_begin();
    if (warp < TM_TALL_PRODUCT_WARPS)
        multiply(b, j, warp / 4);
    else
        stage(b, j, warp - TM_TALL_PRODUCT_WARPS);
}

static bool divide(const tm_tensor_device *device, const tm_tensor_steps &j, tm_tall_division *parts)
{
    return tm_tall_divide_planes(parts, (int64_t)device->shared_memory, j.width, j.height, j.count, device->always_wide);
}

static tm_tensor_block block_of(const tm_tensor_device *device, const tm_tensor_steps &j, const tm_tall_division &parts, tm_tensor_plan *p)
{
    /* The sums of greater maps come from memory, and a greater first-level cache saves more than a second template does, as
     * measured on an H100. */
    const bool two = j.map_width * j.map_height <= MOST_CACHED / (int64_t)sizeof(uint32_t);
    return {tm_tall_turns_bytes(device, TM_TALL_PLANES_FIXED_BYTES, parts.units, parts.rows, two, p), TM_TALL_PLANES_FIXED_BYTES, 1};
}

/* Whether this takes less time than mma_steps.cu, as measured on an H100: where parts are not made one after the other by few blocks, as
 * those of a map are. */
static bool pays(const tm_tensor_device *device, const tm_tensor_steps &j, const tm_tensor_plan &p, const tm_tall_division &parts)
{
    int maps = 0;
    for (int s = 0; s < j.count; s++)
        maps += j.step[s].map != NULL;
    return parts.count == 1 || !maps || 4 * (int64_t)p.tiles * maps > device->multiprocessors;
}

bool tm_tall_steps_takes(const tm_tensor_device *device, const tm_tensor_steps &j)
{
    tm_tensor_plan p = {};
    tm_tall_division parts;
    return tm_tall_cover(&p, j) && (int64_t)TM_TENSOR_STEPS * p.tiles <= INT_MAX && divide(device, j, &parts) &&
           (device->always_wide || pays(device, j, p, parts));
}

double tm_tall_steps_us(const tm_tensor_device *device, const tm_tensor_steps &j)
{
    const double cycles = 64, clock = 1755; // of a wgmma; in MHz
    tm_tensor_plan p = {};
    tm_tall_division parts;
    if (!divide(device, j, &parts))
        return 0;
    tm_tensor_cover(&p, j);
    const int count = j.count * parts.count;
    const int64_t rounds = ((int64_t)count * p.tiles + device->multiprocessors - 1) / device->multiprocessors;
    return (double)rounds * (parts.rows + 3) * parts.units / 2 * cycles / clock;
}

cudaError_t tm_tall_parts_launch(const tm_tensor_device *device, tm_tensor_steps j, const tm_tall_division &parts, int count,
                                 cudaStream_t stream)
{
    tm_tensor_plan p = {};

    if (!tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    for (int s = j.count; s-- > 0;) {
        p.parts += j.step[s].map ? p.tiles : 0;
        if (!j.step[s].map)
            j.step[s].map = j.step[s + 1].map;
    }
    p.part_rows = parts.rows;
    const tm_tensor_block block = block_of(device, j, parts, &p);
    const tm_tensor_steps all = tm_tall_steps_of_parts(j, parts, count);
    return tm_wide_of_units(parts.units, [&](auto form) {
        return tm_tensor_start(device, tall_steps_kernel<decltype(form)::STEPS, decltype(form)::ODD>, all, p, block, true, stream);
    });
}

cudaError_t tm_tall_steps_launch(const tm_tensor_device *device, const tm_tensor_steps &j, cudaStream_t stream)
{
    tm_tall_division parts;

    for (int s = 0; s < j.count; s++)
        if (!j.step[s].wide)
            return cudaErrorNotSupported;
    return divide(device, j, &parts) ? tm_tall_parts_launch(device, j, parts, parts.count, stream) : cudaErrorNotSupported;
}
