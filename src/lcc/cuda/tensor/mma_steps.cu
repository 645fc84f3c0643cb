/* SPDX-License-Identifier: MIT */
/* Correlations of several planes by mma.sync, in one launch: what is added up stays in registers
 * until it is whole. */
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/products.cuh"

/* NARROW: w <= 25, strides known when compiled. j.buffers: 2 where a tile's rows of the next plane
 * come while products are made of this one's, or 1. */
template <bool NARROW>
static __global__ void __launch_bounds__(TC_THREADS, PER_SM)
    steps_kernel(const __grid_constant__ tm_tensor_steps j, tc_plan p)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (NARROW)
        p.row_bytes = TW + 32;
    extern __shared__ __align__(128) uint8_t smem[];
    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, wx = warp % (TW / 128),
        wy = warp / (TW / 128), units = (j.width + 7 + 15) / 16;
    int other =
        j.buffers == 2 ? (TH + j.height - 1) * p.row_bytes : 0; // buffer, from the one in use
    uint8_t *tile = smem;
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    tc_stage(tile, j.frame + j.step[0].plane, j.pitch, j.height, p, tx, ty);
    for (; t < end; t++) {
        int this_x = tx, this_y = ty;
        int64_t x = (int64_t)tx * TW + 128 * wx, y = (int64_t)ty * TH + 8 * wy;
        bool inside = x < j.map_width && y < j.map_height; // all of the warp
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
                    tc_stage(tile + other, j.frame + j.step[next].plane, j.pitch, j.height, p,
                             next ? this_x : tx, next ? this_y : ty);
            };
            if (first) {
                tc_copy_wait();
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
                tc_products<!NARROW>(acc, row + 32 * u, p.row_bytes, b, j.height, lane);
            if (inside && (units & 1))
                tc_products<!NARROW>(acc, row + 32 * (units / 2), p.row_bytes,
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
                tc_store_sums(acc, step.map + y * j.stride + x, j.stride,
                              (int)min((int64_t)128, j.map_width - x),
                              (int)min((int64_t)8, j.map_height - y));
#pragma unroll
            for (int i = 0; i < 32; i++)
                acc[i / 4][i & 3] = 0;
        }
    }
#endif
}

cudaError_t tc_steps_launch(tm_tensor_steps j, int sms, size_t smem_max, cudaStream_t stream)
{
    tc_plan p = {};
    tm_tensor_job shape = {};
    shape.map_width = j.map_width, shape.map_height = j.map_height;
    if ((int64_t)j.width * j.height > TM_TENSOR_TAPS || !tc_cover(&p, shape, TW, TH))
        return cudaErrorNotSupported;
    for (int s = 0; s < j.count; s++) { // the next other plane, after the last one the first again
        int next = s;
        while (next < j.count && j.step[next].plane == j.step[s].plane)
            next++;
        j.step[s].next = next < j.count ? next : 0;
    }
    bool narrow = j.width <= 25;
    p.row_bytes = narrow ? TW + 32 : TW + (j.width + 22) / 16 * 16;
    size_t smem = (size_t)(TH + j.height - 1) * p.row_bytes;
    /* two buffers if three blocks, as of most templates, still fit */
    j.buffers = 3 * (2 * smem + 1024) <= smem_max + 1024 ? 2 : 1;
    return tc_start(narrow ? steps_kernel<true> : steps_kernel<false>, j, p, TC_THREADS,
                    j.buffers * smem, 128, PER_SM, sms, smem_max, false, stream);
}
