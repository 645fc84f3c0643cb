/* SPDX-License-Identifier: MIT */
/* Certified search: bounds of cell windows.
 *
 * A block makes a tile of cell windows. It sums the frame's pixels and their squares over cells,
 * takes from that the cells as bytes (in steps of 2^shift that suit the tile's range) and sums over
 * the rows of cell windows, and then multiplies coarse templates with cells on the tensor cores. A
 * product's first matrix has 16 lines, four shifts of a coarse template at four places each; its
 * second has 8 columns, the cells from 4 columns on; both have two rows of 16 cells. */
#include "integers.h"
#include "lcc/cuda/certified/bound.cuh"

enum { THREADS = 256, WIDTH = TM_CERTIFIED_TILE_WIDTH, BYTES = WIDTH + 16, PITCH = WIDTH + 17,
       SUMS_PITCH = WIDTH + 1 };

/* A tile's memory: cells, their bytes, and sums over rows of cell windows. */
template <bool BIG>
struct tile_memory {
    typedef tm_cell_format<BIG> format;
    static const int height = format::height;
    typename format::cell *cells;
    uint8_t *bytes;
    typename format::squares *squares; /* of the cells' sums */
    uint2 *sums;                       /* of pixels and of their squares */

    static __host__ __device__ size_t size(int down, int pairs)
    {
        const int rows = height + down - 1;
        return (size_t)rows * SUMS_PITCH * (sizeof(uint2) + sizeof(typename format::squares)) +
               (size_t)rows * PITCH * sizeof(typename format::cell) +
               (size_t)(height + 2 * pairs - 1) * BYTES + 16;
    }

    __device__ tile_memory(uint8_t *memory, int rows)
    {
        sums = (uint2 *)memory;
        squares = (typename format::squares *)(sums + rows * SUMS_PITCH);
        cells = (typename format::cell *)(squares + rows * SUMS_PITCH);
        bytes = (uint8_t *)(((uintptr_t)(cells + rows * PITCH) + 15) & ~(uintptr_t)15);
    }
};

/* As make_cells, for cells of 2 x 2. */
static __device__ __forceinline__ uint2 make_small_cells(const tm_certified_job &j,
                                                         const tile_memory<false> &tile, int tile_x,
                                                         int tile_y, int rows)
{
    enum { PAIRS = (PITCH - 1) / 2, BATCH = 6 };
    const int right = min(WIDTH + j.level.cells.across - 1,
                          j.cells_across + j.level.cells.across - 1 - tile_x);
    const int bottom = min(rows, j.cells_down + j.level.cells.down - 1 - tile_y);
    const uint8_t *frame = j.frame + (int64_t)tile_y * 2 * (int64_t)j.pitch + (int64_t)tile_x * 2;
    uint2 range = make_uint2(~0u, 0);

    for (int first = threadIdx.x; first < bottom * PAIRS; first += BATCH * THREADS) {
        uint32_t v[BATCH], w[BATCH]; /* loaded before any is used */
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int i = min(first + k * THREADS, bottom * PAIRS - 1);
            const uint8_t *at = frame + (int64_t)(i / PAIRS) * 2 * (int64_t)j.pitch + i % PAIRS * 4;
            v[k] = __ldg((const uint32_t *)at);
            w[k] = __ldg((const uint32_t *)(at + j.pitch));
        }
#pragma unroll
        for (int k = 0; k < BATCH; k++) {
            const int i = min(first + k * THREADS, bottom * PAIRS - 1), row = i / PAIRS,
                      x = 2 * (i % PAIRS);
            uint2 a, b;
            tm_cell_pair(v[k], w[k], a, b);
            if (x < right)
                range.x = min(range.x, a.x), range.y = max(range.y, a.x);
            if (x + 1 < right)
                range.x = min(range.x, b.x), range.y = max(range.y, b.x);
            tile.cells[row * PITCH + x] = tm_cell_format<false>::pack(a.x, a.y);
            tile.cells[row * PITCH + x + 1] = tm_cell_format<false>::pack(b.x, b.y);
        }
    }
    return range;
}

/* The frame's cells below the tile; beyond the last cell window, any. Returns the least sum and the
 * greatest of this thread's. SIZE: of a cell, or 0: any. */
template <bool BIG, int SIZE>
static __device__ __forceinline__ uint2 make_cells_of(const tm_certified_job &j,
                                                   const tile_memory<BIG> &tile, int tile_x,
                                                   int tile_y, int rows)
{
    const int size = SIZE ? SIZE : j.level.cells.size, lane = threadIdx.x & 31;
    const int right = min(WIDTH + j.level.cells.across - 1,
                          j.cells_across + j.level.cells.across - 1 - tile_x);
    const int bottom = min(rows, j.cells_down + j.level.cells.down - 1 - tile_y);
    uint2 range = make_uint2(~0u, 0);

    for (int row = threadIdx.x / 32; row < rows; row += THREADS / 32) {
        const uint8_t *from = j.frame + (int64_t)(tile_y + row) * size * (int64_t)j.pitch +
                              (int64_t)tile_x * size;
        typename tile_memory<BIG>::format::cell *to = tile.cells + row * PITCH;
        for (int x = lane; x < PITCH - 1; x += 32) {
            uint2 a = make_uint2(0, 0);
            if (x < right && row < bottom) {
                a = tm_cell<SIZE>(from, x * size, size, j.pitch);
                range.x = min(range.x, a.x), range.y = max(range.y, a.x);
            }
            to[x] = tm_cell_format<BIG>::pack(a.x, a.y);
        }
    }
    return range;
}

template <bool BIG>
static __device__ __forceinline__ uint2 make_cells(const tm_certified_job &j,
                                                   const tile_memory<BIG> &tile, int tile_x,
                                                   int tile_y, int rows)
{
    if constexpr (!BIG) {
        switch (j.level.cells.size) {
        case 2: return make_small_cells(j, tile, tile_x, tile_y, rows);
        case 3: return make_cells_of<BIG, 3>(j, tile, tile_x, tile_y, rows);
        default: return make_cells_of<BIG, 4>(j, tile, tile_x, tile_y, rows);
        }
    }
    switch (j.level.cells.size) {
    case 5: return make_cells_of<BIG, 5>(j, tile, tile_x, tile_y, rows);
    case 6: return make_cells_of<BIG, 6>(j, tile, tile_x, tile_y, rows);
    default: return make_cells_of<BIG, 0>(j, tile, tile_x, tile_y, rows);
    }
}

/* The least and the greatest of a block. */
static __device__ __forceinline__ uint2 block_range(uint2 range)
{
    __shared__ uint2 warps[THREADS / 32];
    for (int d = 16; d; d /= 2) {
        range.x = min(range.x, __shfl_xor_sync(~0u, range.x, d));
        range.y = max(range.y, __shfl_xor_sync(~0u, range.y, d));
    }
    if (!(threadIdx.x & 31))
        warps[threadIdx.x / 32] = range;
    __syncthreads();
    for (int i = 0; i < THREADS / 32; i++)
        range = make_uint2(min(range.x, warps[i].x), max(range.y, warps[i].y));
    return range;
}

/* The sums' bytes: (sum - least) / 2^shift, to the nearest. */
template <bool BIG>
static __device__ __forceinline__ void make_bytes(const tile_memory<BIG> &tile, int rows,
                                                  unsigned least, int shift)
{
    const unsigned bias = (shift ? 1u << (shift - 1) : 0) - least;
    for (int i = threadIdx.x; i < rows * (BYTES / 4); i += THREADS) {
        const int row = i / (BYTES / 4), word = i % (BYTES / 4);
        const typename tm_cell_format<BIG>::cell *cells = tile.cells + row * PITCH + 4 * word;
        unsigned v[4];
#pragma unroll
        for (int k = 0; k < 4; k++)
            v[k] = (tm_cell_format<BIG>::sum(cells[k]) + bias) >> shift;
        ((unsigned *)tile.bytes)[row * (BYTES / 4) + word] =
            __byte_perm(__byte_perm(v[0], v[1], 0x0040), __byte_perm(v[2], v[3], 0x0040), 0x5410);
    }
}

/* Sums over the rows of cell windows: of the cells' sums, of their squares, and of the pixels'. */
template <bool BIG>
static __device__ __forceinline__ void sum_rows(const tile_memory<BIG> &tile, int rows, int across)
{
    typedef tm_cell_format<BIG> format;
    enum { RUN = 8 };
    for (int task = threadIdx.x; task < rows * (WIDTH / RUN); task += THREADS) {
        const int row = task % rows, first = task / rows * RUN;
        const typename format::cell *cells = tile.cells + row * PITCH + first;
        unsigned sum = 0, pixels = 0;
        typename format::squares squares = 0;
        for (int x = 0; x < across; x++) {
            const unsigned c = format::sum(cells[x]);
            sum += c;
            pixels += format::pixels(cells[x]);
            squares += (typename format::squares)c * c;
        }
        uint2 *sums = tile.sums + row * SUMS_PITCH + first;
        typename format::squares *to = tile.squares + row * SUMS_PITCH + first;
#pragma unroll
        for (int x = 0; x < RUN; x++) {
            sums[x] = make_uint2(sum, pixels);
            to[x] = squares;
            const unsigned out = format::sum(cells[x]), in = format::sum(cells[x + across]);
            sum += in - out;
            pixels += format::pixels(cells[x + across]) - format::pixels(cells[x]);
            squares += (typename format::squares)in * in - (typename format::squares)out * out;
        }
    }
}

/* The greatest product of all shifts, for 8 rows of this lane's cell window. */
template <int PAIRS>
static __device__ __forceinline__ void multiply(int (&most)[8], const tm_certified_level &level,
                                                const uint8_t *bytes)
{
    const int lane = threadIdx.x & 31;
    unsigned b[2 * PAIRS + 7];
    int best[8][2];
    const uint8_t *from = bytes + 4 * (lane / 4) + 4 * (lane & 3);

#pragma unroll
    for (int i = 0; i < 2 * PAIRS + 7; i++)
        b[i] = *(const unsigned *)(from + i * BYTES);
#pragma unroll
    for (int y = 0; y < 8; y++)
        best[y][0] = best[y][1] = INT_MIN;
    for (int group = 0; group < level.groups; group++) {
        const uint4 *fragments = level.fragments + (size_t)group * PAIRS * 32 + lane;
        int acc[8][4];
#pragma unroll
        for (int i = 0; i < 32; i++)
            acc[i / 4][i & 3] = 0;
#pragma unroll
        for (int pair = 0; pair < PAIRS; pair++) {
            const uint4 a = __ldg(fragments + 32 * pair);
#pragma unroll
            for (int y = 0; y < 8; y++)
                tm_cells_mma(acc[y], a, b[y + 2 * pair], b[y + 2 * pair + 1]);
        }
#pragma unroll
        for (int y = 0; y < 8; y++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                best[y][i] = max(best[y][i], max(acc[y][i], acc[y][i + 2]));
    }
    /* a lane keeps one of its two columns, with the shifts of the lane that keeps the other */
    const bool high = lane & 16;
#pragma unroll
    for (int y = 0; y < 8; y++) {
        const int other = __shfl_xor_sync(~0u, high ? best[y][0] : best[y][1], 16);
        most[y] = max(high ? best[y][1] : best[y][0], other);
    }
}

/* Bounds of a warp's cell windows, 32 columns of the tile and half of its rows, from row on. Returns
 * this lane's greatest as tm_certified_job's tops have it. */
template <bool BIG, int PAIRS>
static __device__ __forceinline__ unsigned make_bounds(const tm_certified_job &j,
                                                       const tile_memory<BIG> &tile, int tile_x,
                                                       int tile_y, int column, int row, float step)
{
    typedef typename tm_cell_format<BIG>::squares squares_type;
    const tm_certified_level &level = j.level;
    const int lane = threadIdx.x & 31, down = level.cells.down,
              area = level.cells.size * level.cells.size, count = level.cells.across * down;
    const int own = column + 8 * (lane & 3) + lane / 16 * 4 + (lane / 4 & 3), x = tile_x + own;
    const int bottom = x < j.cells_across ? j.cells_down - tile_y : 0;
    const float per_cell = 1.0f / (float)count, scale = step * level.scale,
                error = step > 1 ? scale * level.error : 0.0f, delta = level.delta;
    const uint2 *sums = tile.sums + row * SUMS_PITCH + own;
    const squares_type *squares = tile.squares + row * SUMS_PITCH + own;
    uint8_t *to = j.bounds + (int64_t)(tile_y + row) * j.pitch_bounds + x;
    unsigned sum = 0, pixels = 0, top = 0;
    squares_type square = 0;

    for (int i = 0; i < down; i++) {
        sum += sums[i * SUMS_PITCH].x, pixels += sums[i * SUMS_PITCH].y;
        square += squares[i * SUMS_PITCH];
    }
    for (int end = row + tm_cell_format<BIG>::height / 2; row < end; row += 8) {
        int most[8];
        multiply<PAIRS>(most, level, tile.bytes + row * BYTES + column);
#pragma unroll
        for (int y = 0; y < 8; y++) {
            /* |Pf|^2 and |f|^2 - |Pf|^2 of the cell window, both times the cell's area */
            const float g = __ll2float_rn((int64_t)((uint64_t)square * (unsigned)count -
                                                    (uint64_t)sum * sum)) *
                            per_cell;
            const float rest = BIG ? __ll2float_rn((int64_t)((uint64_t)pixels * (unsigned)area - square))
                                   : (float)(pixels * (unsigned)area - (unsigned)square);
            unsigned byte = tm_cells_byte(
                tm_cells_bound(scale * (float)most[y] + error, g, rest, level.eps, level.most_part) +
                delta);
            byte = row + y < bottom ? byte : 0;
            *to = (uint8_t)byte;
            top = max(top, byte << 16 | (unsigned)(row + y) << 8 | (unsigned)own);
            to += j.pitch_bounds;
            const uint2 in = sums[down * SUMS_PITCH], out = sums[0];
            sum += in.x - out.x, pixels += in.y - out.y;
            square += squares[down * SUMS_PITCH] - squares[0];
            sums += SUMS_PITCH, squares += SUMS_PITCH;
        }
    }
    return top;
}

/* BIG: cells of more than TM_CERTIFIED_SMALL pixels across. */
template <bool BIG, int PAIRS>
static __global__ void __launch_bounds__(THREADS, 2) bound_kernel(tm_certified_job j, int first)
{
    extern __shared__ __align__(16) uint8_t smem[];
    enum { HEIGHT = tm_cell_format<BIG>::height };
    const int tile_x = (int)blockIdx.x % j.tiles_x * WIDTH,
              tile_y = first + (int)blockIdx.x / j.tiles_x * HEIGHT;
    const int rows = HEIGHT + j.level.cells.down - 1, warp = threadIdx.x / 32;
    const tile_memory<BIG> tile(smem, rows);

    const uint2 range = block_range(make_cells<BIG>(j, tile, tile_x, tile_y, rows));
    int shift = 0;
    while (((range.y - range.x + (shift ? 1u << (shift - 1) : 0)) >> shift) > 255)
        shift++;
    make_bytes<BIG>(tile, rows, range.x, shift);
    sum_rows<BIG>(tile, rows, j.level.cells.across);
    __syncthreads();
    unsigned top = make_bounds<BIG, PAIRS>(j, tile, tile_x, tile_y, warp % 4 * 32,
                                           warp / 4 * (HEIGHT / 2), (float)(1 << shift));
    __shared__ unsigned tops[THREADS / 32];
    for (int d = 16; d; d /= 2)
        top = max(top, __shfl_xor_sync(~0u, top, d));
    if (!(threadIdx.x & 31))
        tops[warp] = top;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < THREADS / 32; i++)
        top = max(top, tops[i]);
    j.tops[blockIdx.x] = top;
}

template <bool BIG, int PAIRS>
static cudaError_t launch(const tm_certified_job *job, int first, int end, cudaStream_t stream)
{
    tm_certified_job j = *job;
    const size_t bytes = tile_memory<BIG>::size(j.level.cells.down, PAIRS);
    const int64_t tiles = j.tiles_x * ceil_div(end - first, tm_cell_format<BIG>::height);
    j.cells_down = end;
    j.tops += first / j.tile_height * j.tiles_x;
    cudaError_t error = cudaFuncSetAttribute(bound_kernel<BIG, PAIRS>,
                                             cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (error != cudaSuccess)
        return error;
    bound_kernel<BIG, PAIRS><<<(unsigned)tiles, THREADS, bytes, stream>>>(j, first);
    return cudaGetLastError();
}

template <bool BIG>
static cudaError_t launch_pairs(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    switch (j->level.pairs) {
    case 2: return launch<BIG, 2>(j, first, end, stream);
    case 3: return launch<BIG, 3>(j, first, end, stream);
    case 4: return launch<BIG, 4>(j, first, end, stream);
    case 5: return launch<BIG, 5>(j, first, end, stream);
    case 6: return launch<BIG, 6>(j, first, end, stream);
    default: return launch<BIG, 7>(j, first, end, stream);
    }
}

cudaError_t tm_certified_bound(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    return j->level.cells.size > TM_CERTIFIED_SMALL ? launch_pairs<true>(j, first, end, stream)
                                                    : launch_pairs<false>(j, first, end, stream);
}
