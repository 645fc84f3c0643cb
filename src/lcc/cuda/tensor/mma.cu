/* SPDX-License-Identifier: MIT */
/* S_FT and LCC on the integer tensor cores, mma.sync (sm_80 and later).
 *
 * A warp makes 8 rows x 128 columns. For one of the rows, the A operand's line m is the frame's
 * bytes from x0 + 8m on, and B[k][c] = T[r][k - c], so that their product is template row r's share
 * of the 128 sums S_FT at x0 + 8m + c. */

/* Built twice: with TC_WIDE for several templates in a launch, where tiles of 512 x 16 keep what
 * two blocks an SM read of the templates in L1. */
#ifdef TC_WIDE
#define TC_TW 512
#define TC_TH 16
#define TC_LAUNCH tc_mma_wide_launch
#else
#define TC_LAUNCH tc_mma_launch
#endif
#include "lcc/cuda/tensor/products.cuh"
#include "lcc/cuda/tensor/windows.cuh"

enum { NARROW_PITCH = ((TW + 27) / 4 + 1) | 1 };

/* NARROW: w <= 25 and, for LCC, h <= 31; strides known when compiled. MAP, PACK, BIG: LCC only. */
template <tm_tensor_outcome OUTCOME, bool MAP, bool NARROW, bool PACK, bool BIG>
static __global__ void __launch_bounds__(TC_THREADS, PER_SM) mma_kernel(tm_tensor_job j, tc_plan p)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    if (NARROW)
        p.row_bytes = TW + 32, p.sums_pitch = NARROW_PITCH;
    p.win_pitch = TW / 2 + 1;
    extern __shared__ __align__(128) uint8_t smem[];
    const bool lcc = OUTCOME == TM_TENSOR_LCC;
    uint4 *sums = (uint4 *)smem, *state = sums + TH * max(p.sums_pitch, p.win_pitch);
    uint8_t *tile = lcc ? (uint8_t *)(state + (PACK ? 1 : 2) * p.words) : smem;
    tc_best *best = (tc_best *)(tile + (TH + j.height - 1) * p.row_bytes);

    int lane = threadIdx.x & 31, warp = threadIdx.x / 32, wx = warp % (TW / 128),
        wy = warp / (TW / 128);
    int n = j.width * j.height, units = (j.width + 7 + 15) / 16;
    int t = (int)((int64_t)p.tiles * blockIdx.x / gridDim.x);
    int end = (int)((int64_t)p.tiles * (blockIdx.x + 1) / gridDim.x);
    int tx = t / p.tiles_y, ty = t % p.tiles_y;
    tc_stage(tile, j.frame, j.pitch, j.height, p, tx, ty);
    for (int k = threadIdx.x; k < TC_THREADS / 32 * j.count; k += TC_THREADS)
        best[k].order = INT_MIN, best[k].pos = 0;
    best += warp * j.count;
    for (bool fresh = true; t < end; t++) {
        fresh |= ty == 0;
        int64_t x = (int64_t)tx * TW + 128 * wx, y = (int64_t)ty * TH + 8 * wy;
        if (++ty == p.tiles_y)
            ty = 0, tx++;
        tc_copy_wait();
        __syncthreads();
        if (lcc) {
            tc_column_sums<PACK>(tile, sums, state, j.height, p, fresh);
            fresh = false;
            __syncthreads();
            tc_window_sums<PACK, BIG, NARROW>(sums, j.width, n, p);
        }
        for (int k = 0; k < j.count; k++) {
            int acc[8][4], running_best = lcc || j.best ? __ldcg(j.running_bests + k) : 0;
            tm_tensor_template tmpl = {};
            if (lcc)
                tmpl = j.templates[k];
            int start = lcc && PACK ? -128 * tmpl.sum : 0;
#pragma unroll
            for (int i = 0; i < 32; i++)
                acc[i / 4][i & 3] = start;
            const uint8_t *row =
                tile + 8 * wy * p.row_bytes + 128 * wx + 8 * (lane / 4) + 4 * (lane & 3);
            const uint2 *b = (const uint2 *)j.fragments + (size_t)k * units * j.height * 16 + lane;
            bool inside = x < j.map_width && y < j.map_height; // all of the warp
            for (int u = 0; inside && u < units / 2; u++, b += 32 * j.height)
                tc_products<!NARROW>(acc, row + 32 * u, p.row_bytes, b, j.height, lane);
            if (inside && (units & 1))
                tc_products<!NARROW>(acc, row + 32 * (units / 2), p.row_bytes,
                                     (const unsigned *)(b - lane) + lane, j.height, lane);
            if (k == 0 || k == j.count - 1)
                __syncthreads();
            if (k == j.count - 1 && t + 1 < end)
                tc_stage(tile, j.frame, j.pitch, j.height, p, tx, ty);
            if (lcc)
                tc_finish<MAP, BIG>(acc, sums + wy * tc_region(p) + 64 * wx, p.win_pitch, j, tmpl,
                                    n, k, running_best, best + k, x, y);
            else
                tc_finish_sums(acc, j, k, running_best, best[k], x, y);
        }
    }
    tc_peaks<OUTCOME>(j, best - warp * j.count);
#endif
}

#ifndef TC_WIDE
/* B fragments: for each template and step of k, h rows of 32 lanes. */
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

cudaError_t tc_reset(int *running_best, int k, cudaStream_t stream)
{
    reset_running_bests<<<1, 256, 0, stream>>>(running_best, k);
    return cudaGetLastError();
}

size_t tc_mma_frag_bytes(int w, int h, int k)
{
    return (size_t)k * ((w + 22) / 16) * h * 128;
}

/* tmpl: k templates, dense, in device memory */
cudaError_t tc_mma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int k,
                           cudaStream_t stream)
{
    mma_fragments<<<256, 256, 0, stream>>>((unsigned *)frag, tmpl, w, h, k);
    return cudaGetLastError();
}
#endif

template <tm_tensor_outcome OUTCOME, bool MAP, bool NARROW, bool PACK, bool BIG>
static cudaError_t launch(const tm_tensor_job &j, tc_plan p, int sms, size_t smem_max,
                          cudaStream_t stream)
{
    if (NARROW)
        p.row_bytes = TW + 32, p.sums_pitch = NARROW_PITCH;
    else
        p.sums_pitch = (PACK ? p.words + 1 : 2 * p.words + 1) | 1;
    p.win_pitch = TW / 2 + 1;
    size_t smem =
        (size_t)(TH + j.height - 1) * p.row_bytes + sizeof(tc_best) * TC_THREADS / 32 * j.count;
    if (OUTCOME == TM_TENSOR_LCC)
        smem += sizeof(uint4) * (TH * max(p.sums_pitch, p.win_pitch) + (PACK ? 1 : 2) * p.words);
    return tc_start(mma_kernel<OUTCOME, MAP, NARROW, PACK, BIG>, j, p, TC_THREADS, smem, 256,
                    PER_SM, sms, smem_max, false, stream);
}

template <bool MAP>
static cudaError_t launch_lcc(const tm_tensor_job &j, const tc_plan &p, int sms, size_t smem_max,
                              cudaStream_t stream)
{
    bool big = (int64_t)j.width * j.height > 33025, pack = j.height <= 31;
    auto run = big                     ? launch<TM_TENSOR_LCC, MAP, false, false, true>
               : pack && j.width <= 25 ? launch<TM_TENSOR_LCC, MAP, true, true, false>
               : pack                  ? launch<TM_TENSOR_LCC, MAP, false, true, false>
                                       : launch<TM_TENSOR_LCC, MAP, false, false, false>;
    return run(j, p, sms, smem_max, stream);
}

cudaError_t TC_LAUNCH(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream)
{
    tc_plan p = {};
    if ((int64_t)j.width * j.height > TM_TENSOR_TAPS || !tc_cover(&p, j, TW, TH))
        return cudaErrorNotSupported;
    p.row_bytes = TW + (j.width + 22) / 16 * 16;
    p.words = (TW + j.width + 2) / 4;
    if (j.outcome == TM_TENSOR_SUMS) {
        auto run = j.width <= 25 ? launch<TM_TENSOR_SUMS, false, true, true, false>
                                 : launch<TM_TENSOR_SUMS, false, false, true, false>;
        return run(j, p, sms, smem_max, stream);
    }
    return (j.map ? launch_lcc<true> : launch_lcc<false>)(j, p, sms, smem_max, stream);
}
