/* SPDX-License-Identifier: MIT */
/* LCC on the integer tensor cores, wgmma (sm_90a): one template wider than 25 columns, whose
 * fragments fit in shared memory beside the frame rows of a step.
 *
 * A block is one warpgroup. It sweeps down a strip of 1024 columns, 8 rows of the map a step, over
 * a ring of frame rows as they are: A's line m is the frame's bytes from x0 + 16m on. Column
 * 16j + c of B is T[y - j] shifted by c, for the frame's row y: with the template's rows in
 * descending order, B for the next row starts one block earlier.
 *
 * The products of a step run while its warps slide the window sums and score the step before. They
 * are issued in pieces between that work, as the queue that takes them may be short. */
#define TC_TW 1024
#define TC_TH 8
#define TC_WARP_COLUMNS 256
#include "lcc/cuda/tensor/wide_score.cuh"

enum { BLOCK = 512, LEAST_STEPS = 2, MOST_STEPS = 4 }; // steps of k: 32 columns each
enum { SM_90_SHARED = 232448 };                        // bytes that a block may have
enum { FIXED = 256, MOST_BLOCKS = 2 }; // bytes that a block declares; an SM's blocks
enum { PIECES = 9 }; // of a step's products: one before the 8 rows of scores, one after each

/* more: add to d. Only the low words of the descriptors change: K-major, no swizzle; 128 bytes from
 * 8 lines of A to the next, 256 from 8 columns of B to the next. */
__device__ __forceinline__ void wgmma(int (&d)[16][4], unsigned a, unsigned b, int more)
{
#define R4(i) "+r"(d[i][0]), "+r"(d[i][1]), "+r"(d[i][2]), "+r"(d[i][3])
    asm volatile("{.reg .pred p; .reg .b64 a, b; setp.ne.s32 p, %66, 0; mov.b64 a, {%64, 8}; "
                 "mov.b64 b, {%65, 16}; "
                 "wgmma.mma_async.sync.aligned.m64n128k32.s32.u8.u8 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, "
                 "%18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33, "
                 "%34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, "
                 "%50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, a, b, p;}"
                 : R4(0), R4(1), R4(2), R4(3), R4(4), R4(5), R4(6), R4(7), R4(8), R4(9), R4(10),
                   R4(11), R4(12), R4(13), R4(14), R4(15)
                 : "r"(a), "r"(b), "r"(more));
#undef R4
}

/* Blocks of a step of k; the next step's are h + 7 blocks on: 7 zero blocks stand before and after
 * each, for the rows that the first and last products reach beyond. */
__host__ __device__ __forceinline__ int wide_blocks(int h, int steps)
{
    return (h + 7) * steps + 7;
}

/* The products of 8 rows of the map, from the ring's row r on, in PIECES pieces. */
template <int STEPS>
struct wide_products {
    unsigned a, b, wrap; // in 16 bytes
    int ring_bytes, step_bytes, rows, row = 0;

    __device__ __forceinline__ wide_products(const wide_ring<STEPS> &ring, int r, unsigned frag,
                                             int h)
    {
        /* the low words: address, and the bytes to the second half of k */
        a = ring.row(r) >> 4 | 16 / 16 << 16;
        b = frag + (h + 6) * BLOCK >> 4 | 128 / 16 << 16;
        wrap = (ring.rows + ring.count * ring.ROW) >> 4 | 16 / 16 << 16;
        ring_bytes = ring.count * (ring.ROW / 16);
        step_bytes = (h + 7) * (BLOCK / 16);
        rows = h + 7;
    }

    /* Rows before a piece; none is before the first alone. */
    __device__ __forceinline__ int before(int piece) const
    {
        return (rows * piece + PIECES - 1) / PIECES;
    }

    __device__ __forceinline__ void issue(int (&acc)[16][4], int to)
    {
        int more = to > 1;
#pragma unroll 1
        for (int end = before(to); row < end; row++) { // a group each: wgmma.cu
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int k = 0; k < STEPS; k++, more = 1)
                wgmma(acc, a + 2 * k, b + k * step_bytes, more);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            a += wide_ring<STEPS>::ROW / 16;
            a = a < wrap ? a : a - ring_bytes;
            b -= BLOCK / 16;
        }
    }
};

template <int STEPS, bool MAP>
static __global__ void __launch_bounds__(TC_THREADS, 1) wide_kernel(tm_tensor_job j, tc_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tc_best bests[TC_THREADS / 32];
    int h = j.height, warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    unsigned frag = (unsigned)__cvta_generic_to_shared(smem);
    wide_ring<STEPS> ring = {frag + wide_blocks(h, STEPS) * BLOCK, wide_rows(h), 0};
    unsigned planes = ring.rows + ring.count * ring.ROW;

    tc_wait_for_launches();
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int left = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x) - t;
    for (int i = threadIdx.x; i < wide_blocks(h, STEPS) * BLOCK / 16; i += TC_THREADS)
        tc_copy16(frag + 16 * i, (const uint4 *)j.fragments + i);
    wide_sums<STEPS> slide(j.width, warp);
    wide_template tmpl = {j.width * h, -j.templates->sum, -128 * j.templates->sum,
                          j.templates->variance};
    tc_best best = {0, INT_MIN};
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    for (; left > 0; tx++, ty = 0) { // the steps of one strip
        int steps = min(left, p.tiles_y - ty), x = tx * TW, y = ty * TH, at = x + 256 * warp,
            cols = max(0, min(256, (int)j.map_width - at));
        left -= steps;
        ring.first = 0;
        __syncthreads();
        for (int r = 0; r < ring.count; r += 8)
            ring.stage(r, j, x, y + r);
        int sums[16][4];
#pragma unroll
        for (int i = 0; i < 64; i++)
            sums[i / 4][i & 3] = 0;
        /* Scores of the 8 rows from row on, the ring's first, and products of the next 8. */
        const int last = y + 8 * (steps - 1);
        for (int row = y - 8; row <= last; row += 8) {
            int acc[16][4], running_best = __ldcg(j.running_bests);
            const bool fresh = row < y, more = row < last;
            tc_copy_wait();
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
            wide_products<STEPS> products(ring, fresh ? 0 : 8, frag, h);
            if (more)
                products.issue(acc, 1);
            if (!fresh) {
                auto next = [&](int quarter) { // of the quarters of 8 rows
                    if (quarter % 4 == 3 && more)
                        products.issue(acc, quarter / 4 + 2);
                };
                int rows = min(8, (int)j.map_height - row);
                wide_difference_planes<STEPS>(ring, planes, h);
                __syncthreads();
                /* the same for all warps: they have to meet at each wgmma */
                if (x + TW > j.map_width || rows < 8 ||
                    (MAP && ((j.map_width & 1) || ((size_t)j.map & 7))))
                    wide_score<STEPS, MAP, true>(sums, slide, ring, planes, j, tmpl, running_best,
                                                 best, at, row, cols, rows, next);
                else
                    wide_score<STEPS, MAP, false>(sums, slide, ring, planes, j, tmpl, running_best,
                                                  best, at, row, cols, rows, next);
                __syncthreads();
                if (row + 8 < last)
                    ring.stage(0, j, x, row + ring.count);
                ring.step();
            } else {
                slide.start(ring, planes, h,
                            [&](int quarter) { products.issue(acc, 1 + (quarter + 1) * 2); });
            }
            asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#pragma unroll
            for (int i = 0; i < 64; i++) {
                asm volatile("" : "+r"(acc[i / 4][i & 3])::"memory"); // no use moves up
                sums[i / 4][i & 3] = acc[i / 4][i & 3] + tmpl.base;
            }
        }
    }
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tc_peaks<TM_TENSOR_LCC>(j, bests);
}

/* For each step of k, blocks of 16 shifts x 32 bytes of k, in the order of the core matrices; rows
 * descending. */
static __global__ void wide_fragments(uint8_t *frag, const uint8_t *tmpl, int w, int h, int steps)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < wide_blocks(h, steps) * BLOCK;
         i += gridDim.x * blockDim.x) {
        int k = i / BLOCK / (h + 7), r = h + 6 - i / BLOCK % (h + 7),
            c = i / 256 % 2 * 8 + i / 16 % 8, x = 32 * k + i / 128 % 2 * 16 + i % 16 - c;
        frag[i] = k < steps && r < h && x >= 0 && x < w ? tmpl[r * w + x] : 0;
    }
}

static int wide_steps(int w)
{
    return (w + 15 + 31) / 32;
}

static size_t shared_bytes(int w, int h)
{
    const int steps = wide_steps(w);
    return (size_t)wide_blocks(h, steps) * BLOCK +
           (size_t)(wide_rows(h) + WIDE_PLANES) * (TW - 16 + 32 * steps);
}

/* 0: not for this kernel */
size_t tc_wide_frag_bytes(int w, int h)
{
    const int steps = wide_steps(w);
    if (steps < LEAST_STEPS || steps > MOST_STEPS || h > WIDE_MOST_ROWS ||
        shared_bytes(w, h) > SM_90_SHARED - FIXED)
        return 0;
    return (size_t)wide_blocks(h, steps) * BLOCK;
}

cudaError_t tc_wide_prepare(void *frag, const uint8_t *tmpl, int w, int h, cudaStream_t stream)
{
    wide_fragments<<<64, 256, 0, stream>>>((uint8_t *)frag, tmpl, w, h, wide_steps(w));
    return cudaGetLastError();
}

template <int STEPS>
static cudaError_t launch(const tm_tensor_job &j, const tc_plan &p, int sms, size_t smem_max,
                          cudaStream_t stream)
{
    return tc_start(j.map ? wide_kernel<STEPS, true> : wide_kernel<STEPS, false>, j, p, TC_THREADS,
                    shared_bytes(j.width, j.height), FIXED, MOST_BLOCKS, sms, smem_max, true,
                    stream);
}

/* Whether this takes less time than mma, as measured on an H200: where every block has steps enough
 * for what its start takes, and not too many products are of zeros beside the template or of
 * windows beyond the map. A map takes longer to write than with mma where an SM has one block
 * alone. */
static bool pays(const tm_tensor_job &j, bool map, const tc_plan &p, int sms, size_t smem_max)
{
    const double w = j.width, h = j.height, tiles = (double)j.map_width * j.map_height / (TW * TH),
                 share = w * h / (32 * wide_steps(j.width) * (h + 7));
    const int fit = tc_fit(shared_bytes(j.width, j.height) + FIXED, MOST_BLOCKS, smem_max);
    return tiles >= 1.5 * fit * sms && tiles >= 0.7 * p.tiles &&
           share >= (!map      ? 0.3
                     : fit > 1 ? 0.4
                               : 0.6);
}

static bool takes(const tm_tensor_job &j, bool map, tc_plan *p, int sms, size_t smem_max,
                  bool always)
{
    return j.outcome == TM_TENSOR_LCC && j.count == 1 && tc_wide_frag_bytes(j.width, j.height) &&
           max(j.map_width, j.map_height) <= 1 << 30 && tc_cover(p, j, TW, TH) &&
           (always || pays(j, map, *p, sms, smem_max));
}

bool tc_wide_takes(const tm_tensor_job &j, bool map, int sms, size_t smem_max, bool always)
{
    tc_plan p = {};
    return takes(j, map, &p, sms, smem_max, always);
}

cudaError_t tc_wide_launch(tm_tensor_job j, int sms, size_t smem_max, bool always,
                           cudaStream_t stream)
{
    tc_plan p = {};
    const int steps = wide_steps(j.width);
    if (!j.wide || !takes(j, j.map != NULL, &p, sms, smem_max, always))
        return cudaErrorNotSupported;
    j.fragments = j.wide;
    auto run = steps == 2 ? launch<2> : steps == 3 ? launch<3> : launch<4>;
    return run(j, p, sms, smem_max, stream);
}
