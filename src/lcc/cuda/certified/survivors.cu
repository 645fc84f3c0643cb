/* SPDX-License-Identifier: MIT */
/* Certified search: a first best, and, but of the smallest cells, the best of the windows of the cell windows that are left. */
#include "integers.h"
#include "lcc/cuda/certified/finish.cuh"
#include "lcc/cuda/certified/tops.cuh"
#include "lcc/cuda/certified/windows.cuh"
#include "lcc/cuda/tensor/limits.h"

/* Where more than one window in MOST_SCORED is scored, all can be as quickly. */
enum { THREADS = 256, MOST_SCORED = 3 };

/* The tasks of a cell window. */
template <int COUNT>
static __host__ __device__ __forceinline__ int tasks_of(const tm_certified_job &j)
{
    return j.level.cells.size * ((j.level.cells.size + COUNT - 1) / COUNT);
}

/* A first best: every block takes its part of the cell windows of some of the greatest bounds. */
template <int COUNT>
static __global__ void __launch_bounds__(THREADS) first_kernel(tm_certified_job j)
{
    const int each = tasks_of<COUNT>(j), tasks = TM_CERTIFIED_FIRSTS * each;
    unsigned scored = 0;

    tm_early_begin();
    for (int task = (int)blockIdx.x; task < tasks; task += (int)gridDim.x) {
        const unsigned long long first = __ldcg(&j.state->firsts[task / each]);
        if (first == 0)
            continue;
        const uint2 top = tm_certified_top_of(j, (unsigned)first & 0xffff, (int)(unsigned)(first >> 16));
        scored += tm_certified_serve<COUNT, THREADS / 32, false>(j, (int)top.x, (int)top.y, task % each);
    }
    if (threadIdx.x == 0 && scored)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
}

template <int COUNT>
static __global__ void __launch_bounds__(THREADS) score_kernel(tm_certified_job j)
{
    /* The launch of tiles before lets this one start only when it has waited for the list itself. So here its own tiles
     * alone are waited for, and what the list's launches wrote is read where they wrote it, past the first-level cache. */
    if (!j.tiles_down)
        tm_early_begin();
    const unsigned tiled = j.tiles_down ? tm_tensor_listed(j.tiles) : 0, listed = __ldcg(&j.state->listed),
                   warps = THREADS / 32, each = (unsigned)tasks_of<COUNT>(j),
                   tasks = tiled || listed > j.most_listed ? 0 : listed * each;
    const auto serve = [&](unsigned task, auto score) -> unsigned {
        const uint32_t cell = __ldcg(j.list + task / each);
        return score((int)(cell % (uint32_t)j.pitch_bounds), (int)(cell / (uint32_t)j.pitch_bounds),
                     (int)(task % each));
    };
    const auto by_block = [&](int x, int y, int i) {
        return tm_certified_serve<COUNT, THREADS / 32, true>(j, x, y, i);
    };
    const auto by_warp = [&](int x, int y, int i) { return tm_certified_serve<COUNT, 1, true>(j, x, y, i); };
    unsigned scored = 0;

    if (tasks <= 2 * gridDim.x) { /* so few that each is a block's */
        for (unsigned task = blockIdx.x; task < tasks; task += gridDim.x)
            scored += serve(task, by_block);
        scored = threadIdx.x ? 0 : scored;
    } else {
        for (unsigned task = blockIdx.x * warps + threadIdx.x / 32; task < tasks; task += gridDim.x * warps) {
            const float least = __shfl_sync(~0u, tm_certified_least(j), 0);
            const int bound = __ldcg(j.bounds + __ldcg(j.list + task / each));
            if (bound == TM_CELLS_LIMITS || !(__ldg(j.level.fine.limits + bound) < least))
                scored += serve(task, by_warp);
        }
        scored = threadIdx.x & 31 ? 0 : scored;
    }
    if (j.tiles_down)
        tm_early_begin();
    const unsigned marked = j.tiles_down ? __ldcg(&j.state->tiled) : 0;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < marked; i += gridDim.x * THREADS) {
        const unsigned tile = __ldcg(j.tiles.tiles + i), mask = 15u << tile % 8 * 4;
        const int parts = __popc(atomicAnd(j.tiles.parts + tile / 8, ~mask) & mask);
        scored += tiled ? (unsigned)parts * TM_MMA_PART_WIDTH * TM_MMA_PART_HEIGHT : 0;
    }
    scored = tm_warp_sum(scored);
    if (!(threadIdx.x & 31) && scored)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0 && atomicAdd(&j.state->done, 1u) == gridDim.x - 1) {
        __threadfence();
        const unsigned long long most = (unsigned long long)(j.map_width * j.map_height) / MOST_SCORED;
        tm_certified_finish(j, tiled, listed > j.most_listed && !tiled, __ldcg(&j.state->scored) > most);
    }
}

template <int COUNT>
static cudaError_t launch_first(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    const int tasks = TM_CERTIFIED_FIRSTS * tasks_of<COUNT>(*j);
    return tm_early_launch(first_kernel<COUNT>, (unsigned)smaller(tasks, 4 * multiprocessors), THREADS, 0, j->early,
                           stream, *j);
}

cudaError_t tm_certified_first(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    switch (j->level.cells.size) {
    case 2: return launch_first<2>(j, multiprocessors, stream);
    case 3: return launch_first<3>(j, multiprocessors, stream);
    case 5: return launch_first<5>(j, multiprocessors, stream);
    default: return launch_first<4>(j, multiprocessors, stream);
    }
}

cudaError_t tm_certified_score(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    auto kernel = score_kernel<4>;
    switch (j->level.cells.size) {
    case 3: kernel = score_kernel<3>; break;
    case 5: kernel = score_kernel<5>; break;
    default: break;
    }
    return tm_early_launch(kernel, 4 * multiprocessors, THREADS, 0, j->early, stream, *j);
}
