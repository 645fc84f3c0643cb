/* SPDX-License-Identifier: MIT */
/* Certified search: bounds of cell windows. small_bound.cu has those of the smallest cells.
 *
 * A block makes a tile of cell windows. From the frame's cells it makes the sums of cells and of their
 * squares, first down the columns of cell windows and then along their rows; and it multiplies coarse
 * templates with the cells, in half precision, on the tensor cores. A product's first matrix has 16
 * lines, four coarse templates at four places each; its second has 8 columns, the cells
 * from 4 columns on; both have a row of 16 cells. */
#include "integers.h"
#include "lcc/cuda/certified/bound.cuh"
#include "lcc/cuda/memory.cuh"

/* The pitches are odd, so that rows lie in different banks. */
enum { THREADS = 32 * TM_CERTIFIED_PARTS, WIDTH = TM_CERTIFIED_TILE_WIDTH, COLUMNS = TM_CERTIFIED_TILE_COLUMNS, PITCH = COLUMNS + 1,
       FACTORS_PITCH = WIDTH + 1 };

/* A tile's memory. */
template <typename COLUMN>
struct tile_memory {
    typedef COLUMN columns;
    typedef typename columns::squares_type squares_type;
    enum { HEIGHT = columns::height, SUMS_PITCH = columns::sums_words };
    squares_type *squares; /* of the cells below each other of a cell window's first column, */
    unsigned *sums;        /* their sums, */
    float *factors;        /* what a product's square is multiplied by, */
    unsigned *halves;      /* cells in half precision, two in a word, */
    uint4 *fragments;      /* and those of coarse templates that are one group */

    static __host__ __device__ int rows(int pairs)
    {
        return HEIGHT + 2 * pairs - 1;
    }

    static __host__ __device__ size_t size(int pairs)
    {
        return HEIGHT * (PITCH * sizeof(squares_type) + SUMS_PITCH * 4 + FACTORS_PITCH * 4) +
               rows(pairs) * COLUMNS * 2 + (2 * pairs + 1) * 32 * sizeof(uint4);
    }

    __device__ tile_memory(uint8_t *memory, int pairs)
    {
        squares = (squares_type *)memory;
        sums = (unsigned *)(squares + HEIGHT * PITCH);
        factors = (float *)(sums + HEIGHT * SUMS_PITCH);
        halves = (unsigned *)(factors + HEIGHT * FACTORS_PITCH);
        fragments = (uint4 *)((uint8_t *)halves + rows(pairs) * COLUMNS * 2);
    }
};

/* The cells in half precision, and their sums down the columns. A thread has two columns and some
 * rows. */
template <typename COLUMN, int PAIRS>
static __device__ __forceinline__ void sum_columns(const tm_certified_job &j, const tile_memory<COLUMN> &tile,
                                                   int tile_x, int tile_y)
{
    typedef tile_memory<COLUMN> memory;
    enum { HEIGHT = memory::HEIGHT, PARTS = THREADS / (COLUMNS / 2), EACH = (HEIGHT + PARTS - 1) / PARTS,
           OF_LAST = HEIGHT - (PARTS - 1) * EACH, ABOVE = 2 * PAIRS - 1 };
    const int pair = threadIdx.x % (COLUMNS / 2), part = threadIdx.x / (COLUMNS / 2), first = part * EACH,
              down = j.level.cells.down;
    if (part >= PARTS)
        return;

    const tm_cell_pairs cells(j, tile_x + 2 * pair, tile_y);
    unsigned *halves = tile.halves + first * (COLUMNS / 2) + pair, *sums = tile.sums + first * memory::SUMS_PITCH;
    typename memory::squares_type *squares = tile.squares + first * PITCH + 2 * pair;
    COLUMN v;
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
template <typename COLUMN, bool NARROW>
static __device__ __forceinline__ void make_factors(const tile_memory<COLUMN> &tile,
                                                    const tm_certified_level &level)
{
    typedef tile_memory<COLUMN> memory;
    enum { HEIGHT = memory::HEIGHT, RUN = WIDTH * HEIGHT / THREADS };
    const int row = threadIdx.x % HEIGHT, first = threadIdx.x / HEIGHT * RUN, across = level.cells.across;
    const unsigned count = (unsigned)(across * level.cells.down), *sums = tile.sums + row * memory::SUMS_PITCH;
    const typename memory::squares_type *squares = tile.squares + row * PITCH + first;
    float *to = tile.factors + row * FACTORS_PITCH + first;
    unsigned out[RUN], sum = 0;
    typename memory::squares_type out2[RUN];
    typename COLUMN::window_type sum2 = 0;

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
        to[x] = COLUMN::big && spread == 0 ? 0.0f : tm_cells_quotient(level.rough.factor, fmaxf(spread, 1.0f));
        sum += memory::columns::sum_of(sums, first + x + across) - out[x];
        sum2 += squares[x + across], sum2 -= out2[x];
    }
}

enum { LINES = 4 }; /* of cell windows, which a warp makes at a time */

/* Bounds of a warp's cell windows, 32 columns of the tile and half of its rows, from row on. Returns
 * this lane's greatest as tm_certified_job's part_tops have it. */
template <typename COLUMN, int PAIRS>
static __device__ __forceinline__ unsigned make_bounds(const tm_certified_job &j, const tile_memory<COLUMN> &tile,
                                                       int tile_x, int tile_y, int column, int row)
{
    const int own = column + tm_cells_column(), bottom = tile_x + own < j.cells_across ? j.cells_down - tile_y : 0;
    const float *factors = tile.factors + row * FACTORS_PITCH + own;
    const uint4 *fragments = j.level.rough.groups == 1 ? tile.fragments : j.level.rough.fragments;
    const unsigned pitch = (unsigned)j.pitch_bounds;
    unsigned at = (unsigned)(tile_y + row) * pitch + (unsigned)(tile_x + own), top = 0;

    for (int end = row + tile_memory<COLUMN>::HEIGHT / 2; row < end; row += LINES) {
        const unsigned *halves = tile.halves + row * (COLUMNS / 2) + column / 2 + tm_cells_pair();
        float most[LINES];
        tm_cells_multiply<PAIRS, LINES, 1>(most, j.level.rough.groups, fragments,
                                           [&](int i, int k) { return halves[i * (COLUMNS / 2) + k]; });
#pragma unroll
        for (int y = 0; y < LINES; y++, factors += FACTORS_PITCH, at += pitch) {
            const float p = most[y] + j.level.rough.error;
            const unsigned byte = row + y < bottom ? tm_cells_byte(p * p * *factors) : 0;
            if (j.factors)
                j.factors[at] = *factors;
            j.bounds[at] = (uint8_t)byte;
            top = max(top, (byte << 16) + (unsigned)((row + y) << 8 | own));
        }
    }
    return top;
}

template <typename COLUMN, int PAIRS>
static __global__ void __launch_bounds__(THREADS, 3) bound_kernel(tm_certified_job j, int first)
{
    extern __shared__ __align__(16) uint8_t smem[];
    enum { HEIGHT = tile_memory<COLUMN>::HEIGHT };
    const int tile_x = (int)blockIdx.x % j.tiles_x * WIDTH,
              tile_y = first + (int)blockIdx.x / j.tiles_x * HEIGHT, warp = threadIdx.x / 32;
    const tile_memory<COLUMN> tile(smem, PAIRS);

    if (j.level.rough.groups == 1)
        for (int i = threadIdx.x; i < 2 * PAIRS * 32; i += THREADS)
            tile.fragments[i] = __ldg(j.level.rough.fragments + i);
    tm_early_begin();
    sum_columns<COLUMN, PAIRS>(j, tile, tile_x, tile_y);
    __syncthreads();
    if (!COLUMN::big && j.level.narrow)
        make_factors<COLUMN, true>(tile, j.level);
    else
        make_factors<COLUMN, false>(tile, j.level);
    __syncthreads();
    const unsigned top = make_bounds<COLUMN, PAIRS>(j, tile, tile_x, tile_y, warp % 4 * 32, warp / 4 * (HEIGHT / 2));
    tm_certified_keep_tops(j, top, first, HEIGHT);
}

template <typename COLUMN, int PAIRS>
static cudaError_t launch(const tm_certified_job *job, int first, int end, cudaStream_t stream)
{
    return tm_certified_launch_tiles(bound_kernel<COLUMN, PAIRS>, job, first, end, tile_memory<COLUMN>::size(PAIRS),
                                     stream);
}

template <typename COLUMN>
static cudaError_t launch_pairs(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    switch (j->level.pairs) {
    case 2: return launch<COLUMN, 2>(j, first, end, stream);
    case 3: return launch<COLUMN, 3>(j, first, end, stream);
    case 4: return launch<COLUMN, 4>(j, first, end, stream);
    case 5: return launch<COLUMN, 5>(j, first, end, stream);
    case 6: return launch<COLUMN, 6>(j, first, end, stream);
    default: return launch<COLUMN, 7>(j, first, end, stream);
    }
}

cudaError_t tm_certified_bound(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    const int size = j->level.cells.size;
    return size == TM_CELLS_SMALLEST     ? tm_certified_small_bound(j, first, end, stream)
           : size <= TM_CERTIFIED_SMALL  ? launch_pairs<tm_small_columns>(j, first, end, stream)
           : size <= TM_CERTIFIED_MIDDLE ? launch_pairs<tm_big_columns<unsigned>>(j, first, end, stream)
                                         : launch_pairs<tm_big_columns<unsigned long long>>(j, first, end, stream);
}
