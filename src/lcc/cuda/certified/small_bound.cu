/* SPDX-License-Identifier: MIT */
/* Certified search: bounds of cell windows whose cells are of 2 x 2 pixels, by the formula of bound.cu, in one
 * kernel from the frame's pixels on. There are so many of them that each instruction counts: a tile's cells are made where
 * they are summed, no loop of the products depends on the template, and bounds leave a warp in whole lines. */
#include "integers.h"
#include "lcc/cuda/certified/bound.cuh"
#include "lcc/cuda/memory.cuh"

enum {
    THREADS = 32 * TM_CERTIFIED_PARTS,
    WIDTH = TM_CERTIFIED_TILE_WIDTH,
    HEIGHT = TM_CERTIFIED_TILE_HEIGHT,
    PAIRS = TM_CERTIFIED_TILE_COLUMNS / 2, /* of columns of cells */
    PART = HEIGHT / 2,                     /* rows of a warp's cell windows */
    LINES = 8                              /* which it makes at a time */
};

/* A tile in shared memory. ROWS: of cells of a coarse template, or one more. Rows that threads go along have odd
 * lengths, so that they lie in different banks. */
template <int ROWS>
struct small_tile {
    unsigned cells[HEIGHT + ROWS - 1][PAIRS]; /* two in a word, each 1024 + c in half precision: 0x6400 | c */
    union {
        unsigned sums[HEIGHT][PAIRS + 1]; /* of a cell window's first column, two in a word; until factors are made */
        uint4 bounds[HEIGHT][WIDTH / 16];
    };
    union {
        unsigned squares[2][HEIGHT][PAIRS + 1]; /* likewise, of even columns and of odd ones */
        float factors[HEIGHT][WIDTH + 1];       /* what a product's square is multiplied by */
    };
    uint4 fragments[ROWS][32];
};

/* Two cells, as the tile has them, from four pixels of each of two rows. */
static __device__ __forceinline__ unsigned two_cells(unsigned above, unsigned below)
{
    const unsigned even = 0x00ff00ffu;
    return (above & even) + __byte_perm(above, 0, 0x4341) + (below & even) + __byte_perm(below, 0, 0x4341) + 0x64006400u;
}

/* The tile's cells; below the frame's last row of them, that one's. */
template <int ROWS>
static __device__ __forceinline__ void make_cells(small_tile<ROWS> &tile, const tm_certified_job &j, int tile_x,
                                                  int tile_y)
{
    enum { ALONG = PAIRS / 2, DOWN = THREADS / ALONG, ALL = HEIGHT + ROWS - 1, TURNS = (ALL + DOWN - 1) / DOWN };
    const int x = threadIdx.x % ALONG, first = threadIdx.x / ALONG, last = j.cells_down + j.level.cells.down - 2;
    const uint8_t *from = j.frame + 2 * tile_x + 8 * x;
    uint2 above[TURNS], below[TURNS]; /* loaded before any is used */

    if (first >= DOWN)
        return;
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const uint8_t *at = from + (int64_t)(2 * min(tile_y + first + k * DOWN, last)) * (int64_t)j.pitch;
        above[k] = __ldg((const uint2 *)at), below[k] = __ldg((const uint2 *)(at + j.pitch));
    }
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        if (k == TURNS - 1 && first + k * DOWN >= ALL)
            break;
        ((uint2 *)tile.cells[first + k * DOWN])[x] =
            make_uint2(two_cells(above[k].x, below[k].x), two_cells(above[k].y, below[k].y));
    }
}

/* Sums of cells and of their squares down the columns. A thread has two columns and a third of the rows. */
template <int ROWS>
static __device__ __forceinline__ void sum_columns(small_tile<ROWS> &tile, int down)
{
    enum { PARTS = THREADS / PAIRS, EACH = (HEIGHT + PARTS - 1) / PARTS, OF_LAST = HEIGHT - (PARTS - 1) * EACH };
    const int pair = threadIdx.x % PAIRS, part = threadIdx.x / PAIRS, first = part * EACH;
    unsigned in[EACH], out[EACH]; /* loaded before any is used */
    tm_small_columns v;

    const auto cells = [&](int row) { return tile.cells[first + row][pair] & 0x03ff03ffu; };
    if (part >= PARTS)
        return;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        if (k < OF_LAST || part < PARTS - 1)
            out[k] = cells(k), in[k] = cells(down - 1 + k);
#pragma unroll
    for (int k = 0; k < ROWS - 1; k++)
        if (k < ROWS - 2 || k < down - 1)
            v.add(k < OF_LAST ? out[k < EACH ? k : 0] : cells(k));
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        if (k >= OF_LAST && part == PARTS - 1)
            break;
        v.add(in[k]);
        tile.sums[first + k][pair] = v.sums;
        tile.squares[0][first + k][pair] = v.squares[0], tile.squares[1][first + k][pair] = v.squares[1];
        v.take(out[k]);
    }
}

/* Sums along the rows of cell windows, and from these the factors. SQUARE: a coarse template is as wide as high.
 * NARROW: the level's. */
template <int ROWS, bool SQUARE, bool NARROW>
static __device__ __forceinline__ void make_factors(small_tile<ROWS> &tile, const tm_certified_level &level)
{
    enum { RUN = WIDTH * HEIGHT / THREADS, LEAST = SQUARE ? ROWS - 1 : (int)TM_CELLS_LEAST };
    const int row = threadIdx.x % HEIGHT, first = threadIdx.x / HEIGHT * RUN, across = level.cells.across;
    const unsigned count = (unsigned)(across * level.cells.down);
    const uint16_t *sums = (const uint16_t *)tile.sums[row] + first;
    const unsigned *squares = &tile.squares[0][row][first / 2];
    const int odd = HEIGHT * (PAIRS + 1), in[2] = {(across & 1) * odd + across / 2, (~across & 1) * odd + (across + 1) / 2};
    unsigned out[RUN], out2[RUN], sum = 0, sum2 = 0;
    float factors[RUN];

#pragma unroll
    for (int x = 0; x < RUN; x++) {
        out[x] = sums[x], out2[x] = squares[(x & 1) * odd + x / 2];
        if (x < LEAST || (x < TM_CELLS_MOST && x < across))
            sum += out[x], sum2 += out2[x];
    }
#pragma unroll
    for (int x = 0; x < RUN; x++) {
        /* 0 only where all cells are equal, and then the product is 0 too */
        const float spread = NARROW ? (float)(sum2 * count - sum * sum)
                                    : __ll2float_rn((int64_t)((uint64_t)sum2 * count - (uint64_t)sum * sum));
        factors[x] = tm_cells_quotient(level.rough.factor, fmaxf(spread, 1.0f));
        sum += sums[x + across] - out[x];
        sum2 += squares[in[x & 1] + x / 2] - out2[x];
    }
    __syncthreads(); /* they take the place of the sums of squares */
#pragma unroll
    for (int x = 0; x < RUN; x++)
        tile.factors[row][first + x] = factors[x];
}

/* Bounds of a warp's cell windows, 32 columns of the tile and half of its rows. Returns this lane's greatest as
 * tm_certified_job's part_tops have it. EDGE: some of the tile's lie beyond the map's. */
template <int ROWS, bool EDGE>
static __device__ __forceinline__ unsigned make_bounds(small_tile<ROWS> &tile, const tm_certified_job &j, int tile_x,
                                                       int tile_y)
{
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, column = warp % 4 * 32, first = warp / 4 * PART,
              own = column + tm_cells_column(),
              rows = tile_x + own < j.cells_across ? j.cells_down - tile_y - first : 0;
    const unsigned(*cells)[PAIRS] = tile.cells + first;
    const int pair = column / 2 + tm_cells_pair();
    const bool high = lane & 16;
    const float *factors = &tile.factors[first][own];
    uint8_t *to = (uint8_t *)tile.bounds[first] + own;
    unsigned top = 0;

#pragma unroll
    for (int step = 0; step < PART; step += LINES) {
        float acc[LINES][4];
#pragma unroll
        for (int i = 0; i < 4 * LINES; i++)
            acc[i / 4][i & 3] = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++) {
            const uint4 a = tile.fragments[i][lane];
#pragma unroll
            for (int y = 0; y < LINES; y++)
                tm_cells_mma(acc[y], a, cells[step + y + i][pair], cells[step + y + i][pair + 4]);
        }
#pragma unroll
        for (int y = 0; y < LINES; y++) {
            /* a lane keeps one of its two columns, with the templates of the lane that keeps the other */
            const float even = fmaxf(acc[y][0], acc[y][2]), odd = fmaxf(acc[y][1], acc[y][3]),
                        other = __shfl_xor_sync(~0u, high ? even : odd, 16),
                        most = fmaxf(fmaxf(high ? odd : even, other), 0.0f);
            unsigned byte = tm_cells_byte(most * most * factors[(step + y) * (WIDTH + 1)]);
            if (EDGE)
                byte = step + y < rows ? byte : 0;
            to[(step + y) * WIDTH] = (uint8_t)byte;
            top = max(top, (byte << 16) + (unsigned)(step + y) * 256);
        }
    }
    __syncwarp();
    const int row = first + lane / 2, part = column / 16 + lane % 2;
    *(uint4 *)(j.bounds + (int64_t)(tile_y + row) * j.pitch_bounds + tile_x + 16 * part) = tile.bounds[row][part];
    return top + (unsigned)(first << 8 | own);
}

template <int ROWS, bool SQUARE>
static __global__ void __launch_bounds__(THREADS, 3) small_bound_kernel(tm_certified_job j, int first)
{
    extern __shared__ __align__(16) uint8_t smem[];
    small_tile<ROWS> &tile = *(small_tile<ROWS> *)smem;
    const int x = (int)blockIdx.x % j.tiles_x * WIDTH, y = first + (int)blockIdx.x / j.tiles_x * HEIGHT;

    for (int i = threadIdx.x; i < ROWS * 32; i += THREADS)
        (&tile.fragments[0][0])[i] = __ldg(j.level.rough.fragments + i);
    tm_early_begin();
    make_cells(tile, j, x, y);
    __syncthreads();
    sum_columns(tile, j.level.cells.down);
    __syncthreads();
    if (j.level.narrow)
        make_factors<ROWS, SQUARE, true>(tile, j.level);
    else
        make_factors<ROWS, SQUARE, false>(tile, j.level);
    __syncthreads();
    const unsigned top = x + WIDTH > j.cells_across || y + HEIGHT > j.cells_down ? make_bounds<ROWS, true>(tile, j, x, y)
                                                                                 : make_bounds<ROWS, false>(tile, j, x, y);
    tm_certified_keep_tops(j, top, first, HEIGHT);
}

template <int ROWS>
static cudaError_t launch(const tm_certified_job *job, int first, int end, cudaStream_t stream)
{
    const tm_cells *cells = &job->level.cells;
    return tm_certified_launch_tiles(cells->across == cells->down ? small_bound_kernel<ROWS, true>
                                                                  : small_bound_kernel<ROWS, false>,
                                     job, first, end, sizeof(small_tile<ROWS>), stream);
}

cudaError_t tm_certified_small_bound(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    switch (j->level.pairs) {
    case 2: return launch<4>(j, first, end, stream);
    case 3: return launch<6>(j, first, end, stream);
    case 4: return launch<8>(j, first, end, stream);
    case 5: return launch<10>(j, first, end, stream);
    case 6: return launch<12>(j, first, end, stream);
    default: return launch<14>(j, first, end, stream);
    }
}
