/* SPDX-License-Identifier: MIT */
/* What a bound is made of: a frame's cells, the product with coarse templates, the formula. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_BOUND_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_BOUND_CUH

#include "lcc/cuda/certified/certified.cuh"

static_assert(TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 255 < 1 << 12 &&
                  TM_CERTIFIED_SMALL * TM_CERTIFIED_SMALL * 65025 < 1 << 20,
              "a small cell's sums fit in one word");
static_assert(TM_CELLS_MOST * TM_CELLS_MOST * 127 * 255 < 1 << 24, "a product is exact as float");

/* How a cell's sums of pixels and of their squares are kept, and the squares of its sums added. */
template <bool BIG>
struct tm_cell_format {
    enum { height = TM_CERTIFIED_TILE_HEIGHT }; /* of a tile */
    typedef uint32_t cell;
    typedef uint32_t squares; /* 169 cells' squares of 4080 */

    static __device__ __forceinline__ cell pack(unsigned sum, unsigned pixels)
    {
        return sum << 20 | pixels;
    }

    static __device__ __forceinline__ unsigned sum(cell c)
    {
        return c >> 20;
    }

    static __device__ __forceinline__ unsigned pixels(cell c)
    {
        return c & 0xfffff;
    }
};

template <>
struct tm_cell_format<true> {
    enum { height = TM_CERTIFIED_BIG_TILE_HEIGHT };
    typedef uint2 cell;
    typedef unsigned long long squares;

    static __device__ __forceinline__ cell pack(unsigned sum, unsigned pixels)
    {
        return make_uint2(sum, pixels);
    }

    static __device__ __forceinline__ unsigned sum(cell c)
    {
        return c.x;
    }

    static __device__ __forceinline__ unsigned pixels(cell c)
    {
        return c.y;
    }
};

/* The sum of a cell's pixels and of their squares; row is aligned, the cell begins at column x. SIZE is
 * size, or 0. */
template <int SIZE>
static __device__ __forceinline__ uint2 tm_cell(const uint8_t *row, int x, int size, size_t pitch)
{
    enum { WORDS = (SIZE + 3) / 4 + 1, ROWS = SIZE ? SIZE : 1 };
    const uint32_t *from = (const uint32_t *)(row + (x & ~3));
    const unsigned shift = 8 * (x & 3);
    uint2 sums = make_uint2(0, 0);

    for (int y = 0; y < (SIZE ? 1 : size); y++) {
        uint32_t words[ROWS][WORDS]; /* loaded before any is used */
#pragma unroll
        for (int i = 0; SIZE && i < ROWS * WORDS; i++)
            words[i / WORDS][i % WORDS] = __ldg(from + i / WORDS * (pitch / 4) + i % WORDS);
#pragma unroll
        for (int i = 0; i < ROWS; i++, from += pitch / 4) {
            for (int left = size, k = 0; left > 0; left -= 4, k++) {
                const uint32_t low = SIZE ? words[i][k] : __ldg(from + k),
                               high = SIZE ? words[i][k + 1] : __ldg(from + k + 1);
                const unsigned v = __funnelshift_r(low, high, shift) &
                                   (left < 4 ? (1u << 8 * left) - 1 : ~0u);
                sums.x = __dp4a(v, 0x01010101u, sums.x);
                sums.y = __dp4a(v, v, sums.y);
            }
        }
    }
    return sums;
}

/* Those of two neighbouring cells of 2 x 2, of a word of either row. */
static __device__ __forceinline__ void tm_cell_pair(uint32_t v, uint32_t w, uint2 &a, uint2 &b)
{
    a.x = __dp4a(v, 0x0101u, __dp4a(w, 0x0101u, 0u));
    b.x = __dp4a(v, 0x01010000u, __dp4a(w, 0x01010000u, 0u));
    a.y = __dp4a(v, v & 0xffffu, __dp4a(w, w & 0xffffu, 0u));
    b.y = __dp4a(v, v & 0xffff0000u, __dp4a(w, w & 0xffff0000u, 0u));
}

/* d += A B: A has 16 lines of signed taps, B 8 columns of cells; of both, 32. */
static __device__ __forceinline__ void tm_cells_mma(int (&d)[4], const uint4 &a, unsigned b0,
                                                    unsigned b1)
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b0), "r"(b1));
#endif
}

/* 1 / sqrt(x), of a relative error below 2^-22. */
static __device__ __forceinline__ float tm_cells_rsqrt(float x)
{
    float r;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
    return r;
}

/* The most that a score can be where <Pf, t> <= p and <= part |Pf|, |Pf|^2 = g, and |f|^2 - |Pf|^2 is
 * rest in the cell window and any more in the window. */
static __device__ __forceinline__ float tm_cells_bound(float p, float g, float rest, float eps,
                                                       float part)
{
    const float by_g = tm_cells_rsqrt(fmaxf(g, 1e-3f)),
                q = g > 0 ? fminf(fmaxf(p * by_g, 0.0f), part) : 0.0f,
                s = rest * tm_cells_rsqrt(fmaxf(rest, 1e-3f)) * by_g;
    const bool turned = s * q > eps;
    const float below = turned ? s * s + 1 : q * q + eps * eps, above = turned ? q + eps * s : below;
    return above * tm_cells_rsqrt(below);
}

/* The byte b of a bound: b / 254 is more than it and all roundings, its own and the score's. */
static __device__ __forceinline__ unsigned tm_cells_byte(float bound)
{
    return (unsigned)fminf(254.0f * (1 + 0x1p-12f) * bound + 1, 255.0f);
}

#endif
