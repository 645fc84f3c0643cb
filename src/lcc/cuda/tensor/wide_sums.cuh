/* SPDX-License-Identifier: MIT */
/* Frame rows and window sums for wgmma_wide.cu: running sums as in running_sums.cuh, of rows that
 * are staged as they are. A window takes STEPS steps of k, 32 columns each. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WIDE_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_WIDE_SUMS_CUH
#include "lcc/cuda/tensor/kernels.cuh"
#include "lcc/cuda/tensor/ring.cuh"
#include "lcc/cuda/tensor/wide_products.cuh"

enum { TM_WIDE_PLANES = 16 };

/* A ring of frame rows in shared memory. */
template <int STEPS>
struct tm_wide_ring {
    enum { ROW = tm_wide_row(2 * STEPS), UNITS = ROW / 8 };
    unsigned rows;    // address of slot 0
    int count, first; // slot of row 0

    __device__ __forceinline__ unsigned row(int r) const
    {
        int slot = first + r;
        return rows + (slot < count ? slot : slot - count) * ROW;
    }

    /* Begins to copy 8 rows into the ring, as its rows from r on, a multiple of 8. x, y: where
     * they are in the frame. */
    __device__ __forceinline__ void stage(int r, const tm_tensor_job &j, int x, int y) const
    {
        int line = threadIdx.x / 16, chunks = (TILE_WIDTH - 1 + j.width + 15) / 16;
        const uint8_t *src = j.frame + (size_t)(y + line) * j.pitch + x;
        unsigned dst = row(r + line);
        for (int c = threadIdx.x % 16; c < chunks; c += 16)
            tm_copy16(dst + 16 * c, src + 16 * c);
    }

    __device__ __forceinline__ void step()
    {
        first += 8;
        first = first < count ? first : 0;
    }
};

/* The rows that a step's products and the scores of the step before read. */
__host__ __device__ __forceinline__ int tm_wide_rows(int h)
{
    return (h + 15 + 7) / 8 * 8;
}

/* For each of the step's rows i < 8: G^2 of row h + i minus G^2 of row i, its low bytes in plane i
 * and its high bytes in plane 8 + i. */
template <int STEPS>
__device__ __forceinline__ void tm_wide_differences(const tm_wide_ring<STEPS> &ring,
                                                    unsigned planes, int h)
{
    enum { ROW = tm_wide_ring<STEPS>::ROW, UNITS = tm_wide_ring<STEPS>::UNITS };
    int line = threadIdx.x / 16, first = threadIdx.x % 16;
    unsigned in_row = ring.row(h + line), out_row = ring.row(line);
    planes += line * ROW;
#pragma unroll 1
    for (int m = 0; m < (UNITS + 15) / 16; m += 3) {
        uint2 in[3], out[3];
#pragma unroll
        for (int e = 0; e < 3; e++) {
            int u = first + 16 * (m + e);
            in[e] = out[e] = make_uint2(0, 0);
            if (u < UNITS)
                in[e] = tm_load8_g(in_row + 8 * u), out[e] = tm_load8_g(out_row + 8 * u);
        }
#pragma unroll
        for (int e = 0; e < 3; e++) {
            int u = first + 16 * (m + e);
            uint2 low, high;
            tm_square_difference(in[e], out[e], low, high);
            if (u < UNITS) {
                tm_store8(planes + 8 * u, low);
                tm_store8(planes + 8 * ROW + 8 * u, high);
            }
        }
    }
}

enum { TM_WIDE_MOST_ROWS = 3 * 31 };

/* Planes of the column sums over the first h rows: for each third of the rows 5 planes, three of
 * S_GG's bytes and two of S_G's. A word holds 2^19 S_G + S_GG of at most 31 rows, with
 * S_GG < 2^19. Calls next(q) after each quarter q of the work. */
template <int STEPS, typename N>
__device__ __forceinline__ void tm_wide_sum_planes(const tm_wide_ring<STEPS> &ring, unsigned planes,
                                                   int h, N next)
{
    enum {
        ROW = tm_wide_ring<STEPS>::ROW,
        UNITS = tm_wide_ring<STEPS>::UNITS,
        LANES = TM_TENSOR_THREADS / 3
    };
    static_assert(4 * LANES >= UNITS, "four quarters take all units");
    int third = threadIdx.x / LANES, lane = threadIdx.x % LANES;
    planes += 5 * third * ROW;
#pragma unroll 1
    for (int q = 0; q < 4; q++) {
        int u = q * LANES + lane;
        if (third < 3 && u < UNITS) {
            unsigned v[8] = {};
#pragma unroll 4
            for (int r = third; r < h; r += 3) {
                uint2 word = tm_load8_g(ring.row(r) + 8 * u);
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    int g = tm_signed_byte(e < 4 ? word.x : word.y, e & 3);
                    v[e] += (unsigned)(g * (g + (1 << 19)));
                }
            }
#pragma unroll
            for (int i = 0; i < 5; i++) {
                if (i == 3)
#pragma unroll
                    for (int e = 0; e < 8; e++)
                        v[e] = (unsigned)((int)v[e] >> 19);
                unsigned byte = i < 3 ? i : i - 3, mask = i == 2 ? 0x07070707 : ~0u;
                tm_store8(planes + i * ROW + 8 * u,
                          make_uint2(tm_gather_bytes(v, byte) & mask,
                                     tm_gather_bytes(v + 4, byte) & mask));
            }
        }
        next(q);
    }
}

/* A warp's window sums of one row: 8 of each thread, in the order of tm_wide_column. */
template <int STEPS>
struct tm_wide_sums {
    enum { ROW = tm_wide_ring<STEPS>::ROW };
    int g[8];                   // S_G
    int low[8], high[8];        // S_GG = low + 256 high
    unsigned lane;              // offset of this lane's part of A
    unsigned ones[STEPS][2][2]; // of B: the Toeplitz matrix of ones

    __device__ __forceinline__ tm_wide_sums(int w, int warp)
    {
        int l = threadIdx.x % 32;
        lane = 16 * (16 * warp + l % 8 + (l & 8) + (l & 16) / 16);
#pragma unroll
        for (int i = 0; i < 4 * STEPS; i++) {
            unsigned v = 0;
            for (int b = 0; b < 4; b++) {
                int x = 32 * (i / 4) + 16 * (i & 1) + 4 * (l & 3) + b - l / 4 - 8 * (i / 2 & 1);
                v |= (unsigned)(x >= 0 && x < w) << 8 * b;
            }
            asm volatile("" : "+r"(v)); // the compiler would make it again at each step
            ones[i / 4][i / 2 & 1][i & 1] = v;
        }
        asm volatile("" : "+r"(lane));
    }

    /* Adds the sums of w columns of a row to d, times factor 1 or -1. The row is of unsigned bytes
     * or of signed ones. */
    template <bool SIGNED>
    __device__ __forceinline__ void add(int (&d)[8], unsigned row, int factor) const
    {
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            unsigned a[4], times = factor > 0 ? 1 : 255;
            tm_load_a(a, row + lane + 32 * k);
#pragma unroll
            for (int half = 0; half < 2; half++)
                tm_mma_add<SIGNED>(d + 4 * half, a, ones[k][half][0] * times,
                                   ones[k][half][1] * times);
        }
    }

    /* Takes the sums from the step's row i to the row below. */
    __device__ __forceinline__ void down(const tm_wide_ring<STEPS> &ring, unsigned planes, int h,
                                         int i)
    {
        add<false>(g, ring.row(h + i), 1);
        add<false>(g, ring.row(i), -1);
        add<false>(low, planes + i * ROW, 1);
        add<true>(high, planes + (8 + i) * ROW, 1);
    }

    /* Makes the sums of the first row of a column of tiles; calls next as tm_wide_sum_planes does.
     * The planes of the higher bytes are summed first, and shifted. */
    template <typename N>
    __device__ __forceinline__ void start(const tm_wide_ring<STEPS> &ring, unsigned planes, int h,
                                          N next)
    {
#pragma unroll
        for (int i = 0; i < 8; i++)
            g[i] = low[i] = high[i] = 0;
        tm_wide_sum_planes<STEPS>(ring, planes, h, next);
        __syncthreads();
#pragma unroll 1
        for (unsigned row = planes; row < planes + 15 * ROW; row += 5 * ROW)
            add<false>(high, row + 2 * ROW, 1), add<true>(g, row + 4 * ROW, 1);
#pragma unroll
        for (int i = 0; i < 8; i++)
            high[i] <<= 8, g[i] <<= 8;
#pragma unroll 1
        for (unsigned row = planes; row < planes + 15 * ROW; row += 5 * ROW) {
            add<false>(low, row, 1);
            add<false>(high, row + ROW, 1);
            add<false>(g, row + 3 * ROW, 1);
        }
        __syncthreads();
    }
};

#endif
