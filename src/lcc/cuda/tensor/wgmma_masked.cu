/* SPDX-License-Identifier: MIT */
/* LCC of one template of at most 25 x 31 with a mask, without a map, by wgmma (sm_90a), where both fit in shared memory. All sums are products of planes with
 * the template and with its mask, and stay in registers until they are scored. */
#include "lcc/cuda/tensor/plane_rows.cuh"

/* The sums of a warp's windows. Windows lie in each as in epilogue.cuh. BY_TURNS: blocks of B of the template and of its mask stand by turns, so that
 * one product makes rows of S_FT and of S_F by turns; else those of S_FT come first. */
template <bool BY_TURNS>
struct masked_sums {
    int both[16][4], ff[8][4];

    __device__ __forceinline__ int &ft(int row, int column)
    {
        return both[BY_TURNS ? 2 * row : row][column];
    }

    __device__ __forceinline__ int &f(int row, int column)
    {
        return both[BY_TURNS ? 2 * row + 1 : 8 + row][column];
    }

    /* Begins to copy the blocks of B. */
    __device__ __forceinline__ static void stage_blocks(const tm_plane_rows &rows, const tm_tensor_masked_job &j)
    {
        if constexpr (BY_TURNS) {
            rows.stage_blocks_by_turns(0, j.fragments);
            rows.stage_blocks_by_turns(1, j.mask_fragments);
        } else {
            rows.stage_blocks(0, 2, j.fragments);
            rows.stage_blocks(1, 2, j.mask_fragments);
        }
    }

    /* Begins the products of a plane's rows with the mask. */
    __device__ __forceinline__ void multiply_mask(const tm_plane_rows &rows, bool more)
    {
        if constexpr (BY_TURNS)
            tm_small_products<2>(ff, rows.ring(), rows.first_block + TM_SMALL_BLOCK, rows.h, more);
        else
            rows.products(ff, 1, more);
    }

    /* Likewise with template and mask. */
    __device__ __forceinline__ void multiply_both(const tm_plane_rows &rows)
    {
        if constexpr (BY_TURNS) {
            tm_small_products<2>(both, rows.ring(), rows.first_block, rows.h, false);
        } else {
            rows.products((int(&)[8][4])both[8], 1, false);
            rows.products((int(&)[8][4])both[0], 0, false);
        }
    }
};

/* Scores a tile, unless no window can be the best: see lcc/reject.h. num and var_F replace S_FT and S_FF. */
template <bool BY_TURNS>
__device__ __forceinline__ void score(masked_sums<BY_TURNS> &sums, const tm_tensor_masked_job &j, int running_best, tm_tensor_best &best,
                                      int64_t x, int64_t y)
{
    if (x >= j.map_width)
        return; // all of the warp lies beyond the edge
    const int cols = (int)min((int64_t)128, j.map_width - x), rows = (int)min((int64_t)8, j.map_height - y);
    const float s = tm_score_of_order(max(running_best, best.order)), bound = tm_reject_boundf(s, j.of_template.variance);
    float excess = s > 0 ? 0.0f : 1.0f;

#pragma unroll
    for (int i = 0; i < 32; i++) {
        int &ft = sums.ft(i / 4, i & 3), f = sums.f(i / 4, i & 3), &ff = sums.ff[i / 4][i & 3];
        const float num = tm_tensor_num<false>(ft, f, j.n, j.of_template.sum), minus_var = tm_tensor_minus_var<false>(f, ff, j.n);
        excess = fmaxf(excess, __fmaf_rn(num, fabsf(num), minus_var * bound));
        ft = __float_as_int(num), ff = __float_as_int(minus_var);
    }
    if (!__any_sync(~0u, excess > 0))
        return;
    int num[8][4];
    float minus_var[8][4];
#pragma unroll
    for (int i = 0; i < 32; i++)
        num[i / 4][i & 3] = sums.ft(i / 4, i & 3), minus_var[i / 4][i & 3] = __int_as_float(sums.ff[i / 4][i & 3]);
    tm_tensor_offer_scores(num, minus_var, -j.of_template.variance, running_best, j, best, x, y, cols, rows);
}

template <bool BY_TURNS>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    masked_kernel(const __grid_constant__ tm_tensor_masked_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_THREADS / 32];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0) % 4; // of the warpgroup
    tm_plane_rows rows(j, smem);
    tm_planes_tiles tiles(p);
    tm_tensor_best best = {0, INT_MIN};

    tm_early_begin();
    if (tiles.t < tiles.end)
        rows.stage(j.high_squares, tiles.x(), tiles.y(), 0);
    masked_sums<BY_TURNS>::stage_blocks(rows, j);
    rows.wait_for_blocks();
    while (tiles.t < tiles.end) {
        const int64_t x = tiles.x(), y = tiles.y();
        const int running_best = __ldcg(j.running_bests);
        masked_sums<BY_TURNS> sums;

        rows.wait();
        sums.multiply_mask(rows, false);
        rows.stage(0, x, y, rows.now ^= 1);
        tm_wgmma_wait();
        tm_wgmma_keep(sums.ff);
        tm_planes_shift(sums.ff, 8);

        rows.wait();
        sums.multiply_both(rows);
        rows.stage(j.low_squares, x, y, rows.now ^= 1);
        tm_wgmma_wait();
        tm_wgmma_keep(sums.both);

        rows.wait();
        sums.multiply_mask(rows, true);
        tiles.next();
        rows.now ^= 1;
        if (tiles.t < tiles.end)
            rows.stage(j.high_squares, tiles.x(), tiles.y(), rows.now);
        tm_wgmma_wait();
        tm_wgmma_keep(sums.ff);
        score(sums, j, running_best, best, x + 128 * warp, y);
    }
    best.pos += j.first;
    if (threadIdx.x % 32 == 0)
        bests[threadIdx.x / 32] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

enum { TEMPLATES = 2 }; // and its mask

/* By turns both have all their zeros, so one more end of them than templates that follow each other: of 26 rows there is no room for it. */
static tm_tensor_block block_by_turns(int height)
{
    tm_tensor_block block = tm_planes_block(height, TEMPLATES);
    block.shared += 7 * TM_SMALL_BLOCK;
    return block;
}

bool tm_wgmma_masked_takes(const tm_tensor_device *device, int width, int height)
{
    return tm_planes_fit(device, width, height, TEMPLATES);
}

cudaError_t tm_wgmma_masked_launch(const tm_tensor_device *device, const tm_tensor_masked_job &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if (!tm_planes_fit(device, j.width, j.height, TEMPLATES) || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    const tm_tensor_block block = block_by_turns(j.height);
    return block.shared + block.fixed <= device->shared_memory
               ? tm_tensor_start(device, masked_kernel<true>, j, p, block, true, stream)
               : tm_tensor_start(device, masked_kernel<false>, j, p, tm_planes_block(j.height, TEMPLATES), true, stream);
}
