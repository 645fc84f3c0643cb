/* SPDX-License-Identifier: MIT */
/* Certified search: the cell windows that bounds do not rule out, and the best of their windows. */
#include "integers.h"
#include "lcc/cuda/certified/tops.cuh"
#include "lcc/cuda/certified/windows.cuh"
#include "lcc/cuda/tensor/limits.h"

enum { THREADS = 256 };

/* How many of the greatest bounds' cell windows a first best is taken from, at least and at most. */
enum { LEAST_FIRST = 32, MOST_FIRST = 52 };

/* A first best: every block takes its part of the cell windows of the greatest bounds. */
template <int COUNT>
static __global__ void __launch_bounds__(THREADS) first_kernel(tm_certified_job j, int tiles)
{
    __shared__ unsigned chosen[MOST_FIRST];
    const int each = j.level.cells.size * ((j.level.cells.size + COUNT - 1) / COUNT);

    tm_certified_wait();
    const int tasks = tm_certified_choose<LEAST_FIRST, MOST_FIRST>(j.tops, tiles, chosen) * each;
    unsigned scored = 0;
    for (int task = (int)blockIdx.x; task < tasks; task += (int)gridDim.x) {
        const int tile = (int)chosen[task / each];
        const uint2 top = tm_certified_top_of(j, __ldg(j.tops + tile), tile);
        scored += tm_certified_serve<COUNT, THREADS / 32, false>(j, (int)top.x, (int)top.y, task % each);
    }
    if (threadIdx.x == 0 && scored)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
}

/* Scores the windows around the first best: bounds of neighbours differ by little. */
template <int COUNT>
static __global__ void __launch_bounds__(THREADS) around_kernel(tm_certified_job j)
{
    __shared__ unsigned best; /* the same for all of the block, though others change it */
    tm_certified_wait();
    if (threadIdx.x == 0)
        best = (unsigned)__ldcg(&j.state->best);
    __syncthreads();
    const unsigned position = tm_certified_position(best);
    const int reach = 2 * j.level.cells.size, side = 2 * reach + 1, across = (side + COUNT - 1) / COUNT;
    const int x = (int)(position % (unsigned)j.map_width) - reach + (int)blockIdx.x % across * COUNT,
              y = (int)(position / (unsigned)j.map_width) - reach + (int)blockIdx.x / across;

    if (x + COUNT <= 0 || x >= j.map_width || y < 0 || y >= j.map_height)
        return;
    const unsigned scored = tm_certified_score<COUNT, THREADS / 32, false>(j, max(x, 0), y);
    if (threadIdx.x == 0)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
}

/* Notes the parts of tiles that have windows of the cell windows from first to last, of one row. */
static __device__ __forceinline__ void mark_parts(const tm_certified_job &j, int first, int last, int row)
{
    const int size = j.level.cells.size, across = TM_MMA_TILE_WIDTH / TM_MMA_PART_WIDTH,
              high = TM_MMA_TILE_HEIGHT / TM_MMA_PART_HEIGHT;
    const int end_x = min(last * size, (int)j.map_width - 1) / TM_MMA_PART_WIDTH,
              end_y = min(row * size, (int)j.map_height - 1) / TM_MMA_PART_HEIGHT;
    for (int y = max((row - 1) * size + 1, 0) / TM_MMA_PART_HEIGHT; y <= end_y; y++) {
        for (int x = max((first - 1) * size + 1, 0) / TM_MMA_PART_WIDTH; x <= end_x; x++) {
            const unsigned tile = (unsigned)(x / across * j.tiles_down + y / high), shift = tile % 8 * 4;
            const unsigned bit = 1u << (shift + y % high * across + x % across);
            unsigned *word = j.tiles.parts + tile / 8;
            if (!(__ldcg(word) & bit) && !(atomicOr(word, bit) >> shift & 15))
                j.tiles.tiles[atomicAdd(&j.state->tiled, 1u)] = tile;
        }
    }
}

enum { EACH = 16, BATCHES = 4 }; /* bounds of a thread: so many at a time, and times */

/* Lists those of a thread's cell windows, from first on, that are above the threshold; a warp does so
 * together. */
static __device__ __forceinline__ void list(const tm_certified_job &j, int64_t first, const uint4 &bounds,
                                            int threshold)
{
    const unsigned words[4] = {bounds.x, bounds.y, bounds.z, bounds.w};
    const int lane = threadIdx.x & 31;
    unsigned found = 0, at = 0;

#pragma unroll
    for (int i = 0; i < EACH; i++)
        found += (int)(words[i / 4] >> 8 * (i & 3) & 255) > threshold;
    if (!__any_sync(~0u, found))
        return;
    unsigned before = found;
    for (int d = 1; d < 32; d *= 2) {
        const unsigned other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    if (lane == 31)
        at = atomicAdd(&j.state->listed, before);
    at = __shfl_sync(~0u, at, 31) + before - found;
    if (!found)
        return;
    int left = EACH, last = 0;
#pragma unroll
    for (int i = 0; i < EACH; i++) {
        if ((int)(words[i / 4] >> 8 * (i & 3) & 255) <= threshold)
            continue;
        if (at < j.most_listed)
            j.list[at] = (uint32_t)(first + i);
        at++;
        left = min(left, i), last = i;
    }
    if (j.tiles_down) {
        const int column = (int)(first % j.pitch_bounds);
        mark_parts(j, column + left, column + last, (int)(first / j.pitch_bounds));
    }
}

static __global__ void __launch_bounds__(THREADS) list_kernel(tm_certified_job j)
{
    const int64_t count = (int64_t)j.cells_down * j.pitch_bounds,
                  first = ((int64_t)blockIdx.x * BATCHES * THREADS + threadIdx.x) * EACH;
    uint4 v[BATCHES]; /* loaded before any is used */

    tm_certified_wait();
#pragma unroll
    for (int i = 0; i < BATCHES; i++) {
        const int64_t at = first + i * THREADS * EACH;
        v[i] = at < count ? __ldg((const uint4 *)(j.bounds + at)) : make_uint4(0, 0, 0, 0);
    }
    const int threshold = max(tm_certified_threshold(j.level, tm_certified_least(j)), 0);
#pragma unroll 1
    for (int i = 0; i < BATCHES; i++) {
        const uint4 own = i == 0 ? v[0] : i == 1 ? v[1] : i == 2 ? v[2] : v[3];
        list(j, first + i * THREADS * EACH, own, threshold);
    }
}

/* Writes the launch's best and clears the state. */
static __device__ void finish(const tm_certified_job &j, unsigned tiled)
{
    const tm_certified_state s = *j.state;
    const tm_candidate own = {tm_certified_order(s.best), tm_certified_position(s.best)};
    *j.best = tiled && tm_candidate_beats(s.of_tiles, own) ? s.of_tiles : own;
    j.count->scored = (int64_t)min((int64_t)s.scored, j.map_width * j.map_height);
    bool too_many = s.listed > j.most_listed && !tiled;
    if (j.reaching.count && too_many)
        *j.reaching.count = ~0ull;
    else if (j.reaching.count)
        too_many = __ldcg(j.reaching.count) > j.reaching.capacity;
    j.count->too_many = too_many;
    *j.state = (tm_certified_state){};
}

template <int COUNT>
static __global__ void __launch_bounds__(THREADS) score_kernel(tm_certified_job j)
{
    tm_certified_wait();
    const unsigned tiled = j.tiles_down ? tm_tensor_listed(j.tiles) : 0, listed = __ldcg(&j.state->listed),
                   warps = THREADS / 32, size = (unsigned)j.level.cells.size,
                   each = size * ((size + COUNT - 1) / COUNT),
                   tasks = tiled || listed > j.most_listed ? 0 : listed * each;
    const auto serve = [&](unsigned task, auto score) -> unsigned {
        const uint32_t cell = __ldg(j.list + task / each);
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
            const int threshold = __shfl_sync(~0u, tm_certified_threshold(j.level, tm_certified_least(j)), 0);
            if ((int)__ldg(j.bounds + __ldg(j.list + task / each)) > threshold)
                scored += serve(task, by_warp);
        }
        scored = threadIdx.x & 31 ? 0 : scored;
    }
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
        finish(j, tiled);
    }
}

bool tm_certified_can_be_early(void)
{
#ifdef TM_EMULATED
    return false;
#else
    cudaFuncAttributes attributes;
    return TM_CALL(cudaFuncGetAttributes(&attributes, list_kernel)) == cudaSuccess && attributes.ptxVersion >= 90;
#endif
}

template <int COUNT>
static cudaError_t launch_first(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    const int side = 4 * j->level.cells.size + 1;

    const cudaError_t error = tm_certified_launch(first_kernel<COUNT>, 2 * multiprocessors, THREADS, 0, j->early,
                                                  stream, *j, tm_certified_tiles(j));
    return error != cudaSuccess ? error
                                : tm_certified_launch(around_kernel<COUNT>, (unsigned)(side * ceil_div(side, COUNT)),
                                                      THREADS, 0, j->early, stream, *j);
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

cudaError_t tm_certified_list(const tm_certified_job *j, cudaStream_t stream)
{
    const int64_t threads = ceil_div(j->cells_down * j->pitch_bounds, EACH * BATCHES);
    return tm_certified_launch(list_kernel, (unsigned)ceil_div(threads, THREADS), THREADS, 0, j->early, stream, *j);
}

cudaError_t tm_certified_score(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    auto kernel = score_kernel<4>;
    switch (j->level.cells.size) {
    case 2: kernel = score_kernel<2>; break;
    case 3: kernel = score_kernel<3>; break;
    case 5: kernel = score_kernel<5>; break;
    default: break;
    }
    return tm_certified_launch(kernel, 4 * multiprocessors, THREADS, 0, j->early, stream, *j);
}
