/* SPDX-License-Identifier: MIT */
/* The frame rows and the window sums of a strip, for wgmma_wide.cu.
 *
 * S_F and S_FF are running sums, on the tensor cores, in the registers where S_FT is: products with
 * the Toeplitz matrix of ones, added for the row that enters the window and subtracted for the one
 * that leaves it. Of G = F - 128 the difference of squares, entering minus leaving, lies within
 * 2^14: a plane of its low bytes and one of its high bytes. S_F - 128 n = S_G, and var_F does not
 * change with the shift. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WIDE_CUH
#define TMATCH_LCC_CUDA_TENSOR_WIDE_CUH
#include "lcc/cuda/tensor/cores.cuh"
#include "lcc/cuda/tensor/ring.cuh"

enum { WIDE_PLANES = 16 };

/* Frame rows in shared memory, as they are, for STEPS times 32 columns of a window. */
template <int STEPS>
struct wide_ring {
    enum { ROW = TW - 16 + 32 * STEPS, UNITS = ROW / 8 };
    unsigned rows;    // address
    int count, first; // slot of row 0

    __device__ __forceinline__ unsigned row(int r) const
    {
        int slot = first + r;
        return rows + (slot < count ? slot : slot - count) * ROW;
    }

    /* 8 rows, from a multiple of 8 on, of the bytes that windows have */
    __device__ __forceinline__ void stage(int r, const tm_tensor_job &j, int x, int y) const
    {
        int line = threadIdx.x / 16, chunks = (TW - 1 + j.width + 15) / 16;
        const uint8_t *src = j.frame + (size_t)(y + line) * j.pitch + x;
        unsigned dst = row(r + line);
        for (int c = threadIdx.x % 16; c < chunks; c += 16)
            tc_copy16(dst + 16 * c, src + 16 * c);
    }

    __device__ __forceinline__ void step()
    {
        first += 8;
        first = first < count ? first : 0;
    }
};

/* What a step's products and the scores of the step before read. */
__host__ __device__ __forceinline__ int wide_rows(int h)
{
    return (h + 15 + 7) / 8 * 8;
}

/* Planes i and 8 + i, i < 8: low and high bytes of G^2 of row h + i minus G^2 of row i. */
template <int STEPS>
__device__ __forceinline__ void wide_difference_planes(const wide_ring<STEPS> &ring,
                                                       unsigned planes, int h)
{
    enum { ROW = wide_ring<STEPS>::ROW, UNITS = wide_ring<STEPS>::UNITS };
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
                in[e] = tc_load8_g(in_row + 8 * u), out[e] = tc_load8_g(out_row + 8 * u);
        }
#pragma unroll
        for (int e = 0; e < 3; e++) {
            int u = first + 16 * (m + e);
            uint2 low, high;
            tc_square_difference(in[e], out[e], low, high);
            if (u < UNITS) {
                tc_store8(planes + 8 * u, low);
                tc_store8(planes + 8 * ROW + 8 * u, high);
            }
        }
    }
}

enum { WIDE_MOST_ROWS = 3 * 31 };

/* Planes of the column sums over the first h rows: 5 for each third of them, the bytes of S_GG and
 * of S_G. A word holds 2^19 S_G + S_GG of at most 31 rows, with S_GG < 2^19. next(q) after
 * each quarter q of the work. */
template <int STEPS, typename N>
__device__ __forceinline__ void wide_sum_planes(const wide_ring<STEPS> &ring, unsigned planes,
                                                int h, N next)
{
    enum { ROW = wide_ring<STEPS>::ROW, UNITS = wide_ring<STEPS>::UNITS, LANES = TC_THREADS / 3 };
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
                uint2 word = tc_load8_g(ring.row(r) + 8 * u);
#pragma unroll
                for (int e = 0; e < 8; e++) {
                    int g = tc_signed_byte(e < 4 ? word.x : word.y, e & 3);
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
                tc_store8(planes + i * ROW + 8 * u,
                          make_uint2(tc_bytes(v, byte) & mask, tc_bytes(v + 4, byte) & mask));
            }
        }
        next(q);
    }
}

/* A warp's window sums, for its columns as in acc: 4 of the shifts 0 to 7, 4 of 8 to 15. */
template <int STEPS>
struct wide_sums {
    enum { ROW = wide_ring<STEPS>::ROW };
    int g[8];                   // S_G
    int low[8], high[8];        // S_GG = low + 256 high
    unsigned lane;              // this lane's part of a fragment's address
    unsigned ones[STEPS][2][2]; // B

    __device__ __forceinline__ wide_sums(int w, int warp)
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
            asm volatile("" : "+r"(v)); // else made again at each step
            ones[i / 4][i / 2 & 1][i & 1] = v;
        }
        asm volatile("" : "+r"(lane));
    }

    /* d += the sums of a row's columns: bytes unsigned, or signed, times factor 1 or -1 */
    template <bool SIGNED>
    __device__ __forceinline__ void add(int (&d)[8], unsigned row, int factor) const
    {
#pragma unroll
        for (int k = 0; k < STEPS; k++) {
            unsigned a[4], times = factor > 0 ? 1 : 255;
            tc_load_a(a, row + lane + 32 * k);
#pragma unroll
            for (int half = 0; half < 2; half++)
                tc_multiply<SIGNED>(d + 4 * half, a, ones[k][half][0] * times,
                                    ones[k][half][1] * times);
        }
    }

    /* From the step's row i to the row below. */
    __device__ __forceinline__ void down(const wide_ring<STEPS> &ring, unsigned planes, int h,
                                         int i)
    {
        add<false>(g, ring.row(h + i), 1);
        add<false>(g, ring.row(i), -1);
        add<false>(low, planes + i * ROW, 1);
        add<true>(high, planes + (8 + i) * ROW, 1);
    }

    /* The sums of the first row of a strip; next as above. The planes of the higher bytes come
     * first, and are shifted. */
    template <typename N>
    __device__ __forceinline__ void start(const wide_ring<STEPS> &ring, unsigned planes, int h,
                                          N next)
    {
#pragma unroll
        for (int i = 0; i < 8; i++)
            g[i] = low[i] = high[i] = 0;
        wide_sum_planes<STEPS>(ring, planes, h, next);
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
