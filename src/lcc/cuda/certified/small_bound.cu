/* SPDX-License-Identifier: MIT */
/* Certified search: bounds of cell windows whose cells are of 2 x 2 pixels, by the formula of bound.cu, in one
 * kernel from the frame's pixels on. There are so many of them that each instruction and each access to shared memory counts: a tile's
 * cells are made where they are summed, no loop of the products depends on the template, and bounds leave a warp in whole lines. */
#include "integers.h"
#include "lcc/cuda/certified/bound.cuh"
#include "lcc/cuda/memory.cuh"

enum {
    THREADS = 32 * TM_CERTIFIED_PARTS,
    WIDTH = TM_CERTIFIED_TILE_WIDTH,
    HEIGHT = TM_CERTIFIED_TILE_HEIGHT,
    COLUMNS = TM_CERTIFIED_TILE_COLUMNS,
    PAIRS = COLUMNS / 2, /* of columns of cells */
    PART = HEIGHT / 2,   /* rows of a warp's cell windows, */
    LINES = 8            /* which it makes at a time */
};

/* A tile in shared memory, for cell windows of so many rows. Lines are so much longer than what they hold that threads which go along
 * lines, or down columns, use all banks. */
template <int DOWN>
struct small_tile {
    unsigned cells[HEIGHT + DOWN - 1][PAIRS + 16]; /* two in a word, each 1024 + c in half precision: 0x6400 | c */
    union {
        uint16_t sums[HEIGHT][COLUMNS + 8]; /* of a column of a cell window; until factors are made */
        uint4 bounds[HEIGHT][WIDTH / 16 + 2];
    };
    union {
        unsigned squares[HEIGHT][COLUMNS + 4]; /* likewise */
        float factors[HEIGHT][WIDTH + 4];      /* what a product's square is multiplied by */
    };
    uint4 fragments[DOWN + 1][32];
};

/* Two cells, as the tile has them, from four pixels of each of two rows. */
static __device__ __forceinline__ unsigned two_cells(unsigned above, unsigned below)
{
    const unsigned even = 0x00ff00ffu;
    return (above & even) + __byte_perm(above, 0, 0x4341) + (below & even) + __byte_perm(below, 0, 0x4341) + 0x64006400u;
}

/* The tile's cells; below the frame's last row of them, that one's. */
template <int DOWN>
static __device__ __forceinline__ void make_cells(small_tile<DOWN> &tile, const tm_certified_job &j, int tile_x,
                                                  int tile_y)
{
    enum { ALONG = PAIRS / 2, BESIDE = THREADS / ALONG, ALL = HEIGHT + DOWN - 1, TURNS = (ALL + BESIDE - 1) / BESIDE };
    const int x = threadIdx.x % ALONG, first = threadIdx.x / ALONG, last = j.cells_down + DOWN - 2;
    const uint8_t *from = j.frame + 2 * tile_x + 8 * x;
    uint2 above[TURNS], below[TURNS]; /* loaded before any is used */

    if (first >= BESIDE)
        return;
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        const uint8_t *at = from + (int64_t)(2 * min(tile_y + first + k * BESIDE, last)) * (int64_t)j.pitch;
        above[k] = __ldg((const uint2 *)at), below[k] = __ldg((const uint2 *)(at + j.pitch));
    }
#pragma unroll
    for (int k = 0; k < TURNS; k++) {
        if (k == TURNS - 1 && first + k * BESIDE >= ALL)
            break;
        ((uint2 *)tile.cells[first + k * BESIDE])[x] =
            make_uint2(two_cells(above[k].x, below[k].x), two_cells(above[k].y, below[k].y));
    }
}

/* Sums of cells and of their squares down the columns, each from all rows so far less those before it. A thread has two columns and a third
 * of the rows. */
template <int DOWN>
static __device__ __forceinline__ void sum_columns(small_tile<DOWN> &tile)
{
    enum { PARTS = THREADS / PAIRS, EACH = (HEIGHT + PARTS - 1) / PARTS, OF_LAST = HEIGHT - (PARTS - 1) * EACH };
    static_assert((EACH + DOWN - 1) * 4 * 255 < 1 << 16, "a column's sums fit in half a word");
    const int pair = threadIdx.x % PAIRS, part = threadIdx.x / PAIRS, first = part * EACH;
    tm_small_columns v, before[EACH]; /* what is above a row's cell windows */

    if (part >= PARTS)
        return;
#pragma unroll
    for (int k = 0; k < EACH + DOWN - 1; k++) {
        if (k >= OF_LAST + DOWN - 1 && part == PARTS - 1)
            break;
        if (k < EACH)
            before[k] = v;
        v.add(tile.cells[first + k][pair] & 0x03ff03ffu);
        if (k < DOWN - 1)
            continue;
        const int row = k - (DOWN - 1);
        *(unsigned *)&tile.sums[first + row][2 * pair] = v.sums - before[row].sums;
        *(uint2 *)&tile.squares[first + row][2 * pair] =
            make_uint2(v.squares[0] - before[row].squares[0], v.squares[1] - before[row].squares[1]);
    }
}

/* The sums of so many columns beside each other. */
template <int ALL>
struct column_sums {
    uint4 sums[(ALL + 7) / 8], squares[(ALL + 3) / 4];

    template <int DOWN>
    __device__ __forceinline__ column_sums(const small_tile<DOWN> &tile, int row, int first)
    {
#pragma unroll
        for (int i = 0; i < (ALL + 7) / 8; i++)
            sums[i] = *(const uint4 *)&tile.sums[row][first + 8 * i];
#pragma unroll
        for (int i = 0; i < (ALL + 3) / 4; i++)
            squares[i] = *(const uint4 *)&tile.squares[row][first + 4 * i];
    }

    __device__ __forceinline__ unsigned sum(int x) const
    {
        const uint4 &of = sums[x / 8];
        const unsigned two = x / 2 % 4 == 0 ? of.x : x / 2 % 4 == 1 ? of.y : x / 2 % 4 == 2 ? of.z : of.w;
        return x % 2 ? two >> 16 : two & 0xffff;
    }

    __device__ __forceinline__ unsigned square(int x) const
    {
        const uint4 &of = squares[x / 4];
        return x % 4 == 0 ? of.x : x % 4 == 1 ? of.y : x % 4 == 2 ? of.z : of.w;
    }
};

/* Sums along the rows of cell windows, and from these the factors. SQUARE: the windows are as wide as high. */
template <int DOWN, bool SQUARE>
static __device__ __forceinline__ void make_factors(small_tile<DOWN> &tile, const tm_certified_level &level)
{
    enum { RUN = WIDTH * HEIGHT / THREADS, LEAST = SQUARE ? DOWN : (int)TM_CELLS_LEAST, MOST = SQUARE ? DOWN : (int)TM_CELLS_MOST };
    constexpr bool NARROW = SQUARE && DOWN * DOWN * 4 * 255 < 1 << 17; /* what sums have of spread has 32 bits */
    const int row = threadIdx.x % HEIGHT, first = threadIdx.x / HEIGHT * RUN, across = SQUARE ? (int)DOWN : level.cells.across;
    const unsigned count = (unsigned)(across * level.cells.down);
    const column_sums<SQUARE ? RUN + DOWN - 1 : (int)RUN> of(tile, row, first);
    unsigned sum = 0, sum2 = 0;
    float factors[RUN];

#pragma unroll
    for (int x = 0; x < MOST; x++)
        if (x < LEAST || x < across)
            sum += of.sum(x), sum2 += of.square(x);
#pragma unroll
    for (int x = 0; x < RUN; x++) {
        /* 0 only where all cells are equal, and then the product is 0, or 1 as bounds take it */
        const float spread = NARROW ? (float)(sum2 * count - sum * sum)
                                    : __ll2float_rn((int64_t)((uint64_t)sum2 * count - (uint64_t)sum * sum));
        factors[x] = tm_cells_quotient(level.rough.factor, fmaxf(spread, 1.0f));
        if (x == RUN - 1)
            break;
        sum += (SQUARE ? of.sum(x + DOWN) : tile.sums[row][first + x + across]) - of.sum(x);
        sum2 += (SQUARE ? of.square(x + DOWN) : tile.squares[row][first + x + across]) - of.square(x);
    }
    __syncthreads(); /* they take the place of the sums of squares */
#pragma unroll
    for (int x = 0; x < RUN; x += 4) {
        const float4 four = {factors[x], factors[x + 1], factors[x + 2], factors[x + 3]};
        *(float4 *)&tile.factors[row][first + x] = four;
    }
}

/* The whole number from a product's square, not 0, times its factor on, 255 at most, in the low bits. */
static __device__ __forceinline__ unsigned tm_small_byte(float square, float factor)
{
    float r;
    asm("fma.rp.f32 %0, %1, %2, 0f4b000000;" : "=f"(r) : "f"(square), "f"(factor));
    return min(__float_as_uint(r), 0x4b0000ffu);
}

/* A warp's products of 32 columns of cell windows, with so many coarse templates. */
template <int TEMPLATES>
struct small_product {
    enum {
        ROWS = 4 / TEMPLATES, /* of cell windows in one product, of which a lane keeps as many results, in one row */
        GROUPS = LINES / ROWS /* products at a time */
    };

    /* The first result's column and row; others are in every fourth column from there on. */
    static __device__ __forceinline__ int column()
    {
        const int lane = threadIdx.x & 31;
        return TEMPLATES == 4 ? tm_cells_column() : 8 * (lane & 3) + (lane / 4 & 3);
    }

    static __device__ __forceinline__ int row()
    {
        return TEMPLATES == 4 ? 0 : (threadIdx.x & 31) / 16;
    }

    /* The greatest of the templates' products. */
    static __device__ __forceinline__ float result(const float (&of)[4], int i)
    {
        if (TEMPLATES == 2)
            return fmaxf(of[i], of[i + 2]);
        /* a lane keeps one of its two columns, with the templates of the lane that keeps the other */
        const float even = fmaxf(of[0], of[2]), odd = fmaxf(of[1], of[3]);
        const bool high = threadIdx.x & 16;
        return fmaxf(high ? odd : even, __shfl_xor_sync(~0u, high ? even : odd, 16));
    }

    /* Products of the cell windows from a row on, whose first cells are in these pairs of columns. */
    template <int DOWN>
    static __device__ __forceinline__ void multiply(float (&to)[GROUPS][4], const small_tile<DOWN> &tile, int row, int pair)
    {
#pragma unroll
        for (int i = 0; i < 4 * GROUPS; i++)
            to[i / 4][i & 3] = 0;
#pragma unroll
        for (int i = 0; i < DOWN + ROWS - 1; i++) {
            const uint4 a = tile.fragments[i][threadIdx.x & 31];
#pragma unroll
            for (int y = 0; y < GROUPS; y++) {
                const unsigned *cells = tile.cells[row + ROWS * y + i] + pair;
                tm_cells_mma(to[y], a, cells[0], cells[4]);
            }
        }
    }
};

/* Bounds of a warp's cell windows, 32 columns of the tile and half of its rows. Returns this lane's greatest as
 * tm_certified_job's part_tops have it. EDGE: some of the tile's lie beyond the map's. */
template <int DOWN, int TEMPLATES, bool EDGE>
static __device__ __forceinline__ unsigned make_bounds(small_tile<DOWN> &tile, const tm_certified_job &j, int tile_x,
                                                       int tile_y)
{
    typedef small_product<TEMPLATES> product;
    enum { BYTES = sizeof tile.bounds[0] };
    const int warp = threadIdx.x / 32, lane = threadIdx.x & 31, columns = warp % 4 * 32, first = warp / 4 * PART,
              column = columns + product::column(), row = first + product::row(), down = j.cells_down - tile_y - row,
              across = j.cells_across - tile_x - column;
    const float *factors = &tile.factors[row][column];
    uint8_t *to = (uint8_t *)tile.bounds[row] + column;
    unsigned top = 0;

#pragma unroll
    for (int step = 0; step < PART; step += LINES) {
        float products[product::GROUPS][4];
        product::multiply(products, tile, first + step, columns / 2 + tm_cells_pair());
#pragma unroll
        for (int k = 0; k < LINES; k++) {
            const int x = k % product::ROWS * 4, y = step + k - k % product::ROWS;
            const float most = fmaxf(product::result(products[k / product::ROWS], k % product::ROWS), 1);
            unsigned byte = tm_small_byte(most * most, factors[y * (WIDTH + 4) + x]);
            if (EDGE)
                byte = y < down && x < across ? byte : 0;
            to[y * BYTES + x] = (uint8_t)byte;
            top = max(top, (byte << 16) + (unsigned)(y << 8 | x));
        }
    }
    __syncwarp();
    const int line = first + lane / 2, part = columns / 16 + lane % 2;
    *(uint4 *)(j.bounds + (int64_t)(tile_y + line) * j.pitch_bounds + tile_x + 16 * part) = tile.bounds[line][part];
    return top + (unsigned)(row << 8 | column);
}

template <int DOWN, bool SQUARE, int TEMPLATES>
static __global__ void __launch_bounds__(THREADS, TEMPLATES == 2 ? 4 : 3) small_bound_kernel(tm_certified_job j, int first)
{
    extern __shared__ __align__(16) uint8_t smem[];
    small_tile<DOWN> &tile = *(small_tile<DOWN> *)smem;
    const int x = (int)blockIdx.x % j.tiles_x * WIDTH, y = first + (int)blockIdx.x / j.tiles_x * HEIGHT;

    for (int i = threadIdx.x; i < (DOWN + small_product<TEMPLATES>::ROWS - 1) * 32; i += THREADS)
        (&tile.fragments[0][0])[i] = __ldg(j.level.rough.fragments + i);
    tm_early_begin();
    make_cells(tile, j, x, y);
    __syncthreads();
    sum_columns(tile);
    __syncthreads();
    make_factors<DOWN, SQUARE>(tile, j.level);
    __syncthreads();
    const unsigned top = x + WIDTH > j.cells_across || y + HEIGHT > j.cells_down
                             ? make_bounds<DOWN, TEMPLATES, true>(tile, j, x, y)
                             : make_bounds<DOWN, TEMPLATES, false>(tile, j, x, y);
    tm_certified_keep_tops(j, top, first, HEIGHT);
}

template <int DOWN, bool SQUARE>
static cudaError_t launch_rows(const tm_certified_job *job, int first, int end, cudaStream_t stream)
{
    return tm_certified_launch_tiles(job->level.rough.templates == 2 ? small_bound_kernel<DOWN, SQUARE, 2>
                                                                     : small_bound_kernel<DOWN, SQUARE, 4>,
                                     job, first, end, sizeof(small_tile<DOWN>), stream);
}

template <int DOWN>
static cudaError_t launch(const tm_certified_job *job, int first, int end, cudaStream_t stream)
{
    const tm_cells *cells = &job->level.cells;
    return (cells->across == cells->down ? launch_rows<DOWN, true> : launch_rows<DOWN, false>)(job, first, end, stream);
}

cudaError_t tm_certified_small_bound(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    switch (j->level.cells.down) {
    case 4: return launch<4>(j, first, end, stream);
    case 5: return launch<5>(j, first, end, stream);
    case 6: return launch<6>(j, first, end, stream);
    case 7: return launch<7>(j, first, end, stream);
    case 8: return launch<8>(j, first, end, stream);
    case 9: return launch<9>(j, first, end, stream);
    case 10: return launch<10>(j, first, end, stream);
    case 11: return launch<11>(j, first, end, stream);
    case 12: return launch<12>(j, first, end, stream);
    default: return launch<13>(j, first, end, stream);
    }
}
