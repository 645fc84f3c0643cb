/* SPDX-License-Identifier: MIT */
/* Window sums as running sums, on the tensor cores, for wgmma_pixels.cu: as in running_sums.cuh, a product with the Toeplitz
 * matrix of ones adds up the row that enters the windows and takes away the one that leaves them.
 *
 * S_F of RGB is a sum for each channel, of 16 bits one of low bytes and one of high ones. Of squares a row of differences is made,
 * entering less leaving ones, in planes of bytes. Where a pixel has three bytes F it is of the half of all F (255 - F), whose
 * difference lies within 2^15; of 16 bits it is of G^2 = (F - 32768)^2, within 2^31. */
#ifndef TMATCH_LCC_CUDA_TENSOR_PIXEL_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_PIXEL_SUMS_CUH
#include "lcc/cuda/tensor/pixel_rows.cuh"

/* Twice the square that is meant of a unit of RGB: the sum of F (255 - F); or G^2 of one of 16 bits. */
template <int BYTES>
__device__ __forceinline__ void tm_pixels_squares(int (&square)[8], unsigned at)
{
    uint32_t of[3][2] = {};
#pragma unroll
    for (int plane = 0; plane < BYTES; plane++) {
        const uint2 v = tm_load8(at + plane * tm_pixels<BYTES>::COLUMNS);
        of[plane][0] = v.x, of[plane][1] = v.y;
    }
#pragma unroll
    for (int i = 0; i < 8; i++) {
        const int half = i / 4, e = i % 4;
        if (BYTES == 3) {
            const uint32_t two = __byte_perm(of[0][half], of[1][half], 0x0040 + 0x11 * e),
                           pixel = __byte_perm(two, of[2][half], 0x0410 + 0x100 * e);
            square[i] = (int)__dp4a(pixel, ~pixel & 0xffffff, 0u);
        } else {
            int g; // with the sign of its high byte in the two above, which __byte_perm cannot
            asm("prmt.b32 %0, %1, %2, %3;" : "=r"(g) : "r"(of[0][half]), "r"(of[1][half] ^ 0x80808080), "r"(0xcc40 + 0x1111 * e));
            square[i] = g * g;
        }
    }
}

template <int BYTES>
struct tm_pixels_sums {
    typedef tm_pixels<BYTES> P;
    typedef tm_ring_pair_of<P::ROW_BYTES> pair_type;

    int f[BYTES][4], square[P::SQUARES][4]; // of a warp's windows of one row, for its columns as in acc
    unsigned ones[2], minus_ones[2];        // of B: the Toeplitz matrix of ones
    unsigned lane;                          // where this thread's part of A begins in a plane's row
    unsigned squares;                       // where the 8 rows of the first plane of bytes of squares are

    __device__ __forceinline__ tm_pixels_sums(int w, int warp, unsigned squares)
        : lane(tm_pixels_lane(warp)), squares(squares)
    {
        tm_make_ones(ones, minus_ones, w);
    }

    /* Adds the sums of w columns of a frame row, or takes them away. */
    __device__ __forceinline__ void add(unsigned row, bool leaves)
    {
        const unsigned *b = leaves ? minus_ones : ones;
#pragma unroll
        for (int plane = 0; plane < BYTES; plane++) {
            unsigned a[4];
            tm_pixels_load_a(a, row + lane + plane * P::COLUMNS);
            tm_mma_add<false>(f[plane], a, b[0], b[1]);
        }
    }

    /* Adds those of the row i of squares, whose highest bytes have a sign. */
    __device__ __forceinline__ void add_squares(int i)
    {
#pragma unroll
        for (int p = 0; p < P::SQUARES; p++) {
            unsigned a[4];
            tm_pixels_load_a(a, squares + (8 * p + i) * P::COLUMNS + lane);
            if (p == P::SQUARES - 1)
                tm_mma_add<true>(square[p], a, ones[0], ones[1]);
            else
                tm_mma_add<false>(square[p], a, ones[0], ones[1]);
        }
    }

    /* Makes the rows of squares: of some frame rows, or of as many less those that leave the windows then. */
    template <bool DIFFERENCES, typename IN, typename OUT>
    __device__ __forceinline__ void make_squares(const IN &entering, const OUT &leaving, int rows) const
    {
#pragma unroll 2
        for (int i = threadIdx.x % TM_PLANES_THREADS; i < rows * P::UNITS; i += TM_PLANES_THREADS) {
            const int row = i / P::UNITS, unit = i - row * P::UNITS;
            int in[8], out[8];
            tm_pixels_squares<BYTES>(in, entering(row) + 8 * unit);
            if (DIFFERENCES) {
                tm_pixels_squares<BYTES>(out, leaving(row) + 8 * unit);
#pragma unroll
                for (int e = 0; e < 8; e++)
                    in[e] -= out[e];
            }
            if (BYTES == 3)
#pragma unroll
                for (int e = 0; e < 8; e++)
                    in[e] >>= 1; // they are even
#pragma unroll
            for (int p = 0; p < P::SQUARES; p++)
                tm_store8(squares + (8 * p + row) * P::COLUMNS + 8 * unit,
                          make_uint2(tm_gather_bytes((unsigned *)in, p), tm_gather_bytes((unsigned *)in + 4, p)));
        }
    }

    /* Makes the sums of a step's first row. */
    __device__ __forceinline__ void start(const tm_pixels_ring<BYTES> &ring, int h)
    {
#pragma unroll
        for (int c = 0; c < 4; c++) {
#pragma unroll
            for (int i = 0; i < BYTES; i++)
                f[i][c] = 0;
#pragma unroll
            for (int p = 0; p < P::SQUARES; p++)
                square[p][c] = 0;
        }
#pragma unroll 1
        for (int first = 0; first < h; first += 8) {
            const int rows = min(8, h - first);
            const auto row = [&](int i) { return ring.row(first + i); };
            make_squares<false>(row, row, rows);
            tm_planes_barrier();
#pragma unroll 1
            for (int i = 0; i < rows; i++) {
                add(row(i), false);
                add_squares(i);
            }
            tm_planes_barrier();
        }
    }

    /* Makes what down needs of the step's rows. */
    __device__ __forceinline__ void prepare(const pair_type &rows) const
    {
        make_squares<true>([&](int i) { return rows.entering(i); }, [&](int i) { return rows.leaving(i); }, 8);
    }

    /* Takes the sums from the step's row i to the row below. */
    __device__ __forceinline__ void down(const pair_type &rows, int i)
    {
        add(rows.entering(i), false);
        add(rows.leaving(i), true);
        add_squares(i);
    }
};

#endif
