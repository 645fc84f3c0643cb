/* SPDX-License-Identifier: MIT */
/* Certified search: the list of cell windows that bounds do not rule out. A warp looks at a part of a tile, whose greatest
 * bound mostly rules out all of it; otherwise, where bounds were rough, it makes finer ones. */
#include "integers.h"
#include "lcc/cuda/certified/bound.cuh"
#include "lcc/cuda/tensor/limits.h"

enum { WARPS = 4, THREADS = 32 * WARPS, BLOCKS = 8, LINES = 8, WIDTH = 32 }; /* BLOCKS: on a multiprocessor */

/* Some rows of a tile's part, and a lane's column. */
struct rows {
    int x, y, left; /* left: how many rows there are from y on, 0 beyond the last column */

    __device__ rows(const tm_certified_job &j, int part)
    {
        const int tile = part / TM_CERTIFIED_PARTS, warp = part % TM_CERTIFIED_PARTS;
        x = tile % j.tiles_x * TM_CERTIFIED_TILE_WIDTH + warp % 4 * WIDTH + tm_cells_column();
        y = tile / j.tiles_x * j.tile_height + warp / 4 * (j.tile_height / 2);
        left = x < j.cells_across ? j.cells_down - y : 0;
    }
};

/* Which of LINES rows' bounds are above a threshold, as bits. */
static __device__ __forceinline__ unsigned find(const tm_certified_job &j, const rows &at, int threshold)
{
    unsigned bytes[LINES], found = 0;
#pragma unroll
    for (int y = 0; y < LINES; y++)
        bytes[y] = y < at.left ? __ldcg(j.bounds + (int64_t)(at.y + y) * j.pitch_bounds + at.x) : 0;
#pragma unroll
    for (int y = 0; y < LINES; y++)
        found |= ((int)bytes[y] > threshold) << y;
    return found;
}

/* The same of finer bounds, which are kept where they are. */
template <int PAIRS>
static __device__ __forceinline__ unsigned refine(const tm_certified_job &j, const rows &at, int threshold)
{
    const int own = tm_cells_column();
    const tm_cell_pairs cells(j, at.x - own + 2 * tm_cells_pair(), at.y);
    const int64_t first = (int64_t)at.y * j.pitch_bounds + at.x;
    float most[LINES], factors[LINES];
    unsigned found = 0;

#pragma unroll
    for (int y = 0; y < LINES; y++)
        factors[y] = y < at.left ? __ldcg(j.factors + first + y * j.pitch_bounds) * j.level.ratio : 0;
    tm_cells_multiply<PAIRS, LINES, PAIRS>(most, j.level.fine.groups, j.level.fine.fragments, [&](int i, int k) {
        return cells.halves(__ldg(cells.from + (int64_t)min(i, cells.last) * cells.pitch + k));
    });
#pragma unroll
    for (int y = 0; y < LINES; y++) {
        const float p = most[y] + j.level.fine.error;
        const unsigned byte = tm_cells_byte(p * p * factors[y]) & 255;
        if (y < at.left && (int)byte > threshold) {
            found |= 1u << y;
            j.bounds[first + y * j.pitch_bounds] = (uint8_t)byte;
        }
    }
    return found;
}

/* Adds those found to the list. */
static __device__ __forceinline__ void add(const tm_certified_job &j, const rows &at, unsigned found)
{
    const int lane = threadIdx.x & 31, count = __popc(found);
    int before = count;
    unsigned to = 0;
    for (int d = 1; d < 32; d *= 2) {
        const int other = __shfl_up_sync(~0u, before, d);
        before += lane >= d ? other : 0;
    }
    if (lane == 31)
        to = atomicAdd(&j.state->listed, (unsigned)before);
    to = __shfl_sync(~0u, to, 31) + (unsigned)(before - count);
    for (; found; found &= found - 1, to++) {
        if (to < j.most_listed)
            j.list[to] = (uint32_t)((at.y + __ffs((int)found) - 1) * j.pitch_bounds + at.x);
    }
}

/* Notes the parts of the tensor cores' tiles that have windows of those found, a lane's part each. */
static __device__ __forceinline__ void mark(const tm_certified_job &j, const rows &at, unsigned found)
{
    const int size = j.level.cells.size, across = TM_MMA_TILE_WIDTH / TM_MMA_PART_WIDTH,
              high = TM_MMA_TILE_HEIGHT / TM_MMA_PART_HEIGHT, left = at.x - tm_cells_column();
    const int first_x = max((left - 1) * size + 1, 0) / TM_MMA_PART_WIDTH,
              end_x = min((left + WIDTH - 1) * size, (int)j.map_width - 1) / TM_MMA_PART_WIDTH + 1,
              first_y = max((at.y - 1) * size + 1, 0) / TM_MMA_PART_HEIGHT,
              end_y = min((at.y + LINES - 1) * size, (int)j.map_height - 1) / TM_MMA_PART_HEIGHT + 1;
    const int parts = (end_x - first_x) * (end_y - first_y);
    unsigned columns[LINES]; /* of each row, those found */

#pragma unroll
    for (int y = 0; y < LINES; y++)
        columns[y] = tm_warp_or((found >> y & 1) << tm_cells_column());
    for (int i = threadIdx.x & 31; i < parts; i += 32) {
        const int x = first_x + i % (end_x - first_x), y = first_y + i / (end_x - first_x);
        /* the cell windows that have windows in the part's columns, of these 32 */
        const int from = max((x * TM_MMA_PART_WIDTH + size - 1) / size - left, 0),
                  to = min(((x + 1) * TM_MMA_PART_WIDTH + size - 2) / size - left, WIDTH - 1);
        unsigned any = 0;
#pragma unroll
        for (int row = 0; row < LINES; row++) {
            const int last = (at.y + row) * size;
            if (last >= y * TM_MMA_PART_HEIGHT && last - size + 1 < (y + 1) * TM_MMA_PART_HEIGHT)
                any |= columns[row];
        }
        if (from > to || !(any >> from << from << (WIDTH - 1 - to)))
            continue;
        const unsigned tile = (unsigned)(x / across * j.tiles_down + y / high), shift = tile % 8 * 4;
        const unsigned bit = 1u << (shift + y % high * across + x % across);
        unsigned *word = j.tiles.parts + tile / 8;
        const unsigned before = atomicOr(word, bit);
        if (!(before >> shift & 15))
            j.tiles.tiles[atomicAdd(&j.state->tiled, 1u)] = tile;
    }
}

/* Lists what is left of a part. PAIRS: the level's, or 0 where its bounds are not refined. */
template <int PAIRS>
static __device__ __forceinline__ void list_part(const tm_certified_job &j, int part, int threshold)
{
    rows at(j, part);
    for (int end = at.y + j.tile_height / 2; at.y < end; at.y += LINES, at.left -= LINES) {
        unsigned found;
        if constexpr (PAIRS > 0)
            found = refine<PAIRS>(j, at, threshold);
        else
            found = find(j, at, threshold);
        if (!__any_sync(~0u, found))
            continue;
        add(j, at, found);
        if (j.tiles_down)
            mark(j, at, found);
    }
}

/* A warp's parts do not lie beside each other, as those with something left do. A lane looks at one. */
template <int PAIRS>
static __global__ void __launch_bounds__(THREADS, 3) list_kernel(tm_certified_job j, int parts)
{
    const int warps = (int)gridDim.x * WARPS, lane = threadIdx.x & 31;

    tm_early_begin();
    const float least = tm_certified_least(j);
    for (int first = (int)(blockIdx.x * WARPS + threadIdx.x / 32); first < parts; first += 32 * warps) {
        const int own = first + lane * warps, top = own < parts ? (int)(__ldcg(j.part_tops + own) >> 16) : 0;
        const bool is_left = top > 0 && !(top < TM_CELLS_LIMITS && __ldg(j.level.rough.limits + top) < least);
        unsigned left = __ballot_sync(~0u, is_left);
        if (!left)
            continue;
        const int threshold = tm_certified_threshold(j.level.fine, least);
        for (; left; left &= left - 1)
            list_part<PAIRS>(j, first + (__ffs((int)left) - 1) * warps, threshold);
    }
}

bool tm_certified_can_be_early(void)
{
    return tm_early_is_possible(list_kernel<0>);
}

template <int PAIRS>
static cudaError_t launch(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    const int parts = TM_CERTIFIED_PARTS * tm_certified_tiles(j);
    return tm_early_launch(list_kernel<PAIRS>, (unsigned)smaller(ceil_div(parts, WARPS), BLOCKS * multiprocessors),
                           THREADS, 0, j->early, stream, *j, parts);
}

cudaError_t tm_certified_list(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    if (j->level.ratio == 0)
        return launch<0>(j, multiprocessors, stream);
    switch (j->level.pairs) {
    case 2: return launch<2>(j, multiprocessors, stream);
    case 3: return launch<3>(j, multiprocessors, stream);
    case 4: return launch<4>(j, multiprocessors, stream);
    case 5: return launch<5>(j, multiprocessors, stream);
    case 6: return launch<6>(j, multiprocessors, stream);
    default: return launch<7>(j, multiprocessors, stream);
    }
}
