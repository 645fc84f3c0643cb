/* SPDX-License-Identifier: MIT */
/* Certified search: bounds of cell windows.
 *
 * A block makes a tile of cell windows. From the frame's cells it makes the sums of cells and of their
 * squares, first down the columns of cell windows and then along their rows; and it multiplies coarse
 * templates with the cells, in half precision, on the tensor cores. A product's first matrix has 16
 * lines, four shifts of a coarse template at four places each; its second has 8 columns, the cells
 * from 4 columns on; both have a row of 16 cells. */
#include "integers.h"
#include "lcc/cuda/certified/bound.cuh"
#include "lcc/cuda/memory.cuh"

/* The pitches are odd, so that rows lie in different banks. */
enum { THREADS = 32 * TM_CERTIFIED_PARTS, WIDTH = TM_CERTIFIED_TILE_WIDTH, COLUMNS = TM_CERTIFIED_TILE_COLUMNS, PITCH = COLUMNS + 1,
       FACTORS_PITCH = WIDTH + 1 };

/* A tile's memory. */
template <bool BIG>
struct tile_memory {
    typedef tm_cell_columns<BIG> columns;
    typedef typename columns::squares_type squares_type;
    enum { HEIGHT = columns::height, SUMS_PITCH = columns::sums_words };
    squares_type *squares; /* of the cells below each other of a cell window's first column, */
    unsigned *sums;        /* their sums, */
    float *factors;        /* what a product's square is multiplied by, */
    unsigned *halves;      /* and cells in half precision, two in a word */

    static __host__ __device__ int rows(int pairs)
    {
        return HEIGHT + 2 * pairs - 1;
    }

    static __host__ __device__ size_t size(int pairs)
    {
        return HEIGHT * (PITCH * sizeof(squares_type) + SUMS_PITCH * 4 + FACTORS_PITCH * 4) +
               rows(pairs) * COLUMNS * 2;
    }

    __device__ tile_memory(uint8_t *memory)
    {
        squares = (squares_type *)memory;
        sums = (unsigned *)(squares + HEIGHT * PITCH);
        factors = (float *)(sums + HEIGHT * SUMS_PITCH);
        halves = (unsigned *)(factors + HEIGHT * FACTORS_PITCH);
    }
};

/* Two columns of the frame's cells below a tile; beyond the last row, that row's. */
struct cell_pairs {
    const unsigned *from;
    int pitch, last;
    bool small;
    tm_cells_rounding rounding;

    __device__ cell_pairs(const tm_certified_job &j, int tile_x, int tile_y, int pair)
    {
        pitch = (int)j.pitch_cells / 2;
        from = (const unsigned *)j.cells + (int64_t)tile_y * pitch + tile_x / 2 + pair;
        last = j.cells_down + j.level.cells.down - 2 - tile_y;
        small = j.level.cells.size == 2;
        rounding = j.level.rounding;
    }

    __device__ __forceinline__ unsigned at(int row) const
    {
        return __ldg(from + (int64_t)min(row, last) * pitch);
    }

    __device__ __forceinline__ unsigned halves(unsigned cells) const
    {
        if (small)
            return tm_cells_small_halves(cells);
        const int half = rounding.half, drop = rounding.drop,
                  low = (int)(((cells & 0xffff) + half) >> drop) - rounding.middle,
                  high = (int)(((cells >> 16) + half) >> drop) - rounding.middle;
        return tm_cells_half(low) | tm_cells_half(high) << 16;
    }
};

/* The cells in half precision, and their sums down the columns. A thread has two columns and some
 * rows. */
template <bool BIG, int PAIRS>
static __device__ __forceinline__ void sum_columns(const tm_certified_job &j, const tile_memory<BIG> &tile,
                                                   int tile_x, int tile_y)
{
    typedef tile_memory<BIG> memory;
    enum { HEIGHT = memory::HEIGHT, PARTS = THREADS / (COLUMNS / 2), EACH = (HEIGHT + PARTS - 1) / PARTS,
           OF_LAST = HEIGHT - (PARTS - 1) * EACH, ABOVE = 2 * PAIRS - 1 };
    const int pair = threadIdx.x % (COLUMNS / 2), part = threadIdx.x / (COLUMNS / 2), first = part * EACH,
              down = j.level.cells.down;
    if (part >= PARTS)
        return;

    const cell_pairs cells(j, tile_x, tile_y, pair);
    unsigned *halves = tile.halves + first * (COLUMNS / 2) + pair, *sums = tile.sums + first * memory::SUMS_PITCH;
    typename memory::squares_type *squares = tile.squares + first * PITCH + 2 * pair;
    tm_cell_columns<BIG> v;
    unsigned in[EACH], out[EACH]; /* loaded before any is used */
#pragma unroll
    for (int k = 0; k < EACH; k++)
        out[k] = cells.at(first + k), in[k] = cells.at(first + down - 1 + k);
#pragma unroll
    for (int k = 0; k < ABOVE; k++)
        if (k < ABOVE - 1 || k < down - 1)
            v.add(k < EACH ? out[k < EACH ? k : 0] : cells.at(first + k));
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (k >= OF_LAST && part == PARTS - 1)
            break;
        v.add(in[k]);
        v.put_sums(sums + k * memory::SUMS_PITCH, pair);
        squares[k * PITCH] = v.squares[0], squares[k * PITCH + 1] = v.squares[1];
        v.take(out[k]);
        halves[k * (COLUMNS / 2)] = cells.halves(out[k]);
    }
    for (int row = HEIGHT + part; row < memory::rows(PAIRS); row += PARTS)
        tile.halves[row * (COLUMNS / 2) + pair] = cells.halves(cells.at(row));
}

/* Sums along the rows of cell windows, and from these the factors of their products' squares. NARROW:
 * the level's. */
template <bool BIG, bool NARROW>
static __device__ __forceinline__ void make_factors(const tile_memory<BIG> &tile,
                                                    const tm_certified_level &level)
{
    typedef tile_memory<BIG> memory;
    enum { HEIGHT = memory::HEIGHT, RUN = WIDTH * HEIGHT / THREADS };
    const int row = threadIdx.x % HEIGHT, first = threadIdx.x / HEIGHT * RUN, across = level.cells.across;
    const unsigned count = (unsigned)(across * level.cells.down), *sums = tile.sums + row * memory::SUMS_PITCH;
    const typename memory::squares_type *squares = tile.squares + row * PITCH + first;
    float *to = tile.factors + row * FACTORS_PITCH + first;
    unsigned out[RUN], sum = 0;
    typename memory::squares_type out2[RUN], sum2 = 0;

#pragma unroll
    for (int x = 0; x < RUN; x++) {
        out[x] = memory::columns::sum_of(sums, first + x), out2[x] = squares[x];
        if (x < TM_CELLS_LEAST || x < across)
            sum += out[x], sum2 += out2[x];
    }
    for (int x = RUN; x < across; x++)
        sum += memory::columns::sum_of(sums, first + x), sum2 += squares[x];
#pragma unroll
    for (int x = 0; x < RUN; x++) {
        float spread; /* 0 only where it is, and then the product is 0 too, but for what error adds */
        if (NARROW)
            spread = (float)((unsigned)sum2 * count - sum * sum);
        else
            spread = __ll2float_rn((int64_t)((uint64_t)sum2 * count - (uint64_t)sum * sum));
        to[x] = BIG && spread == 0 ? 0.0f : tm_cells_quotient(level.factor, fmaxf(spread, 1.0f));
        sum += memory::columns::sum_of(sums, first + x + across) - out[x];
        sum2 += squares[x + across] - out2[x];
    }
}

enum { LINES = 8 }; /* of cell windows, which a warp makes at a time */

/* The greatest product of all shifts, or 0, for LINES rows of this lane's cell window. */
template <int PAIRS>
static __device__ __forceinline__ void multiply(float (&most)[LINES], const tm_certified_level &level,
                                                const unsigned *halves)
{
    enum { ROWS = 2 * PAIRS };
    const int lane = threadIdx.x & 31;
    unsigned b[ROWS + LINES - 1][2];
    float best[LINES][2];
    const unsigned *from = halves + 2 * (lane / 4) + (lane & 3);

#pragma unroll
    for (int i = 0; i < ROWS + LINES - 1; i++)
        b[i][0] = from[i * (COLUMNS / 2)], b[i][1] = from[i * (COLUMNS / 2) + 4];
#pragma unroll
    for (int y = 0; y < LINES; y++)
        best[y][0] = best[y][1] = 0;
    const uint4 *fragments = level.fragments + lane;
    uint4 next = __ldg(fragments);
    for (int group = 0; group < level.groups; group++) {
        float acc[LINES][4];
#pragma unroll
        for (int i = 0; i < 4 * LINES; i++)
            acc[i / 4][i & 3] = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++, fragments += 32) {
            const uint4 a = next;
            next = __ldg(fragments + 32);
#pragma unroll
            for (int y = 0; y < LINES; y++)
                tm_cells_mma(acc[y], a, b[y + i][0], b[y + i][1]);
        }
#pragma unroll
        for (int y = 0; y < LINES; y++)
#pragma unroll
            for (int i = 0; i < 2; i++)
                best[y][i] = fmaxf(best[y][i], fmaxf(acc[y][i], acc[y][i + 2]));
    }
    /* a lane keeps one of its two columns, with the shifts of the lane that keeps the other */
    const bool high = lane & 16;
#pragma unroll
    for (int y = 0; y < LINES; y++) {
        const float other = __shfl_xor_sync(~0u, high ? best[y][0] : best[y][1], 16);
        most[y] = fmaxf(high ? best[y][1] : best[y][0], other);
    }
}

/* Bounds of a warp's cell windows, 32 columns of the tile and half of its rows, from row on. Returns
 * this lane's greatest as tm_certified_job's tops have it. */
template <bool BIG, int PAIRS>
static __device__ __forceinline__ unsigned make_bounds(const tm_certified_job &j, const tile_memory<BIG> &tile,
                                                       int tile_x, int tile_y, int column, int row)
{
    const int lane = threadIdx.x & 31, own = column + 8 * (lane & 3) + lane / 16 * 4 + (lane / 4 & 3),
              bottom = tile_x + own < j.cells_across ? j.cells_down - tile_y : 0;
    const float *factors = tile.factors + row * FACTORS_PITCH + own;
    const unsigned pitch = (unsigned)j.pitch_bounds;
    unsigned at = (unsigned)(tile_y + row) * pitch + (unsigned)(tile_x + own), top = 0;

    for (int end = row + tile_memory<BIG>::HEIGHT / 2; row < end; row += LINES) {
        float most[LINES];
        multiply<PAIRS>(most, j.level, tile.halves + row * (COLUMNS / 2) + column / 2);
#pragma unroll
        for (int y = 0; y < LINES; y++, factors += FACTORS_PITCH, at += pitch) {
            const float p = most[y] + j.level.error;
            const unsigned byte = row + y < bottom ? tm_cells_byte(p * p * *factors) : 0;
            j.bounds[at] = (uint8_t)byte;
            top = max(top, (byte << 16) + (unsigned)((row + y) << 8 | own));
        }
    }
    return top;
}

/* BIG: cells of more than TM_CERTIFIED_SMALL pixels across. */
template <bool BIG, int PAIRS>
static __global__ void __launch_bounds__(THREADS, 2) bound_kernel(tm_certified_job j, int first)
{
    extern __shared__ __align__(16) uint8_t smem[];
    __shared__ unsigned tops[THREADS / 32];
    enum { HEIGHT = tile_memory<BIG>::HEIGHT };
    const int tile_x = (int)blockIdx.x % j.tiles_x * WIDTH,
              tile_y = first + (int)blockIdx.x / j.tiles_x * HEIGHT, warp = threadIdx.x / 32;
    const tile_memory<BIG> tile(smem);

    tm_certified_wait();
    sum_columns<BIG, PAIRS>(j, tile, tile_x, tile_y);
    __syncthreads();
    if (!BIG && j.level.narrow)
        make_factors<BIG, true>(tile, j.level);
    else
        make_factors<BIG, false>(tile, j.level);
    __syncthreads();
    unsigned top = make_bounds<BIG, PAIRS>(j, tile, tile_x, tile_y, warp % 4 * 32, warp / 4 * (HEIGHT / 2));
    for (int d = 16; d; d /= 2)
        top = max(top, __shfl_xor_sync(~0u, top, d));
    if (!(threadIdx.x & 31)) {
        tops[warp] = top;
        j.part_tops[(int)blockIdx.x * TM_CERTIFIED_PARTS + warp] = top;
    }
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
    const size_t bytes = tile_memory<BIG>::size(PAIRS);
    const int64_t tiles = j.tiles_x * ceil_div(end - first, (int)tile_memory<BIG>::HEIGHT);
    j.cells_down = end;
    j.tops += first / j.tile_height * j.tiles_x;
    j.part_tops += first / j.tile_height * j.tiles_x * TM_CERTIFIED_PARTS;
    const cudaError_t error = TM_CALL(cudaFuncSetAttribute(
        bound_kernel<BIG, PAIRS>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    if (error != cudaSuccess)
        return error;
    return tm_certified_launch(bound_kernel<BIG, PAIRS>, (unsigned)tiles, THREADS, bytes, j.early, stream, j,
                               first);
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
