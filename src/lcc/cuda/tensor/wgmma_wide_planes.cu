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
#include "lcc/cuda/tensor/wide_products.cuh"

enum { MOST_BLOCKS = 2 }; // on a multiprocessor
enum { BATCHES = 4 };     // of what the first products take

/* The groups of frame rows that a tile's products take. */
__host__ __device__ __forceinline__ int groups_of(int h)
{
    return (h + 7 + 7) / 8;
}

/* The ring's: while a tile's products are made, those of the tile before may still be, and the next tile's rows come. */
__host__ __device__ __forceinline__ int ring_groups(int h)
{
    return groups_of(h) + 2;
}

template <int STEPS>
struct ring_of_groups {
    enum { ROW = tm_wide_row(STEPS), GROUP = 8 * ROW };
    unsigned at;
    int count;

    /* Begins to copy 8 rows of the frame. */
    __device__ __forceinline__ void stage(int slot, const uint8_t *from, size_t pitch, int chunks) const
    {
        const int line = threadIdx.x / 32;
        const uint8_t *src = from + line * pitch;
        const unsigned dst = at + slot * GROUP + line * ROW;
        for (int c = threadIdx.x % 32; c < chunks; c += 32)
            tm_copy16(dst + 16 * c, src + 16 * c);
    }

    __device__ __forceinline__ int after(int slot, int groups) const
    {
        return slot + groups < count ? slot + groups : slot + groups - count;
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

/* The first tile of a block's part of the map that the steps [chain, end) give: the products of all maps are spread
 * evenly, and each tile of a map is one block's. */
__device__ __forceinline__ int first_tile(const tm_tensor_steps &j, const tm_tensor_plan &p, int chain, int end,
                                          int block)
{
    const int64_t before = (int64_t)j.count * p.tiles * block / gridDim.x - (int64_t)chain * p.tiles;
    const int64_t tile = (before + end - chain - 1) / (end - chain);
    return (int)max((int64_t)0, min(tile, (int64_t)p.tiles));
}

/* Begins to copy blocks [from, to) of B, if there are any. */
__device__ __forceinline__ void stage_blocks(unsigned frag, const void *blocks, int from, int to)
{
    enum { PIECES = TM_WIDE_BLOCK / 16 };
    for (int i = from * PIECES + threadIdx.x; i < to * PIECES; i += TM_TENSOR_THREADS)
        tm_copy16(frag + 16 * i, (const uint4 *)blocks + i);
}

/* Begins to copy the blocks that the frame rows [first, end) take, if all before have those that they take. The blocks of
 * zeros between the steps of k, and behind the last one, come with the first rows. */
template <int STEPS>
__device__ __forceinline__ void stage_blocks_of_rows(unsigned frag, const void *blocks, int h, int first, int end)
{
    const int from = max(0, h + 7 - end), to = h + 7 - first;
#pragma unroll
    for (int k = 0; k < STEPS; k++) {
        const int zeros = k ? 7 : 0, step = k * (h + 7);
        stage_blocks(frag, blocks, step + max(from, zeros), step + to);
        if (k && first == 0)
            stage_blocks(frag, blocks, step, step + zeros);
    }
    if (first == 0)
        stage_blocks(frag, blocks, STEPS * (h + 7), STEPS * (h + 7) + 7);
}

__device__ __forceinline__ void end_batch()
{
    asm volatile("cp.async.commit_group;" ::: "memory");
}

/* A barrier for all threads of the block, wherever in the kernel they wait: for __syncthreads all would have to be at
 * the same place. */
struct barrier {
    unsigned at; // the address of its 8 bytes
    unsigned turn = 0;

    __device__ __forceinline__ explicit barrier(uint64_t *shared)
        : at((unsigned)__cvta_generic_to_shared(shared))
    {
        if (threadIdx.x == 0)
            asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at), "n"(+TM_TENSOR_THREADS) : "memory");
        __syncthreads();
    }

    __device__ __forceinline__ void wait()
    {
        asm volatile("{.reg .pred there; .reg .b64 state; mbarrier.arrive.shared.b64 state, [%0]; "
                     "again%=: mbarrier.try_wait.parity.shared.b64 there, [%0], %1; @!there bra again%=;}" ::"r"(at),
                     "r"(turn)
                     : "memory");
        turn ^= 1;
        __syncwarp();
    }
};

/* Waits until all batches but so many of the last are there, of all threads. */
template <int LAST>
__device__ __forceinline__ void wait_for_batches(barrier &all)
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LAST) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    all.wait();
}

template <int STEPS, bool ODD>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, MOST_BLOCKS)
    wide_steps_kernel(const __grid_constant__ tm_tensor_steps j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ uint64_t barrier_of_all;
    typedef ring_of_groups<STEPS> ring_type;
    const int h = j.height, warp = __shfl_sync(~0u, threadIdx.x / 32, 0), warpgroup = warp / 4;
    const int groups = groups_of(h), chunks = (TILE_WIDTH - 1 + j.width + 15) / 16;
    const ring_type ring = {(unsigned)__cvta_generic_to_shared(smem), ring_groups(h)};
    const unsigned frag = ring.at + ring.count * ring_type::GROUP;
    const void *blocks = NULL; // that are there
    int chain = 0, chain_end = 0;

    barrier all(&barrier_of_all);
    tm_early_begin();
#pragma unroll 1
    for (int s = 0; s < j.count; s++) {
        const tm_tensor_step &step = j.step[s];
        const bool adds = s < chain_end;
        if (!adds)
            for (chain = s, chain_end = s + 1; chain_end < j.count && j.step[chain_end].map == step.map;)
                chain_end++;
        const int first = first_tile(j, p, chain, chain_end, blockIdx.x);
        const int end = first_tile(j, p, chain, chain_end, blockIdx.x + 1);
#pragma unroll 1
        for (int t = first, tiles; t < end; t += tiles) { // down one column of tiles
            const int64_t x = (int64_t)(t / p.tiles_y) * TILE_WIDTH, y = (int64_t)(t % p.tiles_y) * TILE_HEIGHT;
            const int64_t left = x + 256 * (warp % 4);
            const uint8_t *frame = j.frame + step.plane + (size_t)y * j.pitch + x;
            tiles = min(end - t, p.tiles_y - t % p.tiles_y);
            const map_part part = {step.map + y * j.stride + left, j.stride,
                                   (int)max((int64_t)0, min((int64_t)256, j.stride - left))};
            const int rows = (int)min((int64_t)8 * tiles, j.map_height - y);
            int slot = 0; // of the tile's first group
            int acc[16][4];
            /* Tile i's products have begun: the next tile's rows may come, and those of the tile before are made. */
            auto go_on = [&](int i) {
                if (i + 1 < tiles)
                    ring.stage(ring.after(slot, groups), frame + (size_t)(i + groups) * 8 * j.pitch, j.pitch, chunks);
                end_batch();
                slot = ring.after(slot, 1);
            };
            auto turn = [&](int i) {
                wait_for_batches<0>(all);
                go_on(i);
            };
            auto batch_end = [&](int batch) { return min(groups, (batch + 1) * ((groups + BATCHES - 1) / BATCHES)); };

            __syncthreads();
            for (int batch = 0, g = 0; batch < BATCHES; batch++) {
                if (blocks != step.wide)
                    stage_blocks_of_rows<STEPS>(frag, step.wide, h, 8 * g, 8 * batch_end(batch));
                for (; g < batch_end(batch); g++)
                    ring.stage(g, frame + (size_t)g * 8 * j.pitch, j.pitch, chunks);
                end_batch();
            }
            blocks = step.wide;
            part.load(acc, 8 * warpgroup, rows - 8 * warpgroup, adds, step.shift);
            auto products_at = [&](int of) {
                return tm_wide_products<STEPS, ODD>(ring.at + of * ring_type::GROUP, ring.at,
                                                    ring.count * ring_type::GROUP, frag, h);
            };
            /* Ends the work of tile i, and begins that of this warpgroup's next one. */
            auto finish = [&](int i) {
                turn(i + 1);
                asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
                for (int k = 0; k < 64; k++)
                    asm volatile("" : "+r"(acc[k / 4][k & 3])::"memory"); // no use moves up
                part.store(acc, 8 * i, rows - 8 * i);
                part.load(acc, 8 * (i + 2), rows - 8 * (i + 2), adds, step.shift);
            };
            if (!warpgroup) {
                tm_wide_products<STEPS, ODD> products = products_at(0);
                auto begin = [&](int batch) { products.issue(acc, min(h + 7, 8 * batch_end(batch)), true); };
                wait_for_batches<3>(all), begin(0);
                wait_for_batches<2>(all), begin(1);
                wait_for_batches<1>(all), begin(2);
                wait_for_batches<0>(all), begin(3);
                go_on(0);
                finish(0);
            } else {
                wait_for_batches<3>(all), wait_for_batches<2>(all), wait_for_batches<1>(all), wait_for_batches<0>(all);
                go_on(0);
            }
#pragma unroll 1
            for (int i = 2 - warpgroup; i < tiles; i += 2) {
                tm_wide_products<STEPS, ODD> products = products_at(slot);
                turn(i);
                products.issue(acc, h + 7, true);
                finish(i);
            }
            if (tiles % 2 == warpgroup)
                turn(tiles);
        }
    }
}

static tm_tensor_block block_of(const tm_tensor_steps &j)
{
    const int steps = tm_wide_steps(j.width);
    return {(size_t)ring_groups(j.height) * 8 * tm_wide_row(steps) +
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
           (int64_t)j.width * j.height <= TM_TENSOR_TAPS && tm_tensor_cover(&p, j) &&
           (device->always_wide || pays(device, j));
}

cudaError_t tm_wide_steps_launch(const tm_tensor_device *device, tm_tensor_steps j, cudaStream_t stream)
{
    static const decltype(&wide_steps_kernel<2, true>) kernels[] = {
        wide_steps_kernel<2, true>,  wide_steps_kernel<2, false>, wide_steps_kernel<3, true>,
        wide_steps_kernel<3, false>, wide_steps_kernel<4, true>,  wide_steps_kernel<4, false>};
    tm_tensor_plan p = {};

    for (int s = 0; s < j.count; s++)
        if (!j.step[s].wide)
            return cudaErrorNotSupported;
    if (!tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    for (int s = j.count - 1; s-- > 0;)
        if (!j.step[s].map)
            j.step[s].map = j.step[s + 1].map;
    const auto kernel = kernels[tm_wide_units(j.width) - TM_WIDE_LEAST_UNITS];
    return tm_tensor_start(device, kernel, j, p, block_of(j), true, stream);
}
