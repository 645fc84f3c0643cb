/* SPDX-License-Identifier: MIT */
/* A product of bytes on the tensor cores, by one warp. */
#ifndef TMATCH_LCC_CUDA_BYTES_MMA_CUH
#define TMATCH_LCC_CUDA_BYTES_MMA_CUH

#include "lcc/cuda/memory.cuh"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static __device__ __forceinline__ void tm_bytes_mma_half(int &d0, int &d1, unsigned a, unsigned b)
{
    asm("mma.sync.aligned.m8n8k16.row.col.s32.u8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+r"(d0), "+r"(d1) : "r"(a), "r"(b));
}
#endif

/* d += A B: A has 16 lines of bytes, B 8 columns of bytes with signs; of both, 32. Exact. Lanes 4 n + k have, four in a word, line n's
 * bytes from 4k on in a0, those from 16 + 4k on in a2, line n + 8's in a1 and a3, and column n's in b. */
static __device__ __forceinline__ void tm_bytes_mma(int (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3,
                                                    const uint2 &b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    tm_bytes_mma_half(d[0], d[1], a0, b.x);
    tm_bytes_mma_half(d[0], d[1], a2, b.y);
    tm_bytes_mma_half(d[2], d[3], a1, b.x);
    tm_bytes_mma_half(d[2], d[3], a3, b.y);
#else
    asm("mma.sync.aligned.m16n8k32.row.col.s32.u8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
        : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b.x), "r"(b.y));
#endif
}

#endif
