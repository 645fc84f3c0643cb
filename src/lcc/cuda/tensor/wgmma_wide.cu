/* SPDX-License-Identifier: MIT */
/* LCC on the integer tensor cores, wgmma (sm_90a): one template wider than 25 columns, whose
 * fragments fit in shared memory beside the frame rows of a step.
 *
 * A block is one warpgroup. It goes down a column of tiles, each 1024 columns and 8 rows of the
 * map, which is a step, over a ring of frame rows as they are: A's line m is the frame's bytes from
 * x0 + 16m on. Column 16j + c of B is T[y - j] shifted by c, for the frame's row y. The template's
 * rows stand in descending order, so B for the next row begins one block earlier.
 *
 * The tensor cores make the products of a step while its warps make the window sums and scores of
 * the step before. The products are issued in batches between that work, because the queue that
 * takes them may be short. */
#define TM_TENSOR_TILE_WIDTH 1024
#define TM_TENSOR_TILE_HEIGHT 8
#define TM_TENSOR_WARP_WIDTH 256
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/wgmma_product.cuh"
#include "lcc/cuda/tensor/wide_score.cuh"

enum { BLOCK = 512 };                     // bytes of B for a template row: 16 shifts x 32 of k
enum { LEAST_STEPS = 2, MOST_STEPS = 4 }; // of k, 32 columns of the template each
enum { SM_90_SHARED = 232448 };           // bytes that a block may have
enum { FIXED = 256, MOST_BLOCKS = 2 };    // bytes that a block declares; on a multiprocessor
enum { BATCHES = 9 }; // of a step's products: one before the 8 rows of scores, one after each

/* The blocks of B. Those of the next step of k stand h + 7 blocks on: before and after each step's
 * there are 7 blocks of zeros, because the first and the last frame rows meet fewer than 8 rows of
 * the map. */
__host__ __device__ __forceinline__ int wide_blocks(int h, int steps)
{
    return (h + 7) * steps + 7;
}

/* The products of a step, from the ring's row r on, in batches. */
template <int STEPS>
struct wide_products {
    unsigned a, b, wrap; // low words of descriptors: addresses in units of 16 bytes
    int ring_bytes, step_bytes, rows, row = 0;

    __device__ __forceinline__ wide_products(const tm_wide_ring<STEPS> &ring, int r, unsigned frag,
                                             int h)
    {
        /* with the bytes to the second half of k, likewise */
        a = ring.row(r) >> 4 | 16 / 16 << 16;
        b = frag + (h + 6) * BLOCK >> 4 | 128 / 16 << 16;
        wrap = (ring.rows + ring.count * ring.ROW) >> 4 | 16 / 16 << 16;
        ring_bytes = ring.count * (ring.ROW / 16);
        step_bytes = (h + 7) * (BLOCK / 16);
        rows = h + 7;
    }

    /* The frame rows before a batch. */
    __device__ __forceinline__ int before(int batch) const
    {
        return (rows * batch + BATCHES - 1) / BATCHES;
    }

    /* Issues what is left of the batches before this one. */
    __device__ __forceinline__ void issue(int (&acc)[16][4], int to)
    {
        int more = to > 1;
#pragma unroll 1
        for (int end = before(to); row < end; row++) { // each is a group: see wgmma.cu
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
            for (int k = 0; k < STEPS; k++, more = 1)
                tm_wgmma(acc, a + 2 * k, b + k * step_bytes, more);
            asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
            a += tm_wide_ring<STEPS>::ROW / 16;
            a = a < wrap ? a : a - ring_bytes;
            b -= BLOCK / 16;
        }
    }
};

template <int STEPS, bool MAP>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    wide_kernel(tm_tensor_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_THREADS / 32];
    int h = j.height, warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    unsigned frag = (unsigned)__cvta_generic_to_shared(smem);
    tm_wide_ring<STEPS> ring = {frag + wide_blocks(h, STEPS) * BLOCK, tm_wide_rows(h), 0};
    unsigned planes = ring.rows + ring.count * ring.ROW;

    tm_early_begin();
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int left = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x) - t;
    for (int i = threadIdx.x; i < wide_blocks(h, STEPS) * BLOCK / 16; i += TM_TENSOR_THREADS)
        tm_copy16(frag + 16 * i, (const uint4 *)j.fragments + i);
    tm_wide_sums<STEPS> window_sums(j.width, warp);
    tm_wide_template tmpl = {j.width * h, -j.templates->sum, -128 * j.templates->sum,
                             j.templates->variance};
    tm_tensor_best best = {0, INT_MIN};
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    for (; left > 0; tx++, ty = 0) { // the steps of one column of tiles
        int steps = min(left, p.tiles_y - ty), x = tx * TILE_WIDTH, y = ty * TILE_HEIGHT,
            at = x + 256 * warp, cols = max(0, min(256, (int)j.map_width - at));
        left -= steps;
        ring.first = 0;
        __syncthreads();
        for (int r = 0; r < ring.count; r += 8)
            ring.stage(r, j, x, y + r);
        int sums[16][4];
#pragma unroll
        for (int i = 0; i < 64; i++)
            sums[i / 4][i & 3] = 0;
        /* Each round makes the scores of the 8 rows from row on, whose frame rows are the ring's
         * first, and the products of the next 8. */
        const int last = y + 8 * (steps - 1);
        for (int row = y - 8; row <= last; row += 8) {
            int acc[16][4], running_best = __ldcg(j.running_bests);
            const bool fresh = row < y, more = row < last;
            tm_copy_wait();
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncthreads();
            wide_products<STEPS> products(ring, fresh ? 0 : 8, frag, h);
            if (more)
                products.issue(acc, 1);
            if (!fresh) {
                auto next = [&](int quarter) { // of a row's work, counted over 8 rows
                    if (quarter % 4 == 3 && more)
                        products.issue(acc, quarter / 4 + 2);
                };
                int rows = min(8, (int)j.map_height - row);
                tm_wide_differences<STEPS>(ring, planes, h);
                __syncthreads();
                /* the same form for all warps: they have to meet at each wgmma */
                if (x + TILE_WIDTH > j.map_width || rows < 8 ||
                    (MAP && ((j.map_width & 1) || ((size_t)j.map & 7))))
                    tm_wide_score<STEPS, MAP, true>(sums, window_sums, ring, planes, j, tmpl,
                                                    running_best, best, at, row, cols, rows, next);
                else
                    tm_wide_score<STEPS, MAP, false>(sums, window_sums, ring, planes, j, tmpl,
                                                     running_best, best, at, row, cols, rows, next);
                __syncthreads();
                if (row + 8 < last)
                    ring.stage(0, j, x, row + ring.count);
                ring.step();
            } else {
                window_sums.start(ring, planes, h,
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
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

/* The fragments of B: for each step of k and each template row, from the last to the first, a block
 * of 16 shifts x 32 bytes of k, in the order of the core matrices. */
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
           (size_t)(tm_wide_rows(h) + TM_WIDE_PLANES) * (TILE_WIDTH - 16 + 32 * steps);
}

size_t tm_wide_fragment_bytes(int width, int height)
{
    const int steps = wide_steps(width);
    if (steps < LEAST_STEPS || steps > MOST_STEPS || height > TM_WIDE_MOST_ROWS ||
        shared_bytes(width, height) > SM_90_SHARED - FIXED)
        return 0;
    return (size_t)wide_blocks(height, steps) * BLOCK;
}

cudaError_t tm_wide_prepare(void *fragments, const uint8_t *taps, int width, int height,
                            cudaStream_t stream)
{
    return TM_LAUNCH(wide_fragments<<<64, 256, 0, stream>>>((uint8_t *)fragments, taps, width, height,
                                           wide_steps(width)));
}

static tm_tensor_block block_of(const tm_tensor_job &j)
{
    return {shared_bytes(j.width, j.height), FIXED, MOST_BLOCKS};
}

template <int STEPS>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_job &j,
                          const tm_tensor_plan &p, cudaStream_t stream)
{
    return tm_tensor_start(device, j.map ? wide_kernel<STEPS, true> : wide_kernel<STEPS, false>, j,
                           p, block_of(j), true, stream);
}

/* Whether this takes less time than mma.cu, as measured on an H200: where every block has steps
 * enough for what its start takes, and not too many products are of zeros beside the template or of
 * windows beyond the map. A map takes longer to write than with mma.cu where a multiprocessor has
 * one block alone. */
static bool pays(const tm_tensor_device *device, const tm_tensor_job &j, bool map,
                 const tm_tensor_plan &p)
{
    const double w = j.width, h = j.height;
    const double tiles = (double)j.map_width * j.map_height / (TILE_WIDTH * TILE_HEIGHT);
    const double of_template = w * h / (32 * wide_steps(j.width) * (h + 7));
    const int fit = tm_tensor_fit(device, block_of(j));
    return tiles >= 1.5 * fit * device->multiprocessors && tiles >= 0.7 * p.tiles &&
           of_template >= (!map      ? 0.3
                           : fit > 1 ? 0.4
                                     : 0.6);
}

static bool takes(const tm_tensor_device *device, const tm_tensor_job &j, bool map,
                  tm_tensor_plan *p)
{
    return j.outcome == TM_TENSOR_LCC && j.count == 1 &&
           tm_wide_fragment_bytes(j.width, j.height) && max(j.map_width, j.map_height) <= 1 << 30 &&
           tm_tensor_cover(p, j) && (device->always_wide || pays(device, j, map, *p));
}

bool tm_wide_takes(const tm_tensor_device *device, const tm_tensor_job &j, bool map)
{
    tm_tensor_plan p = {};
    return takes(device, j, map, &p);
}

cudaError_t tm_wide_launch(const tm_tensor_device *device, tm_tensor_job j, cudaStream_t stream)
{
    tm_tensor_plan p = {};
    const int steps = wide_steps(j.width);
    if (!j.wide_fragments || !takes(device, j, j.map != NULL, &p))
        return cudaErrorNotSupported;
    j.fragments = j.wide_fragments;
    auto run = steps == 2 ? launch<2> : steps == 3 ? launch<3> : launch<4>;
    return run(device, j, p, stream);
}
