/* SPDX-License-Identifier: MIT */
/* Products of several planes with templates wider than 25 columns by wgmma (sm_90a), as maps of their sums.
 *
 * A block takes one product after the other, whose template's blocks of B stand in shared memory, and goes down its part
 * of the map for each: 1024 columns, 8 rows at a time, over a ring of frame rows in groups of 8. What the products before
 * gave to the same map, it has written itself and reads again. Two warpgroups take turns: while the products of one are
 * made, the other one stores its sums. The first products begin when the first rows are there, and their blocks of B. */
#define TM_TENSOR_TILE_WIDTH 1024
#define TM_TENSOR_TILE_HEIGHT 8
#define TM_TENSOR_WARP_WIDTH 256
#define TM_TENSOR_WARPGROUPS 2
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/wide_stage.cuh"

enum { MOST_BLOCKS = 2 }; // on a multiprocessor

/* Barriers in shared memory, of 8 bytes each: one for all threads, wherever in the kernel they wait (for __syncthreads all
 * would have to be at the same place), and the others for copies. All threads wait for each phase of each, and a phase begins
 * when all have waited for the one before. */
struct barriers {
    enum { ALL = TM_WIDE_BATCHES, COUNT };
    unsigned at, turns; // a bit each

    __device__ __forceinline__ explicit barriers(uint64_t (&shared)[COUNT])
        : at((unsigned)__cvta_generic_to_shared(shared)), turns(0)
    {
        if (threadIdx.x < COUNT)
            tm_barrier_init(barrier(threadIdx.x), threadIdx.x == ALL ? TM_TENSOR_THREADS : 1);
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // for copies
        __syncthreads();
    }

    __device__ __forceinline__ unsigned barrier(int i) const
    {
        return at + 8 * i;
    }

    __device__ __forceinline__ void wait(int i)
    {
        tm_barrier_wait(barrier(i), turns >> i);
        turns ^= 1u << i;
    }

    __device__ __forceinline__ void wait_for_all()
    {
        tm_barrier_arrive(barrier(ALL));
        wait(ALL);
    }
};

/* A warp's part of the map, 256 columns of which there may be fewer. */
struct map_part {
    uint32_t *at;
    int64_t stride;
    int columns;

    /* What the map has of the tile's rows is what the sums begin with, shifted; where it has nothing, 0. */
    __device__ __forceinline__ void load(int (&sums)[16][4], int64_t y, int rows, bool adds, int shift) const
    {
        const uint32_t *from = at + y * stride;
#pragma unroll
        for (int i = 0; i < 8; i++, from += stride)
#pragma unroll
            for (int e = 0; e < 8; e += 2) {
                const int x = tm_wide_column(e);
                uint2 v = make_uint2(0, 0);
                if (adds && i < rows && x < columns)
                    v = __ldcg((const uint2 *)(from + x));
                tm_wide_at(sums, i, e) = (int)(v.x << shift);
                tm_wide_at(sums, i, e + 1) = (int)(v.y << shift);
            }
    }

    __device__ __forceinline__ void store(int (&sums)[16][4], int64_t y, int rows) const
    {
        uint32_t *to = at + y * stride;
#pragma unroll
        for (int i = 0; i < 8; i++, to += stride)
#pragma unroll
            for (int e = 0; e < 8; e += 2) {
                const int x = tm_wide_column(e);
                if (i < rows && x < columns)
                    *(uint2 *)(to + x) =
                        make_uint2((unsigned)tm_wide_at(sums, i, e), (unsigned)tm_wide_at(sums, i, e + 1));
            }
    }
};

/* A block's parts of the work, one after the other: a step's products of neighbouring tiles in a column of tiles. All products
 * are spread evenly, but a tile's of steps that add to one map are one block's. */
struct part_of_work {
    const tm_tensor_steps &j;
    const tm_tensor_plan &p;
    int before, before_next;    // products of the blocks before this one, and of this one too
    int step, chain, chain_end; // the step is of these, which add to one map
    int tile, tiles, end;       // the first tile, how many, and the one behind all of the step

    __device__ __forceinline__ part_of_work(const tm_tensor_steps &job, const tm_tensor_plan &plan)
        : j(job), p(plan), before(products_before(blockIdx.x)), before_next(products_before(blockIdx.x + 1)), step(-1), chain(0),
          chain_end(0), tile(0), tiles(0), end(0)
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

    /* Goes on to the next part, if there is one. */
    __device__ __forceinline__ bool next()
    {
        tile += tiles;
        while (tile >= end) {
            if (++step == j.count)
                return false;
            if (step == chain_end)
                for (chain = step, chain_end++; chain_end < j.count && j.step[chain_end].map == j.step[step].map;)
                    chain_end++;
            tile = first_tile(before), end = first_tile(before_next);
        }
        tiles = min(end - tile, p.tiles_y - tile % p.tiles_y);
        return true;
    }

    __device__ __forceinline__ int64_t x() const
    {
        return (int64_t)(tile / p.tiles_y) * TILE_WIDTH;
    }

    __device__ __forceinline__ int64_t y() const
    {
        return (int64_t)(tile % p.tiles_y) * TILE_HEIGHT;
    }

    __device__ __forceinline__ const uint8_t *frame() const
    {
        return j.frame + j.step[step].plane + (size_t)y() * j.pitch + x();
    }
};

template <int STEPS, bool ODD>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, MOST_BLOCKS)
    wide_steps_kernel(const __grid_constant__ tm_tensor_steps j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ uint64_t shared_barriers[barriers::COUNT];
    typedef tm_ring_of_groups<2 * STEPS> ring_type;
    static_assert(TM_WIDE_BATCHES == 4, "one for each warp of a warpgroup");
    const int h = j.height, warp = __shfl_sync(~0u, threadIdx.x / 32, 0), warpgroup = warp / 4;
    const int groups = tm_wide_groups(h);
    const unsigned row_bytes = tm_wide_row_bytes(j.width);
    const ring_type ring = {(unsigned)__cvta_generic_to_shared(smem), tm_wide_ring_groups(h)};
    const unsigned frag = ring.at + ring.count * ring_type::GROUP;

    part_of_work work(j, p);
    barriers there(shared_barriers);
    tm_early_begin();
    /* The second warpgroup begins to copy the first rows of work's part, and its blocks of B where those that are there are
     * others; each of its warps a batch, since to begin a copy takes a warp some 60 cycles. */
    auto stage = [&](const void *blocks) {
        const void *const wide = j.step[work.step].wide;
        if (warpgroup)
            tm_wide_stage_batch<STEPS>(ring, there.barrier(warp % 4), warp % 4, work.tiles > 1, h, work.frame(), j.pitch, row_bytes,
                                       blocks != wide ? wide : NULL, frag);
    };
    bool more = work.next();
    if (more)
        stage(NULL);
#pragma unroll 1
    while (more) { // down one column of tiles
        const tm_tensor_step &step = j.step[work.step];
        const bool adds = work.step > work.chain;
        const int64_t y = work.y(), left = work.x() + 256 * (warp % 4);
        const uint8_t *const frame = work.frame();
        const int tiles = work.tiles, rows = (int)min((int64_t)8 * tiles, j.map_height - y);
        const map_part part = {step.map + y * j.stride + left, j.stride,
                               (int)max((int64_t)0, min((int64_t)256, j.stride - left))};
        int slot = 0; // of the tile's first group
        int acc[16][4];
        /* Tile i's products begin: the next tile's rows may come, unless they have, and those of the tile before are made. A warp
         * that does not multiply begins the copies: that takes as long as some rows' products. Two barriers take turns: a warp
         * may still have to see that tile i's rows have come. */
        auto go_on = [&](int i) {
            if (i > 0 && i + 1 < tiles && warp == (i % 2 ? 0 : 4))
                ring.stage_group(there.barrier(i % 2), ring.after(slot, groups), frame + (size_t)(i + groups) * 8 * j.pitch, j.pitch,
                                 row_bytes);
            slot = ring.after(slot, 1);
        };
        auto turn = [&](int i) {
            there.wait_for_all();
            if (i > 1 && i < tiles)
                there.wait((i - 1) % 2);
            go_on(i);
        };
        auto load = [&](int i) { part.load(acc, 8 * i, rows - 8 * i, adds, step.shift); };
        auto products_at = [&](int of) {
            return tm_wide_products<STEPS, ODD>(ring.at + of * ring_type::GROUP, ring.at,
                                                ring.count * ring_type::GROUP, frag, h);
        };
        auto store = [&](int i) { part.store(acc, 8 * i, rows - 8 * i); };
        /* Waits for the sums of tile i, and unless it is the last one stores them and begins with this warpgroup's next one. */
        auto finish = [&](int i) {
            turn(i + 1);
            tm_wgmma_wait();
            tm_wgmma_keep(acc);
            if (i + 1 < tiles) {
                store(i);
                load(i + 2);
            }
        };

        load(warpgroup);
        if (!warpgroup) {
            tm_wide_products<STEPS, ODD> products = products_at(0);
            auto begin = [&](int batch) { products.issue(acc, min(h + 7, 8 * tm_wide_batch_end(batch, groups)), true); };
#pragma unroll
            for (int batch = 0; batch < TM_WIDE_BATCHES; batch++) {
                there.wait(batch);
                begin(batch);
            }
            go_on(0);
            finish(0);
        } else {
#pragma unroll
            for (int batch = 0; batch < TM_WIDE_BATCHES; batch++)
                there.wait(batch);
            go_on(0);
        }
#pragma unroll 1
        for (int i = 2 - warpgroup; i < tiles; i += 2) {
            tm_wide_products<STEPS, ODD> products = products_at(slot);
            turn(i);
            products.issue(acc, h + 7, true);
            finish(i);
        }
        const bool has_last = tiles % 2 != warpgroup;
        if (!has_last)
            turn(tiles);
        there.wait_for_all(); // all products are made
        more = work.next();
        if (more)
            stage(step.wide);
        if (has_last)
            store(tiles - 1);
        asm volatile("" ::: "memory"); // which the next part may load
    }
}

static tm_tensor_block block_of(const tm_tensor_steps &j)
{
    const int steps = tm_wide_steps(j.width);
    return {(size_t)tm_wide_ring_groups(j.height) * 8 * tm_wide_row(2 * steps) +
                (size_t)tm_wide_blocks(j.height, steps) * TM_WIDE_BLOCK,
            TM_WIDE_FIXED, MOST_BLOCKS};
}

/* How many maps the steps give. */
static int maps_of(const tm_tensor_steps &j)
{
    int maps = 0;
    for (int s = 0; s < j.count; s++)
        maps += j.step[s].map != NULL;
    return maps;
}

/* Whether this takes less time than mma_steps.cu, as measured on an H100: where a tile has instructions enough for what its
 * sums take in memory, and a multiprocessor for the start of its products. */
static bool pays(const tm_tensor_device *device, const tm_tensor_steps &j)
{
    const double tiles = (double)j.map_width * j.map_height / (TILE_WIDTH * TILE_HEIGHT);
    const double of_tile = (j.height + 7) * tm_wide_units(j.width) / 2;
    return of_tile >= 45 && tiles * maps_of(j) * of_tile >= 210.0 * device->multiprocessors;
}

bool tm_wide_steps_takes(const tm_tensor_device *device, const tm_tensor_steps &j)
{
    const tm_tensor_block block = block_of(j);
    tm_tensor_plan p = {};
    return tm_wide_fragment_bytes(j.width, j.height) && block.shared + block.fixed <= device->shared_memory &&
           (int64_t)j.width * j.height <= TM_TENSOR_TAPS && tm_tensor_cover(&p, j) && (int64_t)j.count * p.tiles <= INT_MAX &&
           (device->always_wide || pays(device, j));
}

cudaError_t tm_wide_steps_launch(const tm_tensor_device *device, tm_tensor_steps j, cudaStream_t stream)
{
    tm_tensor_plan p = {};

    for (int s = 0; s < j.count; s++)
        if (!j.step[s].wide)
            return cudaErrorNotSupported;
    if (!tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    for (int s = j.count - 1; s-- > 0;)
        if (!j.step[s].map)
            j.step[s].map = j.step[s + 1].map;
    return tm_wide_of_width(j.width, [&](auto form) {
        return tm_tensor_start(device, wide_steps_kernel<decltype(form)::STEPS, decltype(form)::ODD>, j, p, block_of(j), true,
                               stream);
    });
}
