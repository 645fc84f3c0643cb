/* SPDX-License-Identifier: MIT */
/* Certified search: the cell windows that bounds do not rule out, and the best of their windows. */
#include "integers.h"
#include "lcc/cuda/certified/windows.cuh"
#include "lcc/cuda/tensor/limits.h"

enum { THREADS = 256 };

/* How many of the greatest bounds' cell windows a first best is taken from, at least and at most. */
enum { LEAST_FIRST = 32, MOST_FIRST = 52 };

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

    tm_certified_wait();
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
        scored += tm_certified_serve<COUNT, THREADS / 32, false>(j, x, y, task % each);
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
    const unsigned position = 0xffffffffu - best;
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
    const tm_candidate own = {(int)((unsigned)(s.best >> 32) ^ 0x80000000u), 0xffffffffu - (unsigned)s.best};
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

void tm_certified_cover(tm_certified_job *j)
{
    const int size = j->level.cells.size;
    j->cells_across = (int)ceil_div(j->map_width - 1, size) + 1;
    j->cells_down = (int)ceil_div(j->map_height - 1, size) + 1;
    j->tile_height = size > TM_CERTIFIED_SMALL ? TM_CERTIFIED_BIG_TILE_HEIGHT : TM_CERTIFIED_TILE_HEIGHT;
    j->tiles_x = (int)ceil_div(j->cells_across, TM_CERTIFIED_TILE_WIDTH);
    j->pitch_bounds = j->tiles_x * TM_CERTIFIED_TILE_WIDTH;
    j->pitch_cells = j->pitch_bounds + 16;
    j->tiles_down = (int)ceil_div(j->map_height, TM_MMA_TILE_HEIGHT);
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

/* The tensor cores' tiles, and words for their parts. */
static int64_t tiles_of_tensor(const tm_certified_job *j)
{
    return ceil_div(j->map_width, TM_MMA_TILE_WIDTH) * j->tiles_down;
}

size_t tm_certified_cleared(const tm_certified_job *j)
{
    return 256 + (size_t)round_up(ceil_div(tiles_of_tensor(j), 8) * 4, 256);
}

static int64_t cells_of(const tm_certified_job *j)
{
    return (j->cells_down + j->level.cells.down - 1) * j->pitch_cells;
}

size_t tm_certified_bytes(const tm_certified_job *j)
{
    return tm_certified_cleared(j) + bounds_bytes(j) + (size_t)cells_of(j) * sizeof *j->cells +
           (j->most_listed + (size_t)tiles_of(j) + (size_t)tiles_of_tensor(j)) * sizeof *j->list;
}

void tm_certified_place(tm_certified_job *j, void *memory)
{
    j->state = (tm_certified_state *)memory;
    j->bounds = (uint8_t *)memory + tm_certified_cleared(j);
    j->cells = (uint16_t *)(j->bounds + bounds_bytes(j)); /* whole rows of 32 bytes */
    j->tops = (uint32_t *)(j->cells + cells_of(j));
    j->list = j->tops + tiles_of(j) + tiles_of_tensor(j);
    j->tiles.tiles = j->tops + tiles_of(j);
    j->tiles.parts = (uint32_t *)((uint8_t *)memory + 256);
    j->tiles.count = &j->state->tiled;
    j->tiles.others = &j->state->listed;
    j->tiles.best = &j->state->best;
    j->tiles.most_others = j->most_listed;
}

template <int COUNT>
static cudaError_t launch(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    const int64_t threads = ceil_div(j->cells_down * j->pitch_bounds, EACH * BATCHES);
    const int side = 4 * j->level.cells.size + 1;

    cudaError_t error = tm_certified_launch(first_kernel<COUNT>, 2 * multiprocessors, THREADS, 0, j->early, stream,
                                            *j, tiles_of(j));
    if (error == cudaSuccess)
        error = tm_certified_launch(around_kernel<COUNT>, (unsigned)(side * ceil_div(side, COUNT)), THREADS, 0,
                                    j->early, stream, *j);
    return error != cudaSuccess ? error
                                : tm_certified_launch(list_kernel, (unsigned)ceil_div(threads, THREADS), THREADS, 0,
                                                      j->early, stream, *j);
}

cudaError_t tm_certified_list(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    switch (j->level.cells.size) {
    case 2: return launch<2>(j, multiprocessors, stream);
    case 3: return launch<3>(j, multiprocessors, stream);
    case 5: return launch<5>(j, multiprocessors, stream);
    default: return launch<4>(j, multiprocessors, stream);
    }
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
