/* SPDX-License-Identifier: MIT */
/* A template of at most 25 columns as wgmma takes it: a block for each row, which is 8 shifts x 32 of k as core matrices. Rows descend, and
 * 7 blocks of zeros stand at both ends, for frame rows that meet fewer than 8 rows of the map. */
#ifndef TMATCH_LCC_CUDA_TENSOR_SMALL_BLOCKS_CUH
#define TMATCH_LCC_CUDA_TENSOR_SMALL_BLOCKS_CUH

enum { TM_SMALL_BLOCK = 256 }; // bytes

__host__ __device__ constexpr int tm_small_blocks_bytes(int height)
{
    return (height + 14) * TM_SMALL_BLOCK;
}

/* Byte i of the blocks. */
template <typename T>
__device__ __forceinline__ T tm_small_blocks_byte(const T *tmpl, int width, int height, int i)
{
    const int r = height + 6 - i / TM_SMALL_BLOCK, shift = i / 16 % 8, x = i / 128 % 2 * 16 + i % 16 - shift;
    return r >= 0 && r < height && x >= 0 && x < width ? tmpl[r * width + x] : 0;
}

#endif
