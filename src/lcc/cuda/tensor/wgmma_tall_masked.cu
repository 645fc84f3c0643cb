/* SPDX-License-Identifier: MIT */
/* LCC of one wide template with a mask, without a map, by wgmma (sm_90a), in the tiles of wgmma_tall.cu. All sums are products
 * of planes: first those with the mask, of the squares' bytes and of the samples, which a block writes to memory; then those of the
 * samples with the template, which are scored from registers. Shared memory has room for the blocks of one of the two, or of both. */
#include "lcc/cuda/tensor/limits.h"
#define TM_TENSOR_TILE_WIDTH TM_TALL_TILE_WIDTH
#define TM_TENSOR_TILE_HEIGHT TM_TALL_TILE_HEIGHT
#define TM_TENSOR_WARPS 12
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/tall_score.cuh"
#include "lcc/cuda/tensor/tall_turns.cuh"

enum { FIXED = 512 };    // bytes that a block declares
enum { OF_THE_MASK = 3 }; // products of a tile with the mask

/* A block's turns. Products with the mask come first, of two tiles alternately: of the squares' high bytes, of their low ones, and of the
 * samples. Of an odd number of tiles the last one is both warpgroups', in 4 turns of which one has no products. In the end come
 * all tiles' products with the template. */
struct order_of_turns {
    enum { HIGH, LOW, SAMPLES, TEMPLATE, NOTHING };
    const int tiles;

    __device__ __forceinline__ int pairs_end() const
    {
        return OF_THE_MASK * (tiles & ~1);
    }

    __device__ __forceinline__ int with_template() const
    {
        return pairs_end() + (tiles & 1 ? 4 : 0);
    }

    __device__ __forceinline__ int end() const
    {
        return with_template() + tiles;
    }

    __device__ __forceinline__ int tile(int turn) const
    {
        return turn >= with_template() ? turn - with_template()
               : turn >= pairs_end()   ? tiles - 1
                                       : turn / (2 * OF_THE_MASK) * 2 + turn % 2;
    }

    __device__ __forceinline__ int kind(int turn) const
    {
        if (turn >= with_template())
            return TEMPLATE;
        if (turn < pairs_end())
            return turn / 2 % OF_THE_MASK;
        const int of_last = turn - pairs_end();
        return of_last == 0 ? HIGH : of_last == 1 ? SAMPLES : of_last == 2 ? LOW : NOTHING;
    }
};

/* S_F and S_FF of a block's windows in memory, by tile, group and thread as accumulators have them. */
struct sums_in_memory {
    enum { AHEAD = 3, OF_GROUP = 128, OF_TILE = TM_TALL_GROUPS * OF_GROUP };
    uint4 *const first; // of the block's first tile
    const int64_t apart; // from S_F to S_FF

    __device__ __forceinline__ uint4 *of_tile(int tile) const
    {
        return first + (int64_t)tile * OF_TILE + threadIdx.x % 128;
    }

    __device__ __forceinline__ tm_tall_sums take(int tile, int group) const
    {
        const uint4 *const at = of_tile(tile) + group * OF_GROUP;
        const uint4 f = __ldcg(at), ff = __ldcg(at + apart);
        return {{f.x, f.z, f.y, f.w}, {ff.x, ff.z, ff.y, ff.w}};
    }
};

template <int STEPS, bool ODD>
struct multiplier {
    const tm_tall_block<STEPS, ODD> &b;
    const tm_tall_turns<STEPS, ODD> turns;
    const tm_tensor_masked_job &j;
    const sums_in_memory sums;

    /* Writes S_F or S_FF. Windows beyond the map get sums such that none is a best one: with the greatest S_F, n S_FT is no
     * more than S_F S_T, and var_F = 2^14 n^2 is greater than any. */
    __device__ __forceinline__ void put(int tile, const int (&acc)[TM_TALL_GROUPS][4], int64_t at, unsigned beyond) const
    {
        const tm_tall_lane lane;
        const int left = (int)min((int64_t)TILE_WIDTH, j.map_width - b.x(tile)) - lane.column;
        const int below = (int)min((int64_t)TILE_HEIGHT, j.map_height - b.y(tile)) - lane.row;
        uint4 *const to = sums.of_tile(tile) + at;
        const bool all = __all_sync(~0u, left > 24 && below > TM_TALL_GROUP_ROWS * (TM_TALL_GROUPS - 1));
#pragma unroll
        for (int g = 0; g < TM_TALL_GROUPS; g++) {
            uint4 v = make_uint4(acc[g][0], acc[g][1], acc[g][2], acc[g][3]);
            if (!all) {
                const bool in = TM_TALL_GROUP_ROWS * g < below;
                v.x = in && 0 < left ? v.x : beyond;
                v.y = in && 16 < left ? v.y : beyond;
                v.z = in && 8 < left ? v.z : beyond;
                v.w = in && 24 < left ? v.w : beyond;
            }
            __stcg(to + g * sums.OF_GROUP, v);
        }
    }

    /* S_FF of a tile, in two of the warpgroup's turns. */
    __device__ __forceinline__ void make_squares(int tile, int turn, int (&acc)[TM_TALL_GROUPS][4]) const
    {
        turns.multiply(turn, turns.blocks(0), false, acc);
#pragma unroll
        for (int i = 0; i < 4 * TM_TALL_GROUPS; i++)
            acc[i / 4][i & 3] <<= 8;
        turns.multiply(turn + 2, turns.blocks(0), true, acc);
        put(tile, acc, sums.apart, 255u * 255u * j.n + ((unsigned)j.n << 14));
    }

    /* S_F. */
    __device__ __forceinline__ void make_samples(int tile, int turn, int (&acc)[TM_TALL_GROUPS][4]) const
    {
        turns.multiply(turn, turns.blocks(0), false, acc);
        put(tile, acc, 0, 255u * j.n);
    }

    __device__ __forceinline__ tm_tensor_best run(int group) const
    {
        const order_of_turns order = {b.count};
        tm_tall_scorer<STEPS, ODD, sums_in_memory> scorer(b, j, j.of_template, j.n, sums);
        tm_rejection reject;
        int acc[TM_TALL_GROUPS][4], turn = group;
        reject.start(scorer.n, scorer.t);
#pragma unroll 1
        for (; turn < order.pairs_end(); turn += 2 * OF_THE_MASK) {
            make_squares(order.tile(turn), turn, acc);
            make_samples(order.tile(turn), turn + 4, acc);
        }
        if (b.count % 2 && group == 0) {
            make_squares(b.count - 1, turn, acc);
        } else if (b.count % 2) {
            make_samples(b.count - 1, turn, acc);
            turns.pass(turn + 2); // whose turn the first warpgroup waits for before it reads those sums
        }
#pragma unroll 1
        for (int n = group; n < b.count; n += 2) {
            turns.multiply(order.with_template() + n, turns.blocks(1), false, acc);
            scorer.score_best(n, acc, reject);
        }
        return scorer.best;
    }
};

template <int STEPS, bool ODD>
__device__ __forceinline__ void stage(const tm_tall_block<STEPS, ODD> &b, const tm_tensor_masked_job &j, int part)
{
    const order_of_turns order = {b.count};
    const tm_tall_turns<STEPS, ODD> turns = {b};
#pragma unroll 1
    for (int turn = 0; turn < order.end(); turn++) {
        const int kind = order.kind(turn);
        turns.wait_for_made(turn - 2);
        if (kind != order.NOTHING)
            tm_tall_stage_rows<TM_TALL_STAGE_WARPS>(b, order.tile(turn), turn % 2,
                                            kind == order.HIGH ? j.high_squares : kind == order.LOW ? j.low_squares : 0, j.height,
                                                    part);
        if (turn == order.with_template() && b.p.templates == 1) { // in place of the mask's blocks
            turns.wait_for_made(turn - 1);
            tm_tall_stage_template<TM_TALL_STAGE_WARPS>(b, turns.blocks(1), j.fragments, b.part(), part);
        }
        tm_tall_tell(b, turn);
        if (turn == 1 && b.p.templates > 1)
            tm_tall_stage_template<TM_TALL_STAGE_WARPS>(b, turns.blocks(1), j.fragments, b.part(), part);
    }
}

template <int STEPS, bool ODD>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    tall_masked_kernel(const __grid_constant__ tm_tensor_masked_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_WARPS];
    __shared__ uint64_t barriers[TM_TALL_TURN_BARRIERS];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0), part = warp - TM_TALL_PRODUCT_WARPS;
    const int first = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    const int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    const tm_tall_block<STEPS, ODD> b = {
        j, p, (unsigned)__cvta_generic_to_shared(smem), (unsigned)__cvta_generic_to_shared(barriers), first, end - first};
    tm_tensor_best best = {0, INT_MIN};

    tm_tall_turns<STEPS, ODD>{b}.start();
    __syncthreads();
    if (part >= 0) // the kernel before split the planes; the blocks were there before it began
        tm_tall_stage_template<TM_TALL_STAGE_WARPS>(b, b.blocks, j.mask_fragments, b.part(), part);
    tm_early_begin();
    if (part >= 0) {
        stage(b, j, part);
    } else {
        const sums_in_memory sums = {j.scratch + (int64_t)first * sums_in_memory::OF_TILE, (int64_t)p.tiles * sums_in_memory::OF_TILE};
        best = multiplier<STEPS, ODD>{b, {b}, j, sums}.run(warp / 4);
        best.pos += j.first;
    }
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

static tm_tensor_block block_of(const tm_tensor_device *device, const tm_tensor_masked_job &j, tm_tensor_plan *p)
{
    return {tm_tall_turns_bytes(device, FIXED, tm_wide_units(j.width), j.height, true, p), FIXED, 1};
}

size_t tm_tall_masked_scratch(const tm_tensor_masked_job &j)
{
    tm_tensor_plan p = {};
    return tm_tensor_cover(&p, j) ? (size_t)p.tiles * (TILE_WIDTH * TILE_HEIGHT) * 2 * sizeof(uint32_t) : 0;
}

bool tm_tall_masked_takes(const tm_tensor_device *device, const tm_tensor_masked_job &j)
{
    tm_tensor_plan p = {};
    /* A size of many rows is no number of 32 bits: so taps are counted first. */
    if (!tm_wide_has_form(j.width) || (int64_t)j.width * j.height > TM_TENSOR_TAPS || !tm_tall_cover(&p, j))
        return false;
    const tm_tensor_block block = block_of(device, j, &p);
    return block.shared + block.fixed <= device->shared_memory;
}

cudaError_t tm_tall_masked_launch(const tm_tensor_device *device, const tm_tensor_masked_job &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if (!tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    p.part_rows = j.height;
    const tm_tensor_block block = block_of(device, j, &p);
    return tm_wide_of_units(tm_wide_units(j.width), [&](auto form) {
        return tm_tensor_start(device, tall_masked_kernel<decltype(form)::STEPS, decltype(form)::ODD>, j, p, block, true, stream);
    });
}
