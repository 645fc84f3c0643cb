/* SPDX-License-Identifier: MIT */
/* LCC of one template of at most 25 x 31 with a mask, without a map, by wgmma (sm_90a), where both fit in shared memory. All sums are products of planes with
 * the template and with its mask, and stay in registers until they are scored. */
#include "lcc/cuda/tensor/plane_rows.cuh"

/* The sums of a warp's windows. Windows lie in each as in epilogue.cuh. */
struct masked_sums {
    int ft[8][4], f[8][4], ff[8][4];
};

/* Scores a tile, unless no window can be the best: see lcc/reject.h. The scores replace S_FT. */
__device__ __forceinline__ void score(masked_sums &sums, const tm_tensor_masked_job &j, int running_best, tm_tensor_best &best,
                                      int64_t x, int64_t y)
{
    if (x >= j.map_width)
        return; // all of the warp lies beyond the edge
    const int cols = (int)min((int64_t)128, j.map_width - x), rows = (int)min((int64_t)8, j.map_height - y);
    const float s = tm_score_of_order(max(running_best, best.order)), bound = tm_reject_boundf(s, j.of_template.variance);
    float excess = s > 0 ? 0.0f : 1.0f;

#pragma unroll
    for (int i = 0; i < 32; i++) {
        int &ft = sums.ft[i / 4][i & 3], f = sums.f[i / 4][i & 3], &ff = sums.ff[i / 4][i & 3];
        const float num = tm_tensor_num<false>(ft, f, j.n, j.of_template.sum), minus_var = tm_tensor_minus_var<false>(f, ff, j.n);
        excess = fmaxf(excess, __fmaf_rn(num, fabsf(num), minus_var * bound));
        ft = __float_as_int(num), ff = __float_as_int(minus_var);
    }
    if (!__any_sync(~0u, excess > 0))
        return;
    float minus_var[8][4];
#pragma unroll
    for (int i = 0; i < 32; i++)
        minus_var[i / 4][i & 3] = __int_as_float(sums.ff[i / 4][i & 3]);
    tm_tensor_offer_scores(sums.ft, minus_var, -j.of_template.variance, running_best, j, best, x, y, cols, rows);
}

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
    rows.stage_blocks(0, 2, j.fragments);
    rows.stage_blocks(1, 2, j.mask_fragments);
    rows.wait_for_blocks();
    while (tiles.t < tiles.end) {
        const int64_t x = tiles.x(), y = tiles.y();
        const int running_best = __ldcg(j.running_bests);
        masked_sums sums;

        rows.wait();
        rows.products(sums.ff, 1, false);
        rows.stage(0, x, y, rows.now ^= 1);
        tm_planes_wait_for_products();
        tm_planes_keep(sums.ff);
        tm_planes_shift(sums.ff, 8);

        rows.wait();
        rows.products(sums.f, 1, false);
        rows.products(sums.ft, 0, false);
        rows.stage(j.low_squares, x, y, rows.now ^= 1);
        tm_planes_wait_for_products();
        tm_planes_keep(sums.f);
        tm_planes_keep(sums.ft);

        rows.wait();
        rows.products(sums.ff, 1, true);
        tiles.next();
        rows.now ^= 1;
        if (tiles.t < tiles.end)
            rows.stage(j.high_squares, tiles.x(), tiles.y(), rows.now);
        tm_planes_wait_for_products();
        tm_planes_keep(sums.ff);
        score(sums, j, running_best, best, x + 128 * warp, y);
    }
    best.pos += j.first;
    if (threadIdx.x % 32 == 0)
        bests[threadIdx.x / 32] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

enum { TEMPLATES = 2 }; // and its mask

bool tm_wgmma_masked_takes(const tm_tensor_device *device, int width, int height)
{
    return tm_planes_fit(device, width, height, TEMPLATES);
}

cudaError_t tm_wgmma_masked_launch(const tm_tensor_device *device, const tm_tensor_masked_job &j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if (!tm_planes_fit(device, j.width, j.height, TEMPLATES) || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    return tm_tensor_start(device, masked_kernel, j, p, tm_planes_block(j.height, TEMPLATES), true, stream);
}
