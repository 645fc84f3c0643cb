/* SPDX-License-Identifier: MIT */
/* For wgmma_pixels.cu: rows of a frame whose pixels have 3 bytes (RGB) or 2 (gray of 16 bits, low byte first), in shared memory,
 * and their products with a template of at most 25 x 31.
 *
 * Rows are taken apart into planes: the channels, or the low and the high bytes. A's line m is a plane's bytes from x0 + 8m on, as in
 * wgmma.cu. No unit stands twice, as there is no room for that; so lines are 8 bytes apart, which is no distance that wgmma can
 * read, and each thread loads its part of A. */
#ifndef TMATCH_LCC_CUDA_TENSOR_PIXEL_ROWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_PIXEL_ROWS_CUH
#define TM_TENSOR_TILE_WIDTH 512
#define TM_TENSOR_TILE_HEIGHT 8
#define TM_TENSOR_WARPGROUPS 2
#include "lcc/cuda/tensor/pixel_units.cuh"
#include "lcc/cuda/tensor/plane_rows.cuh"

/* What depends on the bytes of a pixel. */
template <int BYTES>
struct tm_pixels {
    enum {
        SQUARES = BYTES == 3 ? 2 : 4, // bytes of what pixel_sums.cuh has of a pixel's squares
        COLUMNS = TILE_WIDTH + 24,    // of a plane's row in shared memory
        UNITS = COLUMNS / 8,
        ROW_BYTES = COLUMNS * BYTES, // of all planes
        SQUARES_BYTES = 8 * SQUARES * COLUMNS
    };
};

/* How many maps the products with so many planes of a template give. S_FT is the sum of one for RGB; of 16 bits there is one
 * each of the products that count 1, 256 and, unless the template is rounded to one plane, 65536 times. */
__host__ __device__ constexpr int tm_pixels_maps(int bytes, int taps)
{
    return bytes == 3 ? 1 : taps + 1;
}

template <int BYTES>
using tm_pixels_ring = tm_ring_of<tm_pixels<BYTES>::ROW_BYTES>;

/* The rows whose products a step makes: those that its windows take, and up to three that meet zeros in B. */
__host__ __device__ __forceinline__ int tm_pixels_rows(int h)
{
    return (h + 10) / 4 * 4;
}

/* The blocks of B for one plane of the template. */
__host__ __device__ __forceinline__ int tm_pixels_blocks(int h)
{
    return tm_pixels_rows(h) + 7;
}

template <int TAPS>
__host__ __device__ __forceinline__ int tm_pixels_b_bytes(int h)
{
    return TAPS * tm_pixels_blocks(h) * TM_SMALL_BLOCK;
}

/* The warpgroups multiply in turns, the first one first, so that one has its sums and scores made while the other multiplies. */
__device__ __forceinline__ void tm_pixels_take_turn()
{
    asm volatile("bar.sync %0, %1;" ::"r"(1 + TM_TENSOR_WARPGROUPS + tm_planes_warpgroup()), "n"(+TM_TENSOR_THREADS) : "memory");
}

__device__ __forceinline__ void tm_pixels_pass_turn()
{
    const int next = (tm_planes_warpgroup() + 1) % TM_TENSOR_WARPGROUPS;
    asm volatile("bar.arrive %0, %1;" ::"r"(1 + TM_TENSOR_WARPGROUPS + next), "n"(+TM_TENSOR_THREADS) : "memory");
}

/* This thread's part of 8 frame rows, on its way from the frame to the ring: some units of 8 pixels. */
template <int BYTES>
struct tm_pixels_group {
    typedef tm_pixels<BYTES> P;
    enum { OF_THREAD = (8 * P::UNITS + TM_PLANES_THREADS - 1) / TM_PLANES_THREADS, WORDS = tm_pixel_unit<BYTES>::WORDS };
    tm_pixel_unit<BYTES> units[OF_THREAD];
    unsigned part, pitch; // at which byte of a word the first row begins; the frame's

    /* Begins to load the rows from row y on, from column x on. Behind the last row all is 0. Whole words are read, of which the
     * last one may end behind the frame. */
    __device__ __forceinline__ void load(const tm_tensor_pixels_job &j, int64_t x, int64_t y)
    {
        const int64_t at = y * (int64_t)j.pitch + x * BYTES, left = j.frame_rows * (int64_t)j.pitch - at;
        part = (unsigned)((uintptr_t)(j.frame + at) & 3), pitch = (unsigned)j.pitch;
        if (left >= 8 * (int64_t)j.pitch + P::ROW_BYTES)
            load<false>(j.frame + at, 0);
        else
            load<true>(j.frame + at, (int)max(left, (int64_t)-4));
    }

    /* NEAR_END: only so many bytes are there. */
    template <bool NEAR_END>
    __device__ __forceinline__ void load(const uint8_t *frame, int left)
    {
#pragma unroll
        for (int i = 0; i < OF_THREAD; i++) {
            const unsigned index = threadIdx.x % TM_PLANES_THREADS + i * TM_PLANES_THREADS, row = index / P::UNITS,
                           offset = row * pitch + 8 * BYTES * (index - row * P::UNITS), odd = (part + offset) & 3;
            const uint32_t *from = (const uint32_t *)(frame + offset - odd);
            const bool in = (i + 1) * TM_PLANES_THREADS <= 8 * P::UNITS || row < 8;
#pragma unroll
            for (int w = 0; w <= WORDS; w++)
                units[i].word[w] = in && (w < WORDS || odd) && (!NEAR_END || (int)(offset - odd) + 4 * w < left) ? __ldg(from + w) : 0;
        }
    }

    __device__ __forceinline__ void store(unsigned group) const
    {
#pragma unroll
        for (int i = 0; i < OF_THREAD; i++) {
            const unsigned index = threadIdx.x % TM_PLANES_THREADS + i * TM_PLANES_THREADS, row = index / P::UNITS,
                           unit = index - row * P::UNITS, shift = 8 * ((part + row * pitch) & 3);
            if ((i + 1) * TM_PLANES_THREADS > 8 * P::UNITS && row >= 8)
                continue;
            units[i].store(group + row * P::ROW_BYTES + 8 * unit, P::COLUMNS, shift);
        }
    }
};

/* Begins to copy the blocks of B, for all warpgroups, and puts zeros before each plane's. */
template <int TAPS>
__device__ __forceinline__ void tm_pixels_stage_b(unsigned b, const tm_tensor_pixels_job &j)
{
    const int blocks = tm_pixels_blocks(j.height), zeros = blocks - (j.height + 14);
#pragma unroll
    for (int plane = 0; plane < TAPS; plane++) {
        const uint4 *from = (const uint4 *)j.plane_fragments[plane];
        for (int i = threadIdx.x; i < blocks * TM_SMALL_BLOCK / 16; i += TM_TENSOR_THREADS) {
            const unsigned to = b + plane * blocks * TM_SMALL_BLOCK + 16 * i;
            if (i >= zeros * TM_SMALL_BLOCK / 16) {
                tm_copy16(to, from + (i - zeros * TM_SMALL_BLOCK / 16));
            } else {
                tm_store8(to, make_uint2(0, 0));
                tm_store8(to + 8, make_uint2(0, 0));
            }
        }
    }
}

/* Where this thread's part of its warp's 16 lines of A begins in a plane's row, and that part. */
__device__ __forceinline__ unsigned tm_pixels_lane(int warp)
{
    return 8 * (16 * warp + threadIdx.x % 32 / 4) + 4 * (threadIdx.x % 4);
}

__device__ __forceinline__ void tm_pixels_load_a(unsigned (&a)[4], unsigned at)
{
    a[0] = tm_load4(at), a[1] = tm_load4(at + 64), a[2] = tm_load4(at + 16), a[3] = tm_load4(at + 80);
}

/* The products of one frame row with the blocks of B that meet it: of each channel with the template's; or of both bytes with each
 * of the template's. b: the low word of the first plane's matrix's descriptor; step: from there to the next plane's. */
__device__ __forceinline__ void tm_pixels_multiply(int (&acc)[1][8][4], const unsigned (&a)[3][4], unsigned b, unsigned step)
{
#pragma unroll
    for (int plane = 0; plane < 3; plane++)
        tm_wgmma(acc[0], a[plane], b + plane * step, 1);
}

template <int MAPS>
__device__ __forceinline__ void tm_pixels_multiply(int (&acc)[MAPS][8][4], const unsigned (&a)[2][4], unsigned b, unsigned step)
{
#pragma unroll
    for (int plane = 0; plane < 2; plane++)
#pragma unroll
        for (int of_template = 0; of_template < MAPS - 1; of_template++)
            tm_wgmma(acc[plane + of_template], a[plane], b + of_template * step, 1);
}

/* Begins the products of a step. Each row is loaded before those of the row above it are begun. */
template <int BYTES, int MAPS>
__device__ __forceinline__ void tm_pixels_products(int (&acc)[MAPS][8][4], const tm_pixels_ring<BYTES> &ring,
                                                   unsigned lane, unsigned b, int h)
{
    typedef tm_pixels<BYTES> P;
    enum { BUFFERS = 4 };
    const int rows = tm_pixels_rows(h);
    /* in units of 16: the address, and the bytes to the second half of k */
    const unsigned step = tm_pixels_blocks(h) * TM_SMALL_BLOCK / 16, last = (b + (rows - 1) * TM_SMALL_BLOCK) >> 4 | 128 / 16 << 16;
    unsigned a[BUFFERS][BYTES][4];
    const auto load = [&](unsigned (&to)[BYTES][4], unsigned row) {
#pragma unroll
        for (int plane = 0; plane < BYTES; plane++)
            tm_pixels_load_a(to[plane], row + lane + plane * P::COLUMNS);
    };
#pragma unroll
    for (int i = 0; i < 32 * MAPS; i++)
        acc[i / 32][i / 4 % 8][i & 3] = 0;
    unsigned from = ring.row(0);
    load(a[0], from);
#pragma unroll 1
    for (int r = 0; r < rows; r += BUFFERS) {
        const unsigned next = ring.row(min(r + BUFFERS, rows - BUFFERS));
#pragma unroll
        for (int i = 0; i < BUFFERS; i++) {
            asm volatile("wgmma.wait_group.sync.aligned 2;\n\twgmma.fence.sync.aligned;" ::: "memory");
            load(a[(i + 1) % BUFFERS], i + 1 < BUFFERS ? from + (i + 1) * P::ROW_BYTES : next);
            tm_pixels_multiply(acc, a[i], last - (r + i) * (TM_SMALL_BLOCK / 16), step);
            tm_wgmma_end();
        }
        from = next;
    }
}

#endif
