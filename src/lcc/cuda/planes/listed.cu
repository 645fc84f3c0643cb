/* SPDX-License-Identifier: MIT */
/* Exact scores of the windows that scores with a rounded template leave. */
#include "lcc/cuda/planes/score.cuh"
#include "lcc/direction.h"

/* Mostly a handful of windows is left, one to a block: then what counts is how long one takes, so blocks are large. */
#define THREADS 512
#define WARPS (THREADS / 32)
#define MOST 96 /* windows that a block scores; where there are more, all windows are scored in less time */

/* A window's exact sums, of a thread, a warp or a block. */
template <typename T, int CHANNELS>
struct window_sums {
    T ft, ff;
    uint32_t f[CHANNELS];

    __device__ __forceinline__ void add(const window_sums &other)
    {
        ft += other.ft, ff += other.ff;
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            f[i] += other.f[i];
    }

    /* Those of another lane. */
    __device__ __forceinline__ window_sums across(int lanes) const
    {
        window_sums other = {(T)__shfl_xor_sync(~0u, (unsigned long long)ft, lanes), (T)__shfl_xor_sync(~0u, (unsigned long long)ff, lanes), {}};
#pragma unroll
        for (int i = 0; i < CHANNELS; i++)
            other.f[i] = __shfl_xor_sync(~0u, f[i], lanes);
        return other;
    }
};

/* The template of 16-bit gray, whose width is at most 128, for frames as they came, PIXELS, or in planes. */
template <bool PIXELS>
struct template_of_16 {
    typedef window_sums<uint64_t, 1> sums;
    const uint8_t *low, *high; /* bytes, packed */

    /* Those of a thread's part: a warp takes every sixteenth row of the template. */
    __device__ __forceinline__ sums own_sums(const tm_planes_score &c, int64_t position) const
    {
        enum { APART = PIXELS ? 2 : 1 }; // of neighbouring samples' bytes
        const int64_t pitch = (int64_t)c.planes.pitch, to_high = PIXELS ? 1 : c.planes.rows * pitch;
        const int lane = threadIdx.x % 32;
        const uint8_t *window = c.planes.data + position / c.map_width * pitch + APART * (position % c.map_width + lane);
        sums s = {};

#pragma unroll 2
        for (int y = threadIdx.x / 32; y < c.height; y += WARPS) {
            const uint8_t *at = window + y * pitch;
            const int tap = y * c.width + lane;
#pragma unroll
            for (int x = 0; x < 128; x += 32) {
                if (lane + x < c.width) {
                    const uint32_t f = __ldg(at + APART * x) | __ldg(at + APART * x + to_high) << 8;
                    const uint32_t t = __ldg(low + tap + x) | __ldg(high + tap + x) << 8;
                    s.add({f * t, f * f, {f}});
                }
            }
        }
        return s;
    }
};

/* The template of 8 bits, of which pixels may not count, for frames in planes of channels. */
template <int CHANNELS>
struct template_of_8 {
    typedef window_sums<uint32_t, CHANNELS> sums;
    const uint8_t *samples, *mask; /* as the template's pixels are; NULL: all count */

    __device__ __forceinline__ sums own_sums(const tm_planes_score &c, int64_t position) const
    {
        const int64_t pitch = (int64_t)c.planes.pitch, plane = c.planes.rows * pitch;
        const uint8_t *window = c.planes.data + position / c.map_width * pitch + position % c.map_width;
        sums s = {};

#pragma unroll 2
        for (int y = threadIdx.x / 32; y < c.height; y += WARPS) {
#pragma unroll 2
            for (int x = threadIdx.x % 32; x < c.width; x += 32) {
                const int tap = y * c.width + x;
                const unsigned all = mask && !__ldg(mask + tap) ? 0 : ~0u;
#pragma unroll
                for (int i = 0; i < CHANNELS; i++) {
                    const uint32_t f = __ldg(window + i * plane + y * pitch + x) & all;
                    s.ft += f * __ldg(samples + CHANNELS * tap + i), s.ff += f * f, s.f[i] += f;
                }
            }
        }
        return s;
    }
};

/* The block's, in thread 0. */
template <typename S>
static __device__ __forceinline__ S block_sums(S sums)
{
    __shared__ S warps[WARPS];

    for (int lanes = 16; lanes; lanes /= 2)
        sums.add(sums.across(lanes));
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

/* What a block has scored. least: the order that windows must have, which may rise with scores, also those of other blocks; the
 * block's threads see the same. */
template <typename T>
struct scorer {
    const tm_planes_score &c;
    const T &tmpl;
    int &least; // in shared memory
    const bool rises; // where so many windows are listed that it is worth while
    tm_candidate best = TM_NO_CANDIDATE; // in thread 0
    int scored = 0;

    __device__ __forceinline__ void score(int64_t position)
    {
        const typename T::sums sums = block_sums(tmpl.own_sums(c, position));
        if (threadIdx.x == 0) {
            float num, var;
            tm_centre(c, sums.ft, sums.ff, sums.f, &num, &var);
            const tm_candidate candidate = {tm_lcc_order(c, num, var), position};
            if (rises) {
                const int known = atomicMax(&c.list.found->exact, (int)candidate.value);
                least = max(least, tm_list_least_of_exact(c.list, max(known, (int)candidate.value)));
            }
            if (tm_candidate_beats(candidate, best))
                best = candidate;
        }
        scored++;
        if (rises)
            __syncthreads();
    }

    /* A window of the cell in which the best score is expected, another one in the next block: so that others need not be scored. */
    __device__ __forceinline__ void probe(unsigned cell)
    {
        const unsigned across = (unsigned)((c.map_width + TM_PATCH - 1) / TM_PATCH), i = blockIdx.x % (TM_PATCH * TM_PATCH);
        const int64_t x = TM_PATCH * (int64_t)(cell % across) + i % TM_PATCH, y = TM_PATCH * (int64_t)(cell / across) + i / TM_PATCH;
        if (x < c.map_width && y < c.rows)
            score(y * c.map_width + x);
    }
};

template <typename T>
static __global__ void __launch_bounds__(THREADS, TM_LISTED_AT_ONCE)
    listed_kernel(const __grid_constant__ tm_planes_score c, T tmpl, tm_candidate *out)
{
    __shared__ tm_listed wanted[THREADS];
    __shared__ int count, least;

    tm_early_begin();
    const unsigned long long listed = __ldcg(&c.list.found->listed), top = __ldcg(&c.list.found->top);
    scorer<T> s = {c, tmpl, least, listed > 2 * gridDim.x && listed <= TM_PLANES_LISTED};
    if (threadIdx.x == 0)
        count = 0, least = tm_list_least(c.list, __ldcg(&c.list.found->best));
    __syncthreads();
    if (top && s.rises)
        s.probe((unsigned)top);
    for (unsigned first = 0; first < listed && listed <= TM_PLANES_LISTED && s.scored <= MOST; first += gridDim.x * THREADS) {
        const unsigned i = first + threadIdx.x * gridDim.x + blockIdx.x; // neighbours in the list may both be wanted
        if (i < listed) {
            const tm_listed entry = c.list.of[i];
            if (entry.order >= least)
                wanted[atomicAdd(&count, 1)] = entry;
        }
        __syncthreads();
        for (int k = 0; k < count && s.scored <= MOST; k++) {
            if (wanted[k].order >= least)
                s.score(wanted[k].position);
        }
        __syncthreads();
        if (threadIdx.x == 0)
            count = 0;
        __syncthreads();
    }
    tm_candidate best = s.best;
    if (threadIdx.x == 0)
        c.candidates[blockIdx.x] = listed <= TM_PLANES_LISTED && s.scored <= MOST ? best : (tm_candidate)TM_TOO_MANY_LEFT;
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

template <typename T>
static cudaError_t launch(const tm_planes_score *band, T tmpl, tm_candidate *best, cudaStream_t stream)
{
    return tm_early_launch(listed_kernel<T>, tm_listed_blocks(band->multiprocessors), THREADS, 0, band->early, stream, *band, tmpl, best);
}

cudaError_t tm_listed_launch(const tm_planes_score *band, bool pixels, const uint8_t *low, const uint8_t *high,
                             tm_candidate *best, cudaStream_t stream)
{
    return pixels ? launch(band, template_of_16<true>{low, high}, best, stream) : launch(band, template_of_16<false>{low, high}, best, stream);
}

cudaError_t tm_listed_8_launch(const tm_planes_score *band, const uint8_t *samples, const uint8_t *mask, tm_candidate *best, cudaStream_t stream)
{
    switch (band->channels) {
    case 1:
        return launch(band, template_of_8<1>{samples, mask}, best, stream);
    case 2:
        return launch(band, template_of_8<2>{samples, mask}, best, stream);
    case 3:
        return launch(band, template_of_8<3>{samples, mask}, best, stream);
    default:
        return launch(band, template_of_8<4>{samples, mask}, best, stream);
    }
}
