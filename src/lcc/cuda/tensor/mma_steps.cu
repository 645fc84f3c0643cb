/* SPDX-License-Identifier: MIT */
/* Products of several planes with templates by mma.sync, in one launch: a tile's sums stay in
 * registers from step to step until they are whole. */
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/products.cuh"

/* NARROW: templates of w <= 25, with strides that are known when compiled. With two buffers, the
 * tile's rows of the next plane come while products are made of this one's. */
template <bool NARROW>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, MMA_BLOCKS)
    steps_kernel(const __grid_constant__ tm_tensor_steps j, tm_tensor_plan p)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (NARROW)
        p.row_bytes = TILE_WIDTH + 32;
    extern __shared__ __align__(128) uint8_t smem[];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, wx = warp % (TILE_WIDTH / 128),
        wy = warp / (TILE_WIDTH / 128), units = (j.width + 7 + 15) / 16;
    /* from the buffer in use to the other one */
    int other = j.buffers == 2 ? (TILE_HEIGHT + j.height - 1) * p.row_bytes : 0;
    uint8_t *tile = smem;
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    tm_mma_stage(tile, j.frame + j.step[0].plane, j.pitch, j.height, p, tx, ty);
    for (; t < end; t++) {
        int this_x = tx, this_y = ty;
        int64_t x = (int64_t)tx * TILE_WIDTH + 128 * wx, y = (int64_t)ty * TILE_HEIGHT + 8 * wy;
        bool inside = x < j.map_width && y < j.map_height; // the same for all of the warp
        int acc[8][4] = {};
        if (++ty == p.tiles_y)
            ty = 0, tx++;
        for (int s = 0; s < j.count; s++) {
            const tm_tensor_step &step = j.step[s];
            int next = step.next; // the step whose rows are staged
            bool first = s == 0 || step.plane != j.step[s - 1].plane,
                 last = s + 1 == j.count || step.plane != j.step[s + 1].plane;
            auto stage_next = [&]() {
                if (next || t + 1 < end)
                    tm_mma_stage(tile + other, j.frame + j.step[next].plane, j.pitch, j.height, p,
                                 next ? this_x : tx, next ? this_y : ty);
            };
            if (first) {
                tm_copy_wait();
                __syncthreads();
                if (j.buffers == 2)
                    stage_next();
            }
            if (step.shift)
#pragma unroll
                for (int i = 0; i < 32; i++)
                    acc[i / 4][i & 3] <<= step.shift;
            const uint8_t *row =
                tile + 8 * wy * p.row_bytes + 128 * wx + 8 * (lane / 4) + 4 * (lane & 3);
            const uint2 *b = (const uint2 *)step.fragments + lane;
            for (int u = 0; inside && u < units / 2; u++, b += 32 * j.height)
                tm_mma_products<!NARROW>(acc, row + 32 * u, p.row_bytes, b, j.height, lane);
            if (inside && (units & 1))
                tm_mma_products<!NARROW>(acc, row + 32 * (units / 2), p.row_bytes,
                                         (const unsigned *)(b - lane) + lane, j.height, lane);
            if (last && j.buffers == 1) {
                __syncthreads();
                stage_next();
            } else if (last) {
                tile += other, other = -other;
            }
            if (!step.map)
                continue;
            if (inside)
                tm_tensor_store_sums(acc, step.map + y * j.stride + x, j.stride,
                                     (int)min((int64_t)128, j.map_width - x),
                                     (int)min((int64_t)8, j.map_height - y));
#pragma unroll
            for (int i = 0; i < 32; i++)
                acc[i / 4][i & 3] = 0;
        }
    }
#endif
}

cudaError_t tm_mma_steps_launch(const tm_tensor_device *device, tm_tensor_steps j,
                                cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if ((int64_t)j.width * j.height > TM_TENSOR_TAPS || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    bool narrow = j.width <= 25;
    p.row_bytes = narrow ? TILE_WIDTH + 32 : TILE_WIDTH + (j.width + 22) / 16 * 16;
    const size_t bytes = (size_t)(TILE_HEIGHT + j.height - 1) * p.row_bytes;
    /* Two buffers if three blocks, as with most templates, still fit. */
    j.buffers = 3 * (2 * bytes + 1024) <= device->shared_memory + 1024 ? 2 : 1;
    const tm_tensor_block block = {j.buffers * bytes, 128, MMA_BLOCKS};
    return tm_tensor_start(device, narrow ? steps_kernel<true> : steps_kernel<false>, j, p, block,
                           false, stream);
}
