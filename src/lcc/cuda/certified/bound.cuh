/* SPDX-License-Identifier: MIT */
/* What a bound is made of: sums of cells, their products with coarse templates, the formula. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_BOUND_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_BOUND_CUH

#include "integers.h"
#include "lcc/cuda/certified/certified.cuh"

static_assert(TM_CELLS_MOST * TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255 < 1 << 16,
              "the sum of a column of small cells fits in half a word");
static_assert(TM_CELLS_MOST * TM_CELLS_MOST * (int64_t)(TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255) *
                      (TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255) < (int64_t)1 << 32,
              "the squares of a cell window's small cells fit in one word");

#define TM_CERTIFIED_MIDDLE 8 /* pixels across a cell, up to which the squares of a column fit in one word */
static_assert(TM_CELLS_MOST * (int64_t)(TM_CERTIFIED_MIDDLE * TM_CERTIFIED_MIDDLE * 255) *
                      (TM_CERTIFIED_MIDDLE * TM_CERTIFIED_MIDDLE * 255) < (int64_t)1 << 32,
              "they do");

/* Sums of two neighbouring columns of cells, which come two in a word, and of their squares; those of small
 * cells share a word: there are TM_CELLS_MOST in a column at most. */
struct tm_small_columns {
    enum { big = false, height = TM_CERTIFIED_TILE_HEIGHT }; /* of a tile */
    typedef unsigned squares_type, window_type; /* of a column, and of all of a cell window's */
    unsigned sums = 0, squares[2] = {};

    __device__ __forceinline__ void add(unsigned cells)
    {
        const unsigned low = cells & 0xffff, high = cells >> 16;
        sums += cells, squares[0] += low * low, squares[1] += high * high;
    }

    __device__ __forceinline__ void take(unsigned cells)
    {
        const unsigned low = cells & 0xffff, high = cells >> 16;
        sums -= cells, squares[0] -= low * low, squares[1] -= high * high;
    }

    /* Rows of sums have an odd number of words. */
    enum { sums_words = TM_CERTIFIED_TILE_COLUMNS / 2 + 1 };

    __device__ __forceinline__ void put_sums(unsigned *row, int pair) const
    {
        row[pair] = sums;
    }

    static __device__ __forceinline__ unsigned sum_of(const unsigned *row, int x)
    {
        return ((const uint16_t *)row)[x];
    }
};

/* Those of cells of more than TM_CERTIFIED_SMALL pixels across. */
template <typename SQUARES>
struct tm_big_columns {
    enum { big = true, height = TM_CERTIFIED_BIG_TILE_HEIGHT };
    typedef SQUARES squares_type;
    typedef unsigned long long window_type;
    unsigned sums[2] = {};
    squares_type squares[2] = {};

    __device__ __forceinline__ void add(unsigned cells)
    {
        const unsigned low = cells & 0xffff, high = cells >> 16;
        sums[0] += low, sums[1] += high;
        squares[0] += (squares_type)low * low, squares[1] += (squares_type)high * high;
    }

    __device__ __forceinline__ void take(unsigned cells)
    {
        const unsigned low = cells & 0xffff, high = cells >> 16;
        sums[0] -= low, sums[1] -= high;
        squares[0] -= (squares_type)low * low, squares[1] -= (squares_type)high * high;
    }

    enum { sums_words = TM_CERTIFIED_TILE_COLUMNS + 1 };

    __device__ __forceinline__ void put_sums(unsigned *row, int pair) const
    {
        row[2 * pair] = sums[0], row[2 * pair + 1] = sums[1];
    }

    static __device__ __forceinline__ unsigned sum_of(const unsigned *row, int x)
    {
        return row[x];
    }
};

/* The half-precision number of an integer of 11 bits and a sign. */
static __device__ __forceinline__ unsigned tm_cells_half(int v)
{
    unsigned short h;
    asm("cvt.rn.f16.s32 %0, %1;" : "=h"(h) : "r"(v));
    return h;
}

/* d += A B, in half precision and exact: A has 16 lines of taps, B 8 columns of cells; of both, 16. */
static __device__ __forceinline__ void tm_cells_mma(float (&d)[4], const uint4 &a, unsigned b0,
                                                    unsigned b1)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

/* Two columns of the frame's cells, from a cell on; beyond the last row, that row's. */
struct tm_cell_pairs {
    const unsigned *from;
    int pitch, last;
    tm_cells_rounding rounding;

    __device__ tm_cell_pairs(const tm_certified_job &j, int x, int y)
    {
        pitch = (int)j.pitch_cells / 2;
        from = (const unsigned *)j.cells + (int64_t)y * pitch + x / 2;
        last = j.cells_down + j.level.cells.down - 2 - y;
        rounding = j.level.rounding;
    }

    __device__ __forceinline__ unsigned at(int row) const
    {
        return __ldg(from + (int64_t)min(row, last) * pitch);
    }

    __device__ __forceinline__ unsigned halves(unsigned cells) const
    {
        const int half = rounding.half, drop = rounding.drop,
                  low = (int)(((cells & 0xffff) + half) >> drop) - rounding.middle,
                  high = (int)(((cells >> 16) + half) >> drop) - rounding.middle;
        return tm_cells_half(low) | tm_cells_half(high) << 16;
    }
};

/* A warp multiplies 32 columns of cell windows. Of these a lane gets this one, */
static __device__ __forceinline__ int tm_cells_column()
{
    const int lane = threadIdx.x & 31;
    return 8 * (lane & 3) + lane / 16 * 4 + (lane / 4 & 3);
}

/* and brings the pairs of cells from this one on, and from 4 pairs after it. */
static __device__ __forceinline__ int tm_cells_pair()
{
    const int lane = threadIdx.x & 31;
    return 2 * (lane / 4) + (lane & 3);
}

/* The greatest product of all groups of coarse templates, or 0, for LINES rows of this lane's cell window. fragments: in
 * any memory, AHEAD rows of them read ahead. halves: a pair of cells in half precision, so many rows below the first
 * one and pairs after the lane's. */
template <int PAIRS, int LINES, int AHEAD, typename Halves>
static __device__ __forceinline__ void tm_cells_multiply(float (&most)[LINES], int groups, const uint4 *fragments,
                                                         Halves halves)
{
    enum { ROWS = 2 * PAIRS };
    static_assert(ROWS % AHEAD == 0, "a group's rows end with a load's turn");
    uint4 ahead[AHEAD];
    unsigned b[ROWS + LINES - 1][2];
    float best[LINES][2];

#pragma unroll
    for (int i = 0; i < ROWS + LINES - 1; i++)
        b[i][0] = halves(i, 0), b[i][1] = halves(i, 4);
#pragma unroll
    for (int y = 0; y < LINES; y++)
        best[y][0] = best[y][1] = 0;
    fragments += threadIdx.x & 31;
#pragma unroll
    for (int i = 0; i < AHEAD; i++, fragments += 32)
        ahead[i] = *fragments;
    for (int group = 0; group < groups; group++) {
        float acc[LINES][4];
#pragma unroll
        for (int i = 0; i < 4 * LINES; i++)
            acc[i / 4][i & 3] = 0;
#pragma unroll
        for (int i = 0; i < ROWS; i++, fragments += 32) {
            const uint4 a = ahead[i % AHEAD];
            ahead[i % AHEAD] = *fragments;
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
    /* a lane keeps one of its two columns, with the templates of the lane that keeps the other */
    const bool high = threadIdx.x & 16;
#pragma unroll
    for (int y = 0; y < LINES; y++) {
        const float other = __shfl_xor_sync(~0u, high ? best[y][0] : best[y][1], 16);
        most[y] = fmaxf(high ? best[y][1] : best[y][0], other);
    }
}

/* a / b, of a relative error below 2^-22. */
static __device__ __forceinline__ float tm_cells_quotient(float a, float b)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(b));
    return a * r;
}

/* The whole number of 8 bits from 254 q^2 on, in the low bits; at least 1. */
static __device__ __forceinline__ unsigned tm_cells_byte(float q2)
{
    float r = fminf(q2 + 0.5f, 255.0f);
    asm("add.rp.f32 %0, %0, 0f4b000000;" : "+f"(r));
    return __float_as_int(r);
}

/* Keeps the greatest bound of each warp's part of a tile, from those of its lanes, and the tile's. A block has one tile of
 * height rows, of those from the cell windows' row first on. */
static __device__ __forceinline__ void tm_certified_keep_tops(const tm_certified_job &j, unsigned top, int first,
                                                              int height)
{
    __shared__ unsigned tops[TM_CERTIFIED_PARTS];
    const int warp = threadIdx.x / 32;

    top = tm_warp_max(top);
    if (!(threadIdx.x & 31)) {
        tops[warp] = top;
        j.part_tops[(int)blockIdx.x * TM_CERTIFIED_PARTS + warp] = top;
    }
    __syncthreads();
    if (warp)
        return;
    top = tm_warp_max(tops[threadIdx.x % TM_CERTIFIED_PARTS]);
    if (threadIdx.x || top >> 16 == 0)
        return;
    const unsigned number = blockIdx.x + (unsigned)(first / height * j.tiles_x);
    atomicMax(&j.state->firsts[number % TM_CERTIFIED_FIRSTS],
              (unsigned long long)(top >> 16) << 48 | (unsigned long long)number << 16 | (top & 0xffff));
}

/* Launches kernels of the rows [first, end) of cell windows, a block for each tile, with so many bytes of shared memory. */
static inline cudaError_t tm_certified_launch_tiles(void (*kernel)(tm_certified_job, int), const tm_certified_job *job,
                                                    int first, int end, size_t bytes, cudaStream_t stream)
{
    tm_certified_job j = *job;
    j.cells_down = end;
    j.part_tops += first / j.tile_height * j.tiles_x * TM_CERTIFIED_PARTS;
    const cudaError_t error =
        TM_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
    if (error != cudaSuccess)
        return error;
    return tm_early_launch(kernel, (unsigned)(j.tiles_x * ceil_div(end - first, j.tile_height)),
                           32 * TM_CERTIFIED_PARTS, bytes, j.early, stream, j, first);
}

#endif
