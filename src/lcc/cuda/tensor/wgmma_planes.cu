/* SPDX-License-Identifier: MIT */
/* Products of several planes with templates by wgmma (sm_90a), where all of them, of at most 25 x 31, fit in shared memory, as maps of their sums. */
#include "lcc/cuda/tensor/plane_rows.cuh"

static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    steps_kernel(const __grid_constant__ tm_tensor_steps j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    const int warp = __shfl_sync(~0u, threadIdx.x / 32, 0) % 4; // of the warpgroup
    tm_plane_rows rows(j, smem);
    tm_planes_tiles tiles(p);

    tm_early_begin();
    if (tiles.t < tiles.end)
        rows.stage(j.step[0].plane, tiles.x(), tiles.y(), 0);
    for (int s = 0, staged = 0; s < j.count; s++)
        if (j.step[s].of_template == staged)
            rows.stage_blocks(staged++, j.templates, j.step[s].fragments);
    rows.wait_for_blocks();
    while (tiles.t < tiles.end) {
        const int64_t left = tiles.x(), x = left + 128 * warp, y = tiles.y();
        int acc[8][4] = {};
        bool more = false;

        tiles.next();
#pragma unroll 1
        for (int s = 0; s < j.count; s++) {
            const tm_tensor_step &step = j.step[s];
            const bool first = s == 0 || step.plane != j.step[s - 1].plane;
            if (first)
                rows.wait();
            tm_planes_shift(acc, step.shift);
            rows.products(acc, step.of_template, more);
            if (first && (step.next || tiles.t < tiles.end))
                rows.stage(j.step[step.next].plane, step.next ? left : tiles.x(), step.next ? y : tiles.y(), rows.now ^ 1);
            if (s + 1 == j.count || step.plane != j.step[s + 1].plane)
                rows.now ^= 1;
            tm_wgmma_wait();
            tm_wgmma_keep(acc);
            more = !step.map;
            if (step.map && x < j.map_width)
                tm_tensor_store_sums(acc, step.map + y * j.stride + x, j.stride, (int)min((int64_t)128, j.map_width - x),
                                     (int)min((int64_t)8, j.map_height - y));
        }
    }
}

/* Numbers the steps' templates; returns how many there are. */
static int number_templates(tm_tensor_steps *j)
{
    int count = 0;
    for (int s = 0; s < j->count; s++) {
        int other = 0;
        while (j->step[other].fragments != j->step[s].fragments)
            other++;
        j->step[s].of_template = other < s ? j->step[other].of_template : count++;
    }
    return count;
}

cudaError_t tm_wgmma_steps_launch(const tm_tensor_device *device, tm_tensor_steps j, cudaStream_t stream)
{
    tm_tensor_plan p = {};

    j.templates = number_templates(&j);
    if (!tm_planes_fit(device, j.width, j.height, j.templates) || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    return tm_tensor_start(device, steps_kernel, j, p, tm_planes_block(j.height, j.templates), true, stream);
}
