/* SPDX-License-Identifier: MIT */
/* S_FT and LCC on the integer tensor cores, mma.sync (sm_80 and later).
 *
 * A warp makes 8 rows x 128 columns. For one of the rows, A's line m is the frame's bytes from
 * x0 + 8m on, and B[k][c] = T[r][k - c], so that their product is what template row r adds to
 * the 128 sums S_FT at x0 + 8m + c. A block stages the frame rows of a tile in shared memory, makes the
 * sums S_F and S_FF of its windows there (window_sums.cuh), and then takes one template after the
 * other: its products (products.cuh), scores and the best of them (epilogue.cuh).
 *
 * The file is built twice: with TM_MMA_MANY for many templates in a launch, where larger tiles keep
 * in L1 what the two blocks of a multiprocessor read of the templates. */
#include "lcc/cuda/tensor/limits.h"
#ifdef TM_MMA_MANY
#define TM_TENSOR_TILE_WIDTH TM_MMA_MANY_TILE_WIDTH
#define TM_TENSOR_TILE_HEIGHT TM_MMA_TILE_HEIGHT
#define TM_MMA_LAUNCH tm_mma_many_launch
#else
#define TM_MMA_LAUNCH tm_mma_launch
#endif
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/tensor/products.cuh"
#include "lcc/cuda/tensor/window_sums.cuh"

/* NARROW: templates of w <= 25 and, for LCC, h <= 31, with strides that are known when compiled.
 * For LCC alone, MAP: there is a map; PACK: h <= 31, a column's sums share a word; BIG: n S_FT may
 * need more than 31 bits and a sign; LISTED: only tiles of the job's list are made, of one template. */
template <tm_tensor_outcome OUTCOME, bool MAP, bool NARROW, bool PACK, bool BIG, bool LISTED>
static __global__ void __launch_bounds__(TM_TENSOR_THREADS, MMA_BLOCKS)
    mma_kernel(tm_tensor_job j, tm_tensor_plan p)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (NARROW)
        p.row_bytes = TM_MMA_NARROW_ROW_BYTES(TILE_WIDTH),
        p.sums_pitch = TM_MMA_NARROW_SUMS_PITCH(TILE_WIDTH);
    p.win_pitch = TILE_WIDTH / 2 + 1;
    extern __shared__ __align__(128) uint8_t smem[];
    const bool lcc = OUTCOME == TM_TENSOR_LCC;
    uint4 *sums = (uint4 *)smem, *state = sums + TILE_HEIGHT * max(p.sums_pitch, p.win_pitch);
    uint8_t *tile = lcc ? (uint8_t *)(state + (PACK ? 1 : 2) * p.words) : smem;
    tm_tensor_best *best = (tm_tensor_best *)(tile + (TILE_HEIGHT + j.height - 1) * p.row_bytes);

    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, wx = warp % (TILE_WIDTH / 128),
        wy = warp / (TILE_WIDTH / 128);
    int n = j.width * j.height, units = (j.width + 7 + 15) / 16;
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    const int step = LISTED ? (int)gridDim.x : 1;
    if (LISTED) {
        tm_early_begin(); // the scores of survivors.cu count on it
        t = (int)blockIdx.x, end = (int)tm_tensor_listed(j.list);
        if (end == 0)
            return;
    }
    auto tile_of = [&](int i) { return LISTED ? (int)__ldcg(j.list.tiles + min(i, end - 1)) : i; };
    int tx = tile_of(t) / p.tiles_y, ty = tile_of(t) % p.tiles_y;
    if (!LISTED || t < end)
        tm_mma_stage(tile, j.frame, j.pitch, j.height, p, tx, ty);
    for (int k = threadIdx.x; k < TM_TENSOR_THREADS / 32 * j.count; k += TM_TENSOR_THREADS)
        best[k].order = INT_MIN, best[k].pos = 0;
    best += warp * j.count;
    for (bool fresh = true; t < end; t += step) {
        fresh |= LISTED || ty == 0;
        int64_t x = (int64_t)tx * TILE_WIDTH + 128 * wx, y = (int64_t)ty * TILE_HEIGHT + 8 * wy;
        const unsigned tile_number = LISTED ? (unsigned)tile_of(t) : 0,
                       parts = LISTED ? __ldcg(j.list.parts + tile_number / 8) >> tile_number % 8 * 4 : 0,
                       part = LISTED ? parts >> (2 * wy + wx) & 1 : 1;
        if (LISTED)
            tx = tile_of(t + step) / p.tiles_y, ty = tile_of(t + step) % p.tiles_y;
        else if (++ty == p.tiles_y)
            ty = 0, tx++;
        tm_copy_wait();
        __syncthreads();
        if (lcc) {
            tm_mma_column_sums<PACK>(tile, sums, state, j.height, p, fresh);
            fresh = false;
            __syncthreads();
            tm_mma_window_sums<PACK, BIG, NARROW>(sums, j.width, n, p);
        }
        for (int k = 0; k < j.count; k++) {
            int acc[8][4], running_best = lcc || j.best ? __ldcg(j.running_bests + k) : 0;
            tm_tensor_template tmpl = {};
            if (LISTED)
                running_best = max(running_best, (int)((unsigned)(__ldcg(j.list.best) >> 32) ^ 0x80000000u));
            if (lcc)
                tmpl = j.templates[k];
            int start = lcc && PACK ? -128 * tmpl.sum : 0;
#pragma unroll
            for (int i = 0; i < 32; i++)
                acc[i / 4][i & 3] = start;
            const uint8_t *row =
                tile + 8 * wy * p.row_bytes + 128 * wx + 8 * (lane / 4) + 4 * (lane & 3);
            const uint2 *b = (const uint2 *)j.fragments + (size_t)k * units * j.height * 16 + lane;
            bool inside = x < j.map_width && y < j.map_height && part; // the same for all of the warp
            for (int u = 0; inside && u < units / 2; u++, b += 32 * j.height)
                tm_mma_products<!NARROW>(acc, row + 32 * u, p.row_bytes, b, j.height, lane);
            if (inside && (units & 1))
                tm_mma_products<!NARROW>(acc, row + 32 * (units / 2), p.row_bytes,
                                         (const unsigned *)(b - lane) + lane, j.height, lane);
            if (k == 0 || k == j.count - 1)
                __syncthreads();
            if (k == j.count - 1 && t + step < end)
                tm_mma_stage(tile, j.frame, j.pitch, j.height, p, tx, ty);
            if (LISTED && !part)
                continue;
            if (lcc)
                tm_mma_finish<MAP, BIG>(acc, sums + wy * tm_mma_region(p) + 64 * wx, p.win_pitch, j,
                                        tmpl, n, k, running_best, best + k, x, y);
            else
                tm_tensor_finish_sums(acc, j, k, running_best, best[k], x, y);
        }
    }
    tm_tensor_write_bests<OUTCOME>(j, best - warp * j.count);
#endif
}

#ifndef TM_MMA_MANY
/* The fragments of B: for each template and each unit of k, which is 16 bytes of a template row, h
 * rows of 32 lanes. Two units that follow each other make a step of 32 bytes, and a lane's words of
 * both lie side by side; where the number of units is odd, the last is a step of 16 bytes. */
static __global__ void mma_fragments(unsigned *frag, const uint8_t *tmpl, int w, int h, int k)
{
    int units = (w + 7 + 15) / 16, words = units * h * 32;
    for (size_t i = blockIdx.x * blockDim.x + threadIdx.x; i < (size_t)k * words;
         i += gridDim.x * blockDim.x) {
        int e = (int)(i % words), u = e / (64 * h), wide = 2 * u + 1 < units, r, lane, x;
        e -= 64 * h * u;
        if (wide)
            r = e / 64, lane = e / 2 % 32, x = 32 * u + 4 * (lane & 3) + 16 * (e & 1);
        else
            r = e / 32, lane = e % 32, x = 32 * u + 4 * (lane & 3);
        unsigned v = 0;
        for (int b = 0; b < 4; b++) {
            int q = x + b - lane / 4;
            if (q >= 0 && q < w)
                v |= (unsigned)tmpl[(i / words * h + r) * w + q] << 8 * b;
        }
        frag[i] = v;
    }
}

static __global__ void reset_running_bests(int *running_best, int k)
{
    for (int i = threadIdx.x; i <= k; i += blockDim.x)
        running_best[i] = i < k ? INT_MIN : 0;
}

cudaError_t tm_mma_reset(int *running_bests, int count, cudaStream_t stream)
{
    return TM_LAUNCH(reset_running_bests<<<1, 256, 0, stream>>>(running_bests, count));
}

size_t tm_mma_fragment_bytes(int width, int height, int count)
{
    return (size_t)count * ((width + 22) / 16) * height * 128;
}

cudaError_t tm_mma_prepare(void *fragments, const uint8_t *taps, int width, int height, int count,
                           cudaStream_t stream)
{
    return TM_LAUNCH(mma_fragments<<<256, 256, 0, stream>>>((unsigned *)fragments, taps, width, height, count));
}
#endif

template <tm_tensor_outcome OUTCOME, bool MAP, bool NARROW, bool PACK, bool BIG, bool LISTED = false>
static cudaError_t launch(const tm_tensor_device *device, const tm_tensor_job &j, tm_tensor_plan p,
                          bool early, cudaStream_t stream)
{
    const tm_mma_layout l = tm_mma_layout_of(TILE_WIDTH, j.width, j.height, NARROW, PACK);
    p.row_bytes = l.row_bytes, p.words = l.words;
    p.sums_pitch = l.sums_pitch, p.win_pitch = l.win_pitch;
    tm_tensor_block block = {0, TM_MMA_FIXED_BYTES, MMA_BLOCKS};
    block.shared =
        (size_t)l.rows + sizeof(tm_tensor_best) * TM_TENSOR_THREADS / 32 * j.count;
    if (OUTCOME == TM_TENSOR_LCC)
        block.shared += (size_t)l.sums;
    return tm_tensor_start(device, mma_kernel<OUTCOME, MAP, NARROW, PACK, BIG, LISTED>, j, p, block, early,
                           stream);
}

template <bool MAP, bool LISTED = false>
static cudaError_t launch_lcc(const tm_tensor_device *device, const tm_tensor_job &j,
                              const tm_tensor_plan &p, bool early, cudaStream_t stream)
{
    const bool big = (int64_t)j.width * j.height > TM_MMA_SMALL_TAPS,
               pack = tm_mma_packs(j.width, j.height), narrow = tm_mma_is_narrow(j.width);
    auto run = big              ? launch<TM_TENSOR_LCC, MAP, false, false, true, LISTED>
               : pack && narrow ? launch<TM_TENSOR_LCC, MAP, true, true, false, LISTED>
               : pack           ? launch<TM_TENSOR_LCC, MAP, false, true, false, LISTED>
                                : launch<TM_TENSOR_LCC, MAP, false, false, false, LISTED>;
    return run(device, j, p, early, stream);
}

cudaError_t TM_MMA_LAUNCH(const tm_tensor_device *device, const tm_tensor_job &j,
                          cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if ((int64_t)j.width * j.height > TM_TENSOR_TAPS || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    if (j.outcome == TM_TENSOR_SUMS) {
        auto run = tm_mma_is_narrow(j.width) ? launch<TM_TENSOR_SUMS, false, true, true, false>
                                             : launch<TM_TENSOR_SUMS, false, false, true, false>;
        return run(device, j, p, false, stream);
    }
    return (j.map ? launch_lcc<true> : launch_lcc<false>)(device, j, p, false, stream);
}

#ifndef TM_MMA_MANY
cudaError_t tm_mma_listed_launch(const tm_tensor_device *device, const tm_tensor_job &j, bool early,
                                 cudaStream_t stream)
{
    tm_tensor_plan p = {};
    if ((int64_t)j.width * j.height > TM_TENSOR_TAPS || !tm_tensor_cover(&p, j))
        return cudaErrorNotSupported;
    return launch_lcc<false, true>(device, j, p, early, stream);
}
#endif
