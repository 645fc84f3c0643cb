/* SPDX-License-Identifier: MIT */
/* For wgmma_planes.cu and wgmma_masked.cu, and in part for wgmma_pixels.cu: products of several planes with templates of at most 25 x 31, as in wgmma.cu.
 *
 * Each warpgroup of a block makes tiles of 512 columns and 8 rows of the map by itself. While the products of one plane are
 * made, the tile's rows of the next plane come into the other one of the warpgroup's two buffers. Behind all buffers stand
 * the templates' blocks of B, and each template's end with the zeros that the next one's begin with. */
#ifndef TMATCH_LCC_CUDA_TENSOR_PLANE_ROWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_PLANE_ROWS_CUH
#ifndef TM_TENSOR_WARPGROUPS
#define TM_TENSOR_TILE_WIDTH 512
#define TM_TENSOR_TILE_HEIGHT 8
#define TM_TENSOR_WARPGROUPS 3
#endif
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/small_products.cuh"

enum { TM_PLANES_FIXED = 512, TM_PLANES_THREADS = 128 }; // bytes that a block declares; of a warpgroup

__device__ __forceinline__ int tm_planes_warpgroup()
{
    return __shfl_sync(~0u, threadIdx.x / TM_PLANES_THREADS, 0);
}

/* A barrier for a warpgroup's threads. */
__device__ __forceinline__ void tm_planes_barrier()
{
    asm volatile("bar.sync %0, %1;" ::"r"(1 + tm_planes_warpgroup()), "n"(+TM_PLANES_THREADS) : "memory");
}

/* A warpgroup's two buffers, one after the other, and the blocks of B. */
struct tm_plane_rows {
    const uint8_t *frame;
    size_t pitch;
    unsigned buffers, now; // the address of the first one; which one's products are made
    unsigned first_block;  // likewise
    int h, rows;           // of a template; of the plane that a tile's windows take
    int thread;            // of the warpgroup

    __device__ __forceinline__ tm_plane_rows(const tm_device_windows &j, const uint8_t *shared)
        : frame(j.frame), pitch(j.pitch), now(0), h(j.height), rows(h + 7), thread(threadIdx.x % TM_PLANES_THREADS)
    {
        const unsigned at = (unsigned)__cvta_generic_to_shared(shared), both = 2 * rows * TM_RING_ROW_BYTES;
        buffers = at + tm_planes_warpgroup() * both;
        first_block = at + TM_TENSOR_WARPGROUPS * both;
    }

    __device__ __forceinline__ unsigned blocks(int of_template) const
    {
        return first_block + of_template * (h + 7) * TM_SMALL_BLOCK;
    }

    /* Begins to copy one template's blocks, and those of zeros behind the last one's. */
    __device__ __forceinline__ void stage_blocks(int of_template, int templates, const void *from) const
    {
        const int count = of_template + 1 < templates ? h + 7 : h + 14;
        for (int i = threadIdx.x; i < count * TM_SMALL_BLOCK / 16; i += TM_TENSOR_THREADS)
            tm_copy16(blocks(of_template) + 16 * i, (const uint4 *)from + i);
    }

    /* Likewise where two templates' blocks stand by turns; both with all their zeros. */
    __device__ __forceinline__ void stage_blocks_by_turns(int of_template, const void *from) const
    {
        for (int i = threadIdx.x; i < (h + 14) * TM_SMALL_BLOCK / 16; i += TM_TENSOR_THREADS)
            tm_copy16(first_block + (i / 16 * 2 + of_template) * TM_SMALL_BLOCK + i % 16 * 16, (const uint4 *)from + i);
    }

    /* Begins to copy the rows of the plane that is so many bytes from the frame to one of the buffers. */
    __device__ __forceinline__ void stage(int64_t plane, int64_t x, int64_t y, unsigned which) const
    {
        const uint8_t *from = frame + plane + (size_t)y * pitch + x;
        const unsigned to = buffers + which * rows * TM_RING_ROW_BYTES;
        const int row = thread / 64, u = thread % 64;
        const uint8_t *src = from + row * pitch + 8 * u;
        unsigned dst = to + row * TM_RING_ROW_BYTES + 16 * u;
#pragma unroll 4
        for (int r = row; r < rows; r += 2, src += 2 * pitch, dst += 2 * TM_RING_ROW_BYTES)
            tm_ring_copy(dst, src);
        for (int i = thread; i < 3 * rows; i += TM_PLANES_THREADS)
            tm_ring_copy(to + i / 3 * TM_RING_ROW_BYTES + 16 * (64 + i % 3), from + i / 3 * pitch + 8 * (64 + i % 3));
    }

    /* Waits until the rows are there. All warps have waited for their products: none needs the other buffer any more. */
    __device__ __forceinline__ void wait() const
    {
        tm_copy_wait();
        tm_wgmma_publish();
        tm_planes_barrier();
    }

    /* Waits until the blocks of B are there, for all warpgroups. */
    __device__ __forceinline__ void wait_for_blocks() const
    {
        tm_copy_wait();
        tm_wgmma_publish();
        __syncthreads();
    }

    __device__ __forceinline__ void products(int (&acc)[8][4], int of_template, bool more) const
    {
        tm_small_products(acc, ring(), blocks(of_template), h, more);
    }

    __device__ __forceinline__ tm_ring ring() const
    {
        return {buffers + now * rows * TM_RING_ROW_BYTES, rows, 0};
    }
};

__device__ __forceinline__ void tm_planes_shift(int (&acc)[8][4], int bits)
{
#pragma unroll
    for (int i = 0; i < 32; i++)
        acc[i / 4][i & 3] <<= bits;
}

/* This warpgroup's tiles, down the columns of tiles. */
struct tm_planes_tiles {
    int t, end, tx, ty, tiles_y;

    __device__ __forceinline__ tm_planes_tiles(const tm_tensor_plan &p)
        : tiles_y(p.tiles_y)
    {
        /* neighbouring parts of the map are of different multiprocessors, so that all end together */
        const int64_t part = (int64_t)tm_planes_warpgroup() * gridDim.x + blockIdx.x, parts = TM_TENSOR_WARPGROUPS * gridDim.x;
        t = (int)(p.tiles * part / parts), end = (int)(p.tiles * (part + 1) / parts);
        tx = t / tiles_y, ty = t % tiles_y;
    }

    __device__ __forceinline__ void next()
    {
        t++;
        if (++ty == tiles_y)
            ty = 0, tx++;
    }

    __device__ __forceinline__ int64_t x() const
    {
        return (int64_t)tx * TILE_WIDTH;
    }

    __device__ __forceinline__ int64_t y() const
    {
        return (int64_t)ty * TILE_HEIGHT;
    }
};

/* What a block takes of a multiprocessor for so many templates of this height. */
static inline tm_tensor_block tm_planes_block(int height, int templates)
{
    const size_t rows = (size_t)height + 7;
    return {(templates * rows + 7) * TM_SMALL_BLOCK + 2 * TM_TENSOR_WARPGROUPS * rows * TM_RING_ROW_BYTES, TM_PLANES_FIXED, 1};
}

static inline bool tm_planes_fit(const tm_tensor_device *device, int width, int height, int templates)
{
    const tm_tensor_block block = tm_planes_block(height, templates);
    return width <= 25 && height <= 31 && block.shared + block.fixed <= device->shared_memory;
}

#endif
