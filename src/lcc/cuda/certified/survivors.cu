/* SPDX-License-Identifier: MIT */
/* Certified search: the cell windows that bounds do not rule out, and the best of their windows. */
#include "integers.h"
#include "lcc/cuda/certified/windows.cuh"

enum { THREADS = 256 };

/* How many of the greatest bounds' cell windows a first best is taken from, at least and at most. */
enum { LEAST_FIRST = 48, MOST_FIRST = 256 };

/* The sum of a value over this thread and those after it in the block. */
static __device__ unsigned sum_from(unsigned value)
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

/* A first best: every block chooses the tiles of the greatest bounds, and takes its part of them. */
template <int COUNT>
static __global__ void __launch_bounds__(THREADS) first_kernel(tm_certified_job j, int tiles)
{
    __shared__ unsigned counts[THREADS], chosen[MOST_FIRST], least, step, length;
    const int each = j.level.cells.size * ((j.level.cells.size + COUNT - 1) / COUNT);

    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < tiles; i += THREADS)
        atomicAdd(&counts[__ldg(j.tops + i) >> 16], 1u);
    __syncthreads();
    const unsigned own = counts[threadIdx.x], count = sum_from(own);
    const bool enough = count >= LEAST_FIRST && count - own < LEAST_FIRST;
    if (enough || (threadIdx.x == 0 && count < LEAST_FIRST)) {
        least = threadIdx.x;
        step = own / (MOST_FIRST - LEAST_FIRST) + 1; /* very many tiles may share the least */
    }
    __syncthreads();
    /* all blocks have them in the same order */
    const int part = (tiles + THREADS - 1) / THREADS, begin = (int)threadIdx.x * part,
              end = min(begin + part, tiles);
    auto is_chosen = [&](int i) {
        const unsigned bound = __ldg(j.tops + i) >> 16;
        return bound > least || (bound == least && i % step == 0);
    };
    unsigned mine = 0;
    for (int i = begin; i < end; i++)
        mine += is_chosen(i);
    const unsigned from = sum_from(mine);
    if (threadIdx.x == 0)
        length = from;
    for (int i = begin, at = (int)(from - mine); i < end && at < MOST_FIRST; i++) {
        if (is_chosen(i))
            chosen[at++] = (unsigned)i;
    }
    __syncthreads();
    const int tasks = (int)min(length, (unsigned)MOST_FIRST) * each;
    unsigned scored = 0;
    for (int task = (int)blockIdx.x; task < tasks; task += (int)gridDim.x) {
        const int tile = (int)chosen[task / each];
        const unsigned top = __ldg(j.tops + tile);
        const int x = tile % j.tiles_x * TM_CERTIFIED_TILE_WIDTH + (int)(top & 255),
                  y = tile / j.tiles_x * j.tile_height + (int)(top >> 8 & 255);
        scored += tm_certified_serve<COUNT, THREADS / 32>(j, x, y, task % each);
    }
    if (threadIdx.x == 0 && scored)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
}

/* Scores the windows around the first best: bounds of neighbours differ by little. */
template <int COUNT>
static __global__ void __launch_bounds__(THREADS) around_kernel(tm_certified_job j)
{
    __shared__ unsigned best; /* the same for all of the block, though others change it */
    if (threadIdx.x == 0)
        best = (unsigned)__ldcg(&j.state->best);
    __syncthreads();
    const unsigned position = 0xffffffffu - best;
    const int reach = 2 * j.level.cells.size, side = 2 * reach + 1, across = (side + COUNT - 1) / COUNT;
    const int x = (int)(position % (unsigned)j.map_width) - reach + (int)blockIdx.x % across * COUNT,
              y = (int)(position / (unsigned)j.map_width) - reach + (int)blockIdx.x / across;

    if (x + COUNT <= 0 || x >= j.map_width || y < 0 || y >= j.map_height)
        return;
    const unsigned scored = tm_certified_score<COUNT, THREADS / 32>(j, max(x, 0), y);
    if (threadIdx.x == 0)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
}

enum { EACH = 16 }; /* bounds of a thread */

static __global__ void __launch_bounds__(THREADS) list_kernel(tm_certified_job j)
{
    const int64_t count = (int64_t)j.cells_down * j.pitch_bounds,
                  first = ((int64_t)blockIdx.x * THREADS + threadIdx.x) * EACH;
    const int threshold = max(tm_certified_threshold(tm_certified_best(j)), 0);
    unsigned words[4] = {0, 0, 0, 0}, found = 0;

    if (first < count) {
        const uint4 v = __ldg((const uint4 *)(j.bounds + first));
        words[0] = v.x, words[1] = v.y, words[2] = v.z, words[3] = v.w;
    }
#pragma unroll
    for (int i = 0; i < EACH; i++)
        found += (int)(words[i / 4] >> 8 * (i & 3) & 255) > threshold;
    if (!__any_sync(~0u, found))
        return;
    const int lane = threadIdx.x & 31;
    unsigned before = found;
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    unsigned at = 0;
    if (lane == 31)
        at = atomicAdd(&j.state->listed, before);
    at = __shfl_sync(~0u, at, 31) + before - found;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if ((int)(words[i / 4] >> 8 * (i & 3) & 255) <= threshold)
            continue;
        if (at < j.most_listed)
            j.list[at] = (uint32_t)(first + i);
        at++;
    }
}

/* The last block writes the launch's best and clears the state. */
static __device__ void finish(const tm_certified_job &j, unsigned listed)
{
    __threadfence();
    if (atomicAdd(&j.state->done, 1u) != gridDim.x - 1)
        return;
    __threadfence();
    const unsigned long long best = __ldcg(&j.state->best);
    j.best->value = (int)((unsigned)(best >> 32) ^ 0x80000000u);
    j.best->position = 0xffffffffu - (unsigned)best;
    j.count->scored = (int64_t)__ldcg(&j.state->scored);
    j.count->too_many = listed > j.most_listed;
    *j.state = (tm_certified_state){};
}

template <int COUNT>
static __global__ void __launch_bounds__(THREADS) score_kernel(tm_certified_job j)
{
    const unsigned listed = __ldcg(&j.state->listed), warps = gridDim.x * (THREADS / 32),
                   size = (unsigned)j.level.cells.size, each = size * ((size + COUNT - 1) / COUNT);
    const unsigned tasks = listed > j.most_listed ? 0 : listed * each;
    unsigned scored = 0;

    for (unsigned task = blockIdx.x * (THREADS / 32) + threadIdx.x / 32; task < tasks; task += warps) {
        const uint32_t cell = __ldg(j.list + task / each);
        const int threshold = __shfl_sync(~0u, tm_certified_threshold(tm_certified_best(j)), 0);
        if ((int)__ldg(j.bounds + cell) <= threshold)
            continue;
        scored += tm_certified_serve<COUNT, 1>(j, (int)(cell % (uint32_t)j.pitch_bounds),
                                               (int)(cell / (uint32_t)j.pitch_bounds), (int)(task % each));
    }
    if (!(threadIdx.x & 31) && scored)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        finish(j, listed);
}

void tm_certified_cover(tm_certified_job *j)
{
    const int size = j->level.cells.size;
    j->cells_across = (int)ceil_div(j->map_width - 1, size) + 1;
    j->cells_down = (int)ceil_div(j->map_height - 1, size) + 1;
    j->tile_height = size > TM_CERTIFIED_SMALL ? TM_CERTIFIED_BIG_TILE_HEIGHT : TM_CERTIFIED_TILE_HEIGHT;
    j->tiles_x = (int)ceil_div(j->cells_across, TM_CERTIFIED_TILE_WIDTH);
    j->pitch_bounds = round_up(j->cells_across, TM_CERTIFIED_TILE_WIDTH);
    /* a window of the list takes about as long as two hundred of the exhaustive kernels */
    j->most_listed = (uint32_t)larger(j->map_width * j->map_height / (200 * size * size), 512);
}

static size_t bounds_bytes(const tm_certified_job *j)
{
    return (size_t)(round_up(j->cells_down, TM_CERTIFIED_TILE_HEIGHT) * j->pitch_bounds);
}

static int tiles_of(const tm_certified_job *j)
{
    return j->tiles_x * (int)ceil_div(j->cells_down, j->tile_height);
}

size_t tm_certified_bytes(const tm_certified_job *j)
{
    return 256 + bounds_bytes(j) + (j->most_listed + (size_t)tiles_of(j)) * sizeof *j->list;
}

void tm_certified_place(tm_certified_job *j, void *memory)
{
    j->state = (tm_certified_state *)memory;
    j->bounds = (uint8_t *)memory + 256;
    j->tops = (uint32_t *)(j->bounds + bounds_bytes(j));
    j->list = j->tops + tiles_of(j);
}

template <int COUNT>
static cudaError_t launch(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    const int64_t threads = ceil_div(j->cells_down * j->pitch_bounds, EACH);
    const int side = 4 * j->level.cells.size + 1;

    first_kernel<COUNT><<<2 * multiprocessors, THREADS, 0, stream>>>(*j, tiles_of(j));
    around_kernel<COUNT><<<(unsigned)(side * ceil_div(side, COUNT)), THREADS, 0, stream>>>(*j);
    list_kernel<<<(unsigned)ceil_div(threads, THREADS), THREADS, 0, stream>>>(*j);
    score_kernel<COUNT><<<4 * multiprocessors, THREADS, 0, stream>>>(*j);
    return cudaGetLastError();
}

cudaError_t tm_certified_survivors(const tm_certified_job *j, int multiprocessors,
                                   cudaStream_t stream)
{
    switch (j->level.cells.size) {
    case 2: return launch<2>(j, multiprocessors, stream);
    case 3: return launch<3>(j, multiprocessors, stream);
    case 5: return launch<5>(j, multiprocessors, stream);
    default: return launch<4>(j, multiprocessors, stream);
    }
}
