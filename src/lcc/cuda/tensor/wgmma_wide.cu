/* SPDX-License-Identifier: MIT */
/* LCC on the integer tensor cores, wgmma (sm_90a): one template wider than 25 columns, whose
 * fragments fit in shared memory beside the frame rows of a step. Where its products take long,
 * wgmma_tall.cu takes it.
 *
 * A block is one warpgroup. It goes down a column of tiles, each 1024 columns and 8 rows of the
 * map, which is a step, over a ring of frame rows as they are (wide_products.cuh).
 *
 * The tensor cores make the products of a step while its warps make the window sums and scores of
 * the step before. The products are issued in batches between that work, because the queue that
 * takes them may be short. */
#define TM_TENSOR_TILE_WIDTH 1024
#define TM_TENSOR_TILE_HEIGHT 8
#define TM_TENSOR_WARP_WIDTH 256
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/wide_products.cuh"
#include "lcc/cuda/tensor/wide_score.cuh"

enum { SM_90_SHARED = 232448 }; // bytes that a block may have
enum { FIXED = 256 };           // bytes that a block declares
enum { MOST_BLOCKS = 2 };       // on a multiprocessor
enum { BATCHES = 9 }; // of a step's products: one before the 8 rows of scores, one after each

template <int STEPS, bool ODD, bool MAP>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, 1)
    wide_kernel(tm_tensor_job j, tm_tensor_plan p)
{
    extern __shared__ __align__(128) uint8_t smem[];
    __shared__ tm_tensor_best bests[TM_TENSOR_THREADS / 32];
    int h = j.height, warp = __shfl_sync(~0u, threadIdx.x / 32, 0);
    unsigned frag = (unsigned)__cvta_generic_to_shared(smem);
    tm_wide_ring<STEPS> ring = {frag + tm_wide_blocks(h, STEPS) * TM_WIDE_BLOCK, tm_wide_rows(h), 0};
    unsigned planes = ring.rows + ring.count * ring.ROW;

    tm_early_begin();
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int left = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x) - t;
    for (int i = threadIdx.x; i < tm_wide_blocks(h, STEPS) * TM_WIDE_BLOCK / 16; i += TM_TENSOR_THREADS)
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
            tm_wgmma_publish();
            __syncthreads();
            tm_wide_products<STEPS, ODD> products(ring.row(fresh ? 0 : 8), ring.rows, ring.count * ring.ROW, frag, h);
            /* a step's products in batches */
            auto issue = [&](int batches) {
                const int rows = ((h + 7) * batches + BATCHES - 1) / BATCHES;
                products.issue(acc, ODD ? min(h + 7, (rows + 1) / 2 * 2) : rows);
            };
            if (more)
                issue(1);
            if (!fresh) {
                auto next = [&](int quarter) { // of a row's work, counted over 8 rows
                    if (quarter % 4 == 3 && more)
                        issue(quarter / 4 + 2);
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
                                  [&](int quarter) { issue(1 + (quarter + 1) * 2); });
            }
            tm_wgmma_wait();
            tm_wgmma_keep(acc);
#pragma unroll
            for (int i = 0; i < 64; i++)
                sums[i / 4][i & 3] = acc[i / 4][i & 3] + tmpl.base;
        }
    }
    if (threadIdx.x % 32 == 0)
        bests[warp] = best;
    tm_tensor_write_bests<TM_TENSOR_LCC>(j, bests);
}

/* The fragments of B: for each step of k and each template row, from the last to the first, a block
 * of 16 shifts x 32 bytes of k, in the order of the core matrices. Where a step takes two rows, its
 * blocks have a row's unit and that of the row below. */
static __global__ void wide_fragments(uint8_t *frag, const uint8_t *tmpl, int w, int h)
{
    const int steps = tm_wide_steps(w), odd = tm_wide_units(w) & 1;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < tm_wide_blocks(h, steps) * TM_WIDE_BLOCK;
         i += gridDim.x * blockDim.x) {
        const int block = i / TM_WIDE_BLOCK, k = min(block / (h + 7), steps - 1), half = i / 128 % 2;
        const bool two_rows = odd && k == steps - 1;
        const int r = h + 6 - (block - k * (h + 7)) + (two_rows ? half : 0);
        const int c = i / 256 % 2 * 8 + i / 16 % 8, x = 32 * k + (two_rows ? 0 : 16 * half) + i % 16 - c;
        frag[i] = r >= 0 && r < h && x >= 0 && x < w ? tmpl[r * w + x] : 0;
    }
}

size_t tm_wide_fragment_bytes(int width, int height)
{
    return (size_t)tm_wide_blocks(height, tm_wide_steps(width)) * TM_WIDE_BLOCK;
}

cudaError_t tm_wide_prepare(void *fragments, const uint8_t *taps, int width, int height,
                            cudaStream_t stream)
{
    return TM_LAUNCH(wide_fragments<<<64, 256, 0, stream>>>((uint8_t *)fragments, taps, width, height));
}

static tm_tensor_block block_of(const tm_tensor_job &j)
{
    const int steps = tm_wide_steps(j.width);
    const size_t row = tm_wide_row(2 * steps);
    return {(size_t)tm_wide_blocks(j.height, steps) * TM_WIDE_BLOCK + (tm_wide_rows(j.height) + TM_WIDE_PLANES) * row,
            FIXED, MOST_BLOCKS};
}

template <int STEPS, bool ODD>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_job &j,
                          const tm_tensor_plan &p, cudaStream_t stream)
{
    return tm_tensor_start(device, j.map ? wide_kernel<STEPS, ODD, true> : wide_kernel<STEPS, ODD, false>,
                           j, p, block_of(j), true, stream);
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
    const double of_template = w * h / (32 * tm_wide_steps(j.width) * (h + 7));
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
           tm_wide_has_form(j.width) && j.height <= TM_WIDE_MOST_ROWS &&
           block_of(j).shared <= SM_90_SHARED - FIXED && max(j.map_width, j.map_height) <= 1 << 30 &&
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
    if (!j.wide_fragments || !takes(device, j, j.map != NULL, &p))
        return cudaErrorNotSupported;
    j.fragments = j.wide_fragments;
    return tm_wide_of_units(tm_wide_units(j.width), [&](auto form) {
        return launch<decltype(form)::STEPS, decltype(form)::ODD>(device, j, p, stream);
    });
}
