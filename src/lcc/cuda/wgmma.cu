/* SPDX-License-Identifier: MIT */
/* Direct LCC on the integer tensor cores, wgmma (sm_90a): one template of at most 25 columns and 31
 * rows.
 *
 * A warpgroup makes 8 rows x 512 columns. A's line m is the frame's bytes from x0 + 8m on: with
 * each row staged as its 16-byte units [8u, 8u + 16), the units m.. are core matrices as they lie,
 * the second half of k two units on. Column 8j + c of B is T[y - j] shifted by c, for the frame's
 * row y: with the template's rows in descending order, B for the next row starts one block earlier.
 * The products run while the same warps make the window sums. */
#define TC_TW 512
#define TC_TH 16
#include "lcc/cuda/tensor_windows.cuh"

enum {
    UNITS = TW / 8 + 3,
    ROW_BYTES = 16 * UNITS,
    PITCH = ((TW + 27) / 4 + 1) | 1,
    BLOCK = 256,
    PER_SM = 2
};

/* more: add to d. Only the low words of the descriptors change: K-major, no swizzle; 128 bytes from
 * 8 lines of A to the next, BLOCK from a row's columns of B to the next row's. */
__device__ __forceinline__ void wgmma(int (&d)[8][4], unsigned a, unsigned b, int more)
{
    asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.s32 p, %34, 0; mov.b64 a, {%32, 8}; "
                 "mov.b64 b, {%33, 16}; "
                 "wgmma.mma_async.sync.aligned.m64n64k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, a, b, p;}"
                 : "+r"(d[0][0]), "+r"(d[0][1]), "+r"(d[0][2]), "+r"(d[0][3]), "+r"(d[1][0]),
                   "+r"(d[1][1]), "+r"(d[1][2]), "+r"(d[1][3]), "+r"(d[2][0]), "+r"(d[2][1]),
                   "+r"(d[2][2]), "+r"(d[2][3]), "+r"(d[3][0]), "+r"(d[3][1]), "+r"(d[3][2]),
                   "+r"(d[3][3]), "+r"(d[4][0]), "+r"(d[4][1]), "+r"(d[4][2]), "+r"(d[4][3]),
                   "+r"(d[5][0]), "+r"(d[5][1]), "+r"(d[5][2]), "+r"(d[5][3]), "+r"(d[6][0]),
                   "+r"(d[6][1]), "+r"(d[6][2]), "+r"(d[6][3]), "+r"(d[7][0]), "+r"(d[7][1]),
                   "+r"(d[7][2]), "+r"(d[7][3])
                 : "r"(a), "r"(b), "r"(more));
}

/* 7 zero blocks stand at each end of B, for the rows that the first and last products reach beyond.
 */
__device__ __forceinline__ void products(int (&acc)[8][4], unsigned tile, unsigned frag, int h)
{
    /* the low words: address, and the bytes to the second half of k, in 16 bytes */
    unsigned a = __shfl_sync(~0u, tile >> 4 | 32 / 16 << 16, 0),
             b = __shfl_sync(~0u, frag + (h + 6) * BLOCK >> 4 | 128 / 16 << 16, 0);
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    wgmma(acc, a, b, 0);
#pragma unroll 3
    for (int y = 1; y < h + 7; y++)
        wgmma(acc, a += ROW_BYTES / 16, b -= BLOCK / 16, 1);
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ __forceinline__ void stage(uint8_t *tile, const tm_tensor_job &j, int tx, int ty)
{
    enum { STEP = TC_THREADS / UNITS };
    int r = threadIdx.x / UNITS, u = threadIdx.x % UNITS, rows = TH + j.height - 1;
    if (r >= STEP)
        return;
    const uint8_t *src = j.frame + ((size_t)ty * TH + r) * j.pitch + (size_t)tx * TW + 8 * u;
    unsigned dst = (unsigned)__cvta_generic_to_shared(tile) + r * ROW_BYTES + 16 * u;
    size_t step = STEP * j.pitch;
#pragma unroll 1
    for (; r < rows; r += 4 * STEP, src += 4 * step, dst += 4 * STEP * ROW_BYTES) {
        const uint8_t *at[4] = {src, src + step, src + 2 * step, src + 3 * step};
#pragma unroll
        for (int i = 0; i < 4; i++)
            if (r + i * STEP < rows)
                asm volatile("cp.async.ca.shared.global [%0], [%1], 8; cp.async.ca.shared.global "
                             "[%0 + 8], [%1 + 8], 8;" ::"r"(dst + i * STEP * ROW_BYTES),
                             "l"(at[i])
                             : "memory");
    }
}

template <bool MAP>
static __global__ void __launch_bounds__(TC_THREADS, PER_SM)
    wgmma_kernel(tm_tensor_job j, tc_plan p)
{
    extern __shared__ __align__(16) uint8_t smem[];
    p.row_bytes = ROW_BYTES, p.sums_pitch = PITCH, p.win_pitch = TW / 2 + 1;
    int blocks = j.height + 14;
    uint8_t *tile = smem, *frag = tile + (TH + j.height - 1) * ROW_BYTES;
    uint4 *sums = (uint4 *)(frag + blocks * BLOCK), *state = sums + TH * (TW / 2 + 1);
    tc_best *best = (tc_best *)(state + p.words);

    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    stage(tile, j, tx, ty);
    for (int i = threadIdx.x; i < blocks * BLOCK / 16; i += TC_THREADS)
        tc_copy16((unsigned)__cvta_generic_to_shared(frag) + 16 * i,
                  (const uint4 *)j.fragments + i);
    int warp = threadIdx.x / 32, wx = warp % 4, wy = __shfl_sync(~0u, warp / 4, 0),
        n = j.width * j.height;
    if (threadIdx.x < TC_THREADS / 32)
        best[threadIdx.x].order = INT_MIN, best[threadIdx.x].pos = 0;
    tm_tensor_template tmpl = *j.templates;
    for (bool fresh = true; t < end; t++) {
        fresh |= ty == 0;
        int64_t x = (int64_t)tx * TW + 128 * wx, y = (int64_t)ty * TH + 8 * wy;
        if (++ty == p.tiles_y)
            ty = 0, tx++;
        int acc[8][4], hint = __ldcg(j.hints);
        tc_copy_wait();
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        /* The first warpgroup makes nearly all column sums: its products wait until the tensor
         * cores are free. */
        if (wy)
            products(acc, (unsigned)__cvta_generic_to_shared(tile) + 8 * wy * ROW_BYTES,
                     (unsigned)__cvta_generic_to_shared(frag), j.height);
        tc_column_sums<true, true>(tile, sums, state, j.height, p, fresh);
        fresh = false;
        if (!wy)
            products(acc, (unsigned)__cvta_generic_to_shared(tile) + 8 * wy * ROW_BYTES,
                     (unsigned)__cvta_generic_to_shared(frag), j.height);
        __syncthreads();
        tc_window_sums<true, false, true, true>(sums, j.width, n, p, [&] {
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
            __syncthreads();
        });
#pragma unroll
        for (int i = 0; i < 32; i++)
            asm volatile("" : "+r"(acc[i / 4][i & 3])::"memory"); // no use moves up
        if (t + 1 < end)
            stage(tile, j, tx, ty);
        tc_group_barrier();
        tc_finish<MAP, false, true>(acc, sums + wy * tc_region(p) + 64 * wx, p.win_pitch, j, tmpl,
                                    n, 0, hint, best + warp, x, y);
    }
    tc_peaks<TM_TENSOR_LCC>(j, best);
}

/* Blocks of 8 shifts x 32 bytes of k, in the order of the core matrices; rows descending. */
static __global__ void wgmma_fragments(uint8_t *frag, const uint8_t *tmpl, int w, int h)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (h + 14) * BLOCK;
         i += gridDim.x * blockDim.x) {
        int r = h + 6 - i / BLOCK, c = i / 16 % 8, x = i / 128 % 2 * 16 + i % 16 - c;
        frag[i] = r >= 0 && r < h && x >= 0 && x < w ? tmpl[r * w + x] : 0;
    }
}

size_t tc_wgmma_frag_bytes(int, int h, int)
{
    return (size_t)(h + 14) * BLOCK;
}

cudaError_t tc_wgmma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int,
                             cudaStream_t stream)
{
    wgmma_fragments<<<32, 256, 0, stream>>>((uint8_t *)frag, tmpl, w, h);
    return cudaGetLastError();
}

cudaError_t tc_wgmma_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream)
{
    tc_plan p = {};
    if (j.outcome != TM_TENSOR_LCC || j.width > 25 || j.height > 31 || j.count > 1 ||
        !tc_cover(&p, j, TW, TH))
        return cudaErrorNotSupported;
    p.words = (TW + j.width + 2) / 4;
    size_t smem = (size_t)(TH + j.height - 1) * ROW_BYTES + (j.height + 14) * BLOCK +
                  sizeof(uint4) * (TH * (TW / 2 + 1) + p.words) + sizeof(tc_best) * TC_THREADS / 32;
    return tc_start(j.map ? wgmma_kernel<true> : wgmma_kernel<false>, j, p, TC_THREADS, smem, 16,
                    PER_SM, sms, smem_max, stream);
}
