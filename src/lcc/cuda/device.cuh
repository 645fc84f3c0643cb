/* SPDX-License-Identifier: MIT */
/* What the kernels' files share: the windows that a launch goes over, and the reduction of
 * candidates over a block. */
#ifndef TMATCH_LCC_CUDA_DEVICE_CUH
#define TMATCH_LCC_CUDA_DEVICE_CUH

#include <cuda_runtime.h>

#include "lcc/cuda/memory.cuh"
#include "lcc/lcc.h"

enum { TM_MOST_GRID_ROWS = 65535 }; /* of blocks, in one launch */

/* The windows of a plane of 8 bits in device memory, for templates of one size. */
struct tm_device_windows {
    const uint8_t *frame; /* sample of map element (0, 0)'s first tap; 256-byte aligned */
    size_t pitch;         /* bytes between rows, a multiple of 256 */
    int64_t map_width, map_height;
    int width, height; /* of a template */
};

/* A match's windows, without their frame. */
static inline tm_device_windows tm_windows_of(const tm_geometry *g)
{
    return {NULL, 0, g->map_width, g->map_height, (int)g->template_width, (int)g->template_height};
}

/* A template's match with them. All pointers are device memory. */
typedef struct tm_device_job : tm_device_windows {
    const uint8_t *taps; /* the template, packed */
    int64_t n, sum;
    float variance;
    void *map;                /* dense, or NULL */
    tm_candidate *candidates; /* one per block */
    tm_candidate *best;       /* NULL: the candidates are not reduced */
} tm_device_job;

/* The best where windows were left out, and more than a launch may score were not, so that it is not known. */
#define TM_TOO_MANY_LEFT {INT64_MAX, INT64_MAX}

/* The direct kernel for any template on any device. Returns the launch's error. */
int64_t tm_direct_blocks(const tm_device_job *job);
cudaError_t tm_direct_launch(const tm_device_job *job, tm_metric metric, cudaStream_t stream);

/* Reduces candidates[0 .. count) to *best; scratch holds TM_REDUCE_BLOCKS. early: see early.cuh. */
#define TM_REDUCE_BLOCKS 256
cudaError_t tm_reduce_launch(const tm_candidate *candidates, int64_t count, tm_candidate *scratch,
                             tm_candidate *best, bool early, cudaStream_t stream);

#ifdef __CUDACC__
/* a b + c in one instruction, which the compiler does not find. */
static __device__ __forceinline__ int64_t tm_mad_wide(int a, int b, int64_t c)
{
    int64_t d;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(d) : "r"(a), "r"(b), "l"(c));
    return d;
}

/* The warp's sum, in each lane. */
static __device__ __forceinline__ unsigned tm_warp_sum(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int lanes = 16; lanes; lanes /= 2)
        value += __shfl_xor_sync(~0u, value, lanes);
    return value;
#else
    return __reduce_add_sync(~0u, value);
#endif
}

/* Its greatest. */
static __device__ __forceinline__ unsigned tm_warp_max(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int lanes = 16; lanes; lanes /= 2)
        value = max(value, __shfl_xor_sync(~0u, value, lanes));
    return value;
#else
    return __reduce_max_sync(~0u, value);
#endif
}

static __device__ __forceinline__ unsigned tm_warp_or(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    for (int lanes = 16; lanes; lanes /= 2)
        value |= __shfl_xor_sync(~0u, value, lanes);
    return value;
#else
    return __reduce_or_sync(~0u, value);
#endif
}

/* Adds the sum of the lane so far before this one, if there is one. */
static __device__ __forceinline__ void tm_add_lane_before(uint64_t &sum, int offset)
{
    const uint64_t other = __shfl_up_sync(0xffffffffu, (unsigned long long)sum, offset);
    sum += (int)(threadIdx.x % 32) >= offset ? other : 0;
}

static __device__ __forceinline__ void tm_add_lane_before(uint32_t &sum, int offset)
{
    asm volatile("{.reg .u32 r; .reg .pred p; shfl.sync.up.b32 r|p, %0, %1, 0, 0xffffffff; "
                 "@p add.u32 %0, %0, r;}"
                 : "+r"(sum)
                 : "r"(offset));
}

static __device__ __forceinline__ tm_candidate tm_shuffle_down(tm_candidate c, int offset)
{
    tm_candidate other;
    other.value = __shfl_down_sync(0xffffffffu, (long long)c.value, offset);
    other.position = __shfl_down_sync(0xffffffffu, (long long)c.position, offset);
    return other;
}

/* The best candidate of a block of whole warps, of at most THREADS threads, in thread 0. Every thread of the
 * block takes part. */
template <int THREADS>
static __device__ tm_candidate tm_block_best(tm_candidate best, int thread, int count = THREADS / 32)
{
    __shared__ tm_candidate warps[THREADS / 32];

    for (int offset = 16; offset > 0; offset /= 2) {
        tm_candidate other = tm_shuffle_down(best, offset);
        if (tm_candidate_beats(other, best))
            best = other;
    }
    if (thread % 32 == 0)
        warps[thread / 32] = best;
    __syncthreads();
    if (thread == 0) {
        for (int i = 1; i < count; i++) {
            if (tm_candidate_beats(warps[i], best))
                best = warps[i];
        }
    }
    return best;
}
#endif

#endif
