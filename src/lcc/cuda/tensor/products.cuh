/* SPDX-License-Identifier: MIT */
/* S_FT of a tile by mma.sync: how its frame rows come into shared memory, and their products with
 * the template. */
#ifndef TMATCH_LCC_CUDA_TENSOR_PRODUCTS_CUH
#define TMATCH_LCC_CUDA_TENSOR_PRODUCTS_CUH
#include "lcc/cuda/tensor/kernels.cuh"

enum { MMA_BLOCKS = 512 / TM_TENSOR_THREADS }; // of a multiprocessor: 128 registers a thread

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
/* d += A B, with 32 bytes of k, or with 16. */
__device__ __forceinline__ void tm_mma(int (&d)[4], const unsigned (&a)[4], uint2 b)
{
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b.x), "r"(b.y));
}

__device__ __forceinline__ void tm_mma(int (&d)[4], const unsigned (&a)[4], unsigned b)
{
    asm("mma.sync.aligned.m16n8k16.row.col.s32.u8.u8.s32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
        "{%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(b));
}

/* Adds the products of one step of k, over all of the template's rows, to a warp's 8 rows. V is
 * uint2 for 32 bytes of k, unsigned for 16; row is this lane's part of A in the first frame row, b
 * of B in the first template row. The 8 latest template rows stay in registers (win), so that each
 * frame row is loaded once for all its products. The template is taken to have zero rows above it
 * that make its height a multiple of 8; most of their products are skipped. */
template <bool PREFETCH, typename V>
__device__ __forceinline__ void tm_mma_products(int (&acc)[8][4], const uint8_t *row, int row_bytes,
                                                const V *b, int h, int lane)
{
    V win[8] = {}, next[8] = {};
    unsigned a[2][4];
    int pad = -h & 7;
    auto load = [&](int i) {
        a[i & 1][0] = *(const unsigned *)row;
        a[i & 1][1] = *(const unsigned *)(row + 64);
        if (sizeof(V) == 8)
            a[i & 1][2] = *(const unsigned *)(row + 16),
                  a[i & 1][3] = *(const unsigned *)(row + 80);
        row += row_bytes;
    };
#pragma unroll
    for (int j = 0; j < 8; j++)
        if (j >= pad)
            win[j] = __ldg(b), b += 32;
    if (PREFETCH && h > 8)
#pragma unroll
        for (int j = 0; j < 8; j++)
            next[j] = __ldg(b + 32 * j);
#pragma unroll
    for (int j = 0; j < 8; j++)
        if (j >= pad) {
            load(j);
#pragma unroll
            for (int i = 0; i <= j; i++)
                if (j - i >= pad)
                    tm_mma(acc[i], a[j & 1], win[j - i]);
        }
    load(0);
    for (int c = 8; c < h; c += 8) {
#pragma unroll
        for (int j = 0; j < 8; j++) {
            load(j + 1);
            if (PREFETCH) {
                win[j] = next[j];
                if (c + 8 < h)
                    next[j] = __ldg(b + 256 + 32 * j);
            } else
                win[j] = __ldg(b + 32 * j);
#pragma unroll
            for (int i = 0; i < 8; i++)
                tm_mma(acc[i], a[j & 1], win[(j - i) & 7]);
        }
        b += 256;
    }
#pragma unroll
    for (int j = 0; j < 7; j++) {
        if (j < 6)
            load(j + 1);
#pragma unroll
        for (int i = j + 1; i < 8; i++)
            tm_mma(acc[i], a[j & 1], win[8 + j - i]);
    }
}

/* Begins to copy tile (tx, ty)'s rows of a plane into shared memory; tm_copy_wait ends it. */
__device__ __forceinline__ void tm_mma_stage(uint8_t *tile, const uint8_t *frame, size_t pitch,
                                             int height, const tm_tensor_plan &p, int tx, int ty)
{
    int chunks = p.row_bytes / 16, step = TM_TENSOR_THREADS / chunks, r = threadIdx.x / chunks,
        c = threadIdx.x % chunks;
    if (chunks > TM_TENSOR_THREADS)
        step = 1, r = 0, c = threadIdx.x;
    if (r >= step)
        return;
    const uint8_t *src =
        frame + (size_t)ty * TILE_HEIGHT * pitch + (size_t)tx * TILE_WIDTH + r * pitch + 16 * c;
    unsigned dst = (unsigned)__cvta_generic_to_shared(tile) + r * p.row_bytes + 16 * c;
    for (; r < TILE_HEIGHT + height - 1;
         r += step, src += step * pitch, dst += step * p.row_bytes) {
        tm_copy16(dst, src);
        if (chunks > TM_TENSOR_THREADS)
            for (int d = TM_TENSOR_THREADS; c + d < chunks; d += TM_TENSOR_THREADS)
                tm_copy16(dst + 16 * d, src + 16 * d);
    }
}

#endif

#endif
