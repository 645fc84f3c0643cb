/* SPDX-License-Identifier: MIT */
/* What a bound is made of: sums of cells, their products with coarse templates, the formula. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_BOUND_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_BOUND_CUH

#include "lcc/cuda/certified/certified.cuh"

static_assert(TM_CELLS_MOST * TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255 < 1 << 16,
              "the sum of a column of small cells fits in half a word");
static_assert(TM_CELLS_MOST * TM_CELLS_MOST * (int64_t)(TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255) *
                      (TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255) < (int64_t)1 << 32,
              "the squares of a cell window's small cells fit in one word");

/* Sums of two neighbouring columns of cells, which come two in a word, and of their squares; those of small
 * cells share a word: there are TM_CELLS_MOST in a column at most. BIG: cells of more than
 * TM_CERTIFIED_SMALL pixels across. */
template <bool BIG>
struct tm_cell_columns {
    enum { height = TM_CERTIFIED_TILE_HEIGHT }; /* of a tile */
    typedef unsigned squares_type;
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

template <>
struct tm_cell_columns<true> {
    enum { height = TM_CERTIFIED_BIG_TILE_HEIGHT };
    typedef unsigned long long squares_type;
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

/* Those of two cells of at most 2 x 2, as they lie in a word: 1024 + c has the bits 0x6400 | c. */
static __device__ __forceinline__ unsigned tm_cells_small_halves(unsigned cells)
{
    unsigned h; /* less 1024 + 510 */
    asm("sub.f16x2 %0, %1, %2;" : "=r"(h) : "r"(cells | 0x64006400u), "r"(0x65fe65feu));
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

#endif
