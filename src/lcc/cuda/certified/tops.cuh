/* SPDX-License-Identifier: MIT */
/* Certified search: the tiles, or parts of tiles, of the greatest bounds, which every block of a launch chooses anew
 * and alike. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_TOPS_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_TOPS_CUH

#include "lcc/cuda/certified/certified.cuh"

/* The sum of a value over this thread and those after it in a block of so many. */
template <int THREADS>
static __device__ unsigned tm_sum_from(unsigned value)
{
    __shared__ unsigned warps[THREADS / 32];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32;
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_down_sync(~0u, value, d);
        value += lane + d < 32 ? other : 0;
    }
    if (lane == 0)
        warps[warp] = value;
    __syncthreads();
    for (int i = warp + 1; i < THREADS / 32; i++)
        value += warps[i];
    return value;
}

/* Chooses the LEAST greatest of the bounds in tops, or all, and of those that are as great as the least of these
 * about MOST - LEAST more. Returns how many; chosen, in shared memory, has room for MOST. Blocks have 256
 * threads, one for each value of a bound. */
template <int LEAST, int MOST>
static __device__ __forceinline__ int tm_certified_choose(const uint32_t *tops, int count_of_tops,
                                                          unsigned *chosen)
{
    enum { THREADS = 256 };
    __shared__ unsigned counts[THREADS], least, step, length;

    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < count_of_tops; i += THREADS)
        atomicAdd(&counts[__ldg(tops + i) >> 16], 1u);
    __syncthreads();
    const unsigned own = counts[threadIdx.x], count = tm_sum_from<THREADS>(own);
    const bool enough = count >= LEAST && count - own < LEAST;
    if (enough || (threadIdx.x == 0 && count < LEAST)) {
        least = threadIdx.x;
        step = own / (MOST - LEAST) + 1; /* very many tiles may share the least */
    }
    __syncthreads();
    /* all blocks have them in the same order */
    const int part = (count_of_tops + THREADS - 1) / THREADS, begin = (int)threadIdx.x * part,
              end = min(begin + part, count_of_tops);
    auto is_chosen = [&](int i) {
        const unsigned bound = __ldg(tops + i) >> 16;
        return bound > least || (bound == least && i % step == 0);
    };
    unsigned mine = 0;
    for (int i = begin; i < end; i++)
        mine += is_chosen(i);
    const unsigned from = tm_sum_from<THREADS>(mine);
    if (threadIdx.x == 0)
        length = from;
    for (int i = begin, at = (int)(from - mine); i < end && at < MOST; i++) {
        if (is_chosen(i))
            chosen[at++] = (unsigned)i;
    }
    __syncthreads();
    return (int)min(length, (unsigned)MOST);
}

/* The place of the greatest bound of a tile, or a part of it, among cell windows. */
static __device__ __forceinline__ uint2 tm_certified_top_of(const tm_certified_job &j, unsigned top, int tile)
{
    return make_uint2(tile % j.tiles_x * TM_CERTIFIED_TILE_WIDTH + (top & 255),
                      tile / j.tiles_x * j.tile_height + (top >> 8 & 255));
}

#endif
