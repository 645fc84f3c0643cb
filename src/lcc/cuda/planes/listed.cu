/* SPDX-License-Identifier: MIT */
/* Exact scores of the windows of 16-bit gray that the score with a rounded template leaves. */
#include "lcc/cuda/planes/score.cuh"

/* Mostly a handful of windows is left, one to a block: then what counts is how long one takes, so blocks are large. */
#define THREADS 512
#define WARPS (THREADS / 32)
#define MOST 96 /* windows that a block scores; where there are more, all windows are scored in less time */

/* A window's exact sums, of a thread, a warp or a block. */
struct window_sums {
    uint64_t ft, ff;
    uint32_t f[1];

    __device__ __forceinline__ void add(const window_sums &other)
    {
        ft += other.ft, ff += other.ff, f[0] += other.f[0];
    }
};

/* Those of a thread's part: a warp takes every sixteenth row of the template, of at most 128 columns. */
template <bool PIXELS>
static __device__ __forceinline__ window_sums own_sums(const tm_planes_score &c, const uint8_t *low, const uint8_t *high,
                                                       int64_t position)
{
    enum { APART = PIXELS ? 2 : 1 }; // of neighbouring samples' bytes
    const int64_t pitch = (int64_t)c.planes.pitch, to_high = PIXELS ? 1 : c.planes.rows * pitch;
    const int lane = threadIdx.x % 32;
    const uint8_t *window = c.planes.data + position / c.map_width * pitch + APART * (position % c.map_width + lane);
    window_sums sums = {};

#pragma unroll 2
    for (int y = threadIdx.x / 32; y < c.height; y += WARPS) {
        const uint8_t *at = window + y * pitch;
        const int tap = y * c.width + lane;
#pragma unroll
        for (int x = 0; x < 128; x += 32) {
            if (lane + x < c.width) {
                const uint32_t f = __ldg(at + APART * x) | __ldg(at + APART * x + to_high) << 8;
                const uint32_t t = __ldg(low + tap + x) | __ldg(high + tap + x) << 8;
                sums.add({f * t, f * f, {f}});
            }
        }
    }
    return sums;
}

/* The block's, in thread 0. */
static __device__ __forceinline__ window_sums block_sums(window_sums sums)
{
    __shared__ window_sums warps[WARPS];

    for (int lanes = 16; lanes; lanes /= 2)
        sums.add({__shfl_xor_sync(~0u, (unsigned long long)sums.ft, lanes),
                  __shfl_xor_sync(~0u, (unsigned long long)sums.ff, lanes), {__shfl_xor_sync(~0u, sums.f[0], lanes)}});
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sums;
    __syncthreads();
    for (int i = 1; threadIdx.x == 0 && i < WARPS; i++)
        sums.add(warps[i]);
    __syncthreads();
    return sums;
}

/* Whether this is the last of the blocks to come here; what they wrote before can be read. */
static __device__ __forceinline__ bool is_last(unsigned *done)
{
    __shared__ bool last;

    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(done, 1u) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    return last;
}

template <bool PIXELS>
static __global__ void __launch_bounds__(THREADS, TM_LISTED_AT_ONCE)
    listed_kernel(const __grid_constant__ tm_planes_score c, const uint8_t *low, const uint8_t *high, tm_candidate *out)
{
    __shared__ unsigned wanted[THREADS];
    __shared__ int count;
    tm_candidate best = TM_NO_CANDIDATE;
    int scored = 0;

    if (threadIdx.x == 0)
        count = 0;
    tm_early_begin();
    const unsigned long long listed = __ldcg(&c.list.found->listed);
    const int least = tm_list_least(c.list, __ldcg(&c.list.found->best));
    for (unsigned first = 0; first < listed && listed <= TM_PLANES_LISTED && scored <= MOST; first += gridDim.x * THREADS) {
        const unsigned i = first + threadIdx.x * gridDim.x + blockIdx.x; // neighbours in the list may both be wanted
        __syncthreads();
        if (i < listed) {
            const tm_listed entry = c.list.of[i];
            if (entry.order >= least)
                wanted[atomicAdd(&count, 1)] = entry.position;
        }
        __syncthreads();
        scored += count;
        for (int k = 0; k < count && scored <= MOST; k++) {
            const int64_t position = wanted[k];
            const window_sums sums = block_sums(own_sums<PIXELS>(c, low, high, position));
            float num, var;
            tm_centre(c, sums.ft, sums.ff, sums.f, &num, &var);
            const tm_candidate candidate = {tm_lcc_order(c, num, var), position};
            if (threadIdx.x == 0 && tm_candidate_beats(candidate, best))
                best = candidate;
        }
        __syncthreads();
        if (threadIdx.x == 0)
            count = 0;
    }
    if (threadIdx.x == 0)
        c.candidates[blockIdx.x] = listed <= TM_PLANES_LISTED && scored <= MOST ? best : (tm_candidate)TM_TOO_MANY_LEFT;
    if (!is_last(&c.list.found->done))
        return;
    for (unsigned i = threadIdx.x; i < gridDim.x; i += THREADS) {
        const tm_candidate candidate = {__ldcg(&c.candidates[i].value), __ldcg(&c.candidates[i].position)};
        if (tm_candidate_beats(candidate, best))
            best = candidate;
    }
    best = tm_block_best<THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0) {
        *out = best;
        *c.list.found = TM_NOTHING_FOUND;
    }
}

cudaError_t tm_listed_launch(const tm_planes_score *band, bool pixels, const uint8_t *low, const uint8_t *high,
                             tm_candidate *best, cudaStream_t stream)
{
    const auto kernel = pixels ? listed_kernel<true> : listed_kernel<false>;
    return tm_early_launch(kernel, tm_listed_blocks(band->multiprocessors), THREADS, 0, band->early, stream, *band, low, high,
                           best);
}
