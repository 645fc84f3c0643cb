/* SPDX-License-Identifier: MIT */
/* The products of a step by wgmma with a template of at most 25 x 31, for wgmma.cu and wgmma_planes.cu: 64 units of a
 * frame row, which stand in shared memory as ring.cuh has them, with the template's blocks as B. */
#ifndef TMATCH_LCC_CUDA_TENSOR_SMALL_PRODUCTS_CUH
#define TMATCH_LCC_CUDA_TENSOR_SMALL_PRODUCTS_CUH
#include "lcc/cuda/tensor/ring.cuh"
#include "lcc/cuda/tensor/small_blocks.cuh"
#include "lcc/cuda/tensor/wgmma_product.cuh"

/* The products of ROWS frame rows, one below the other. They are a group with a fence of its own,
 * because ptxas keeps neither open from one basic block to the next: it adds to each block what it
 * lacks, and makes an empty product of a commit that stands alone. */
template <int ROWS, int NEXT, int SLOTS>
__device__ __forceinline__ void tm_small_batch(int (&acc)[SLOTS][4], unsigned &a, unsigned &b, int more)
{
    tm_wgmma_begin();
#pragma unroll
    for (int i = 0; i < ROWS; i++, more = 1, a += TM_RING_ROW_BYTES / 16, b -= NEXT * TM_SMALL_BLOCK / 16)
        tm_wgmma<256 * NEXT * 8 / SLOTS>(acc, a, b, more);
    tm_wgmma_end();
}

/* The products of a step; where there are more, acc has those before. The first and the last frame
 * rows meet blocks of zeros, too. The
 * ring turns between groups of 8 rows. NEXT: blocks from a template row to the next, 2 where those of two templates stand by turns; then an
 * acc of 16 rows is of both templates, by turns. */
template <int NEXT = 1, int SLOTS>
__device__ __forceinline__ void tm_small_products(int (&acc)[SLOTS][4], const tm_ring &ring, unsigned frag,
                                                  int h, bool more)
{
    /* the low words: the address, and the bytes to the second half of k, both in units of 16 */
    unsigned b = __shfl_sync(~0u, frag + (h + 6) * NEXT * TM_SMALL_BLOCK >> 4 | 128 / 16 << 16, 0),
             top = __shfl_sync(~0u, ring.rows >> 4 | 32 / 16 << 16, 0);
    unsigned a = top + __shfl_sync(~0u, ring.first, 0) * (TM_RING_ROW_BYTES / 16),
             turn = ring.count * (TM_RING_ROW_BYTES / 16);
    int rows = h + 7;
#pragma unroll 1
    for (int i = 0; i < rows / 8; i++) {
        tm_small_batch<8, NEXT>(acc, a, b, i || more);
        a = a < top + turn ? a : a - turn;
    }
    if (rows & 4)
        tm_small_batch<4, NEXT>(acc, a, b, 1);
    if (rows & 2)
        tm_small_batch<2, NEXT>(acc, a, b, 1);
    if (rows & 1)
        tm_small_batch<1, NEXT>(acc, a, b, 1);
}

#endif
