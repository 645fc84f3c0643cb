/* SPDX-License-Identifier: MIT */
/* For wgmma_wide.cu: products of a template wider than 25 columns with frame rows that stand in shared
 * memory as they are, 8 rows of 1024 windows of the map at a time; and how such templates are laid out, for wgmma_tall.cu too.
 *
 * A's line m is the frame's bytes from x0 + 16m on. Column 16j + c of B is T[y - j] shifted by c, for the frame's row y.
 * The template's rows stand in descending order, so B for the next row begins one block earlier. Shifted, a template row
 * takes so many units of 16 columns, and a step of k two of them: of one row, or where their number is odd the last units
 * of two neighbouring rows. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WIDE_PRODUCTS_CUH
#define TMATCH_LCC_CUDA_TENSOR_WIDE_PRODUCTS_CUH
#include "lcc/cuda/tensor/kernels.cuh"
#include "lcc/cuda/tensor/tall_layout.h"
#include "lcc/cuda/tensor/wgmma_product.cuh"

__host__ __device__ __forceinline__ int tm_wide_steps(int w)
{
    return (tm_wide_units(w) + 1) / 2;
}

/* A kernel's form for a number of units of 16 columns: so many steps of k a row; ODD: the number is odd. */
template <int OF_STEPS, bool IS_ODD>
struct tm_wide_form {
    static constexpr int STEPS = OF_STEPS;
    static constexpr bool ODD = IS_ODD;
};

/* Whether a template of that width has a form. */
static inline bool tm_wide_has_form(int width)
{
    return tm_wide_units(width) >= TM_WIDE_LEAST_UNITS && tm_wide_units(width) <= TM_WIDE_MOST_UNITS;
}

/* launch(form) of so many units. */
template <typename L>
static cudaError_t tm_wide_of_units(int units, L launch)
{
    switch (units) {
    case 3:
        return launch(tm_wide_form<2, true>());
    case 4:
        return launch(tm_wide_form<2, false>());
    case 5:
        return launch(tm_wide_form<3, true>());
    case 6:
        return launch(tm_wide_form<3, false>());
    case 7:
        return launch(tm_wide_form<4, true>());
    case 8:
        return launch(tm_wide_form<4, false>());
    default:
        return cudaErrorNotSupported;
    }
}

/* The blocks of B. Those of the next step of k stand h + 7 blocks on: before and after each step's
 * there are 7 blocks of zeros, because the first and the last frame rows meet fewer than 8 rows of
 * the map. Where a step takes two rows, the first of the 7 behind it has the template's first row. */
__host__ __device__ __forceinline__ int tm_wide_blocks(int h, int steps)
{
    return (h + 7) * steps + 7;
}

/* Bytes of a staged frame row of which products take so many units. */
__host__ __device__ __forceinline__ constexpr int tm_wide_row(int units)
{
    return TM_WIDE_ROW(TILE_WIDTH, units);
}

/* The products of 8 rows of the map, frame row by frame row. ODD: a row takes an odd number of units. */
template <int STEPS, bool ODD>
struct tm_wide_products {
    enum { ROW = tm_wide_row(2 * STEPS) };
    unsigned a, b, wrap; // low words of descriptors: addresses in units of 16 bytes
    int ring_bytes, step_bytes, row = 0;

    /* Frame row 0 is at the address first, in a ring of so many bytes at the address ring; the blocks of B at frag. */
    __device__ __forceinline__ tm_wide_products(unsigned first, unsigned ring, int bytes, unsigned frag, int h)
    {
        /* with the bytes to the second half of k, likewise */
        a = first >> 4 | 16 / 16 << 16;
        b = frag + (h + 6) * TM_WIDE_BLOCK >> 4 | 128 / 16 << 16;
        wrap = (ring + bytes) >> 4 | 16 / 16 << 16;
        ring_bytes = bytes / 16;
        step_bytes = (h + 7) * (TM_WIDE_BLOCK / 16);
    }

    /* A row's first steps of k. The last step's second half is the row's own, or the next row's. */
    template <int COUNT>
    __device__ __forceinline__ void issue_row(int (&acc)[16][4], unsigned row_a, unsigned row_b, int more) const
    {
#pragma unroll
        for (int k = 0; k < COUNT; k++, more = 1)
            tm_wgmma(acc, row_a + 2 * k + (ODD && k == STEPS - 1 ? (ROW / 16 - 1) << 16 : 0), row_b + k * step_bytes, more);
    }

    /* Issues those of the frame rows before this one that are left. Where ODD, their number is even, or they are the
     * last ones. Each turn is a group: see small_products.cuh. */
    __device__ __forceinline__ void issue(int (&acc)[16][4], int end)
    {
        enum { AT_ONCE = ODD ? 2 : 1 };
        int more = row;
#pragma unroll 1
        for (; row + (AT_ONCE - 1) < end; row += AT_ONCE, more = 1) {
            tm_wgmma_begin();
            issue_row<STEPS>(acc, a, b, more);
            if (ODD)
                issue_row<STEPS - 1>(acc, a + ROW / 16, b - TM_WIDE_BLOCK / 16, 1);
            tm_wgmma_end();
            a += AT_ONCE * (ROW / 16);
            a = a < wrap ? a : a - ring_bytes;
            b -= AT_ONCE * (TM_WIDE_BLOCK / 16);
        }
        if (ODD && row < end) { // what B has of the row after the last one is 0
            tm_wgmma_begin();
            issue_row<STEPS>(acc, a, b, more);
            tm_wgmma_end();
            row++;
        }
    }
};

/* The column of this thread's element e, of 8 in a row of the 256 that are its warp's. */
__device__ __forceinline__ int tm_wide_column(int e)
{
    int l = threadIdx.x & 31;
    return 16 * (l / 4) + 128 * (e >> 1 & 1) + 8 * (e >> 2) + 2 * (l & 3) + (e & 1);
}

/* This thread's element e of row i. */
__device__ __forceinline__ int &tm_wide_at(int (&sums)[16][4], int i, int e)
{
    return sums[2 * i + (e >> 2)][e & 3];
}

#endif
