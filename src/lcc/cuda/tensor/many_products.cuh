/* SPDX-License-Identifier: MIT */
/* The products of wgmma_many.cu, and how its fragments lie. */
#ifndef TMATCH_LCC_CUDA_TENSOR_MANY_PRODUCTS_CUH
#define TMATCH_LCC_CUDA_TENSOR_MANY_PRODUCTS_CUH
#include "lcc/cuda/tensor/many_rows.cuh"
#include "lcc/cuda/tensor/wgmma_product.cuh"

/* The blocks of B for a step of k: of the template's rows, and of rows of zeros above and below it. */
__host__ __device__ __forceinline__ int tm_many_blocks(int h, int shifts)
{
    return h + 2 * (shifts - 1);
}

/* Issues a step's products. */
template <int GROUP, int STEPS, int SHIFTS>
__device__ __forceinline__ void tm_many_multiply(int (&acc)[GROUP / 8 * SHIFTS][4],
                                                 const tm_many_ring<SHIFTS, STEPS> &ring, unsigned frag, int h)
{
    enum { BLOCK = 32 * GROUP, ROW = tm_many_ring<SHIFTS, STEPS>::ROW };
    /* low words of descriptors: addresses, and the bytes to the second half of k, in units of 16 bytes */
    unsigned a = ring.row(0) >> 4 | 256 / 16 << 16, b = frag + (h + SHIFTS - 2) * BLOCK >> 4 | 128 / 16 << 16;
    const unsigned wrap = ring.rows + ring.count * ROW >> 4 | 256 / 16 << 16, ring_bytes = ring.count * (ROW / 16),
                   step_bytes = tm_many_blocks(h, SHIFTS) * (BLOCK / 16);
    int more = 0;
#pragma unroll 1
    for (int i = 0; i < h + SHIFTS - 1; i++) { // each is a group: see small_products.cuh
        tm_wgmma_begin();
#pragma unroll
        for (int k = 0; k < STEPS; k++, more = 1)
            tm_wgmma(acc, a + 32 * k, b + k * step_bytes, more);
        tm_wgmma_end();
        a += ROW / 16;
        a = a < wrap ? a : a - ring_bytes;
        b -= BLOCK / 16;
    }
}

#endif
