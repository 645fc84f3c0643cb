/* SPDX-License-Identifier: MIT */
/* Products of many windows of samples with the basis templates of a family, on the tensor cores.
 *
 * A warp makes 64 windows beside each other, of one row or two. In its products the first matrix has 16 windows and 32 columns of a
 * row of theirs: number (m, k) is the sample m + k from the first window on. So a register has the same samples in
 * several products, and ten of them serve four. The second matrix has the taps of 8 basis templates. */
#ifndef TMATCH_LCC_CUDA_POSES_PRODUCTS_CUH
#define TMATCH_LCC_CUDA_POSES_PRODUCTS_CUH

#include "lcc/cuda/bytes_mma.cuh"

enum {
    TM_POSE_COLUMNS = 8, /* basis templates are padded to a multiple of so many */
    TM_POSE_TILE_WIDTH = 64, /* a warp's windows beside each other */
    TM_POSE_GROUPS = TM_POSE_TILE_WIDTH / 16, /* products beside each other */
    TM_POSE_PARTS = 2 * TM_POSE_GROUPS + 2, /* of a row: registers, 8 samples apart */
    TM_POSE_STEP = 32,  /* columns of a step */
    TM_POSE_BEYOND = 8, /* samples beyond the last step's of a tile's last window that may be read */
};

/* Rows of windows that a warp makes at a time: so many that the sums stay in registers. */
template <int BASIS>
struct tm_pose_rows {
    enum { at_once = BASIS > 2 ? 1 : 2 };
};

/* Four samples that begin so many bits behind a word's. */
static __device__ __forceinline__ unsigned tm_pose_part(const uint32_t *words, unsigned shift)
{
    return __funnelshift_r(__ldg(words), __ldg(words + 1), shift);
}

/* Adds the products of a warp's windows, of which the first one begins at from. fragments: [row][step][BASIS][lane], where
 * lane 4 n + t has taps 4t to 4t + 3 of template n, and those 16 columns further. */
template <int BASIS, int ROWS>
static __device__ __forceinline__ void tm_pose_multiply(int (&acc)[ROWS][TM_POSE_GROUPS][BASIS][4], const uint8_t *from,
                                                        size_t pitch, const uint2 *fragments, int height, int steps)
{
    enum { STEP_PARTS = TM_POSE_STEP / 8 };
    const int lane = threadIdx.x & 31;
    const uint8_t *at = from + lane / 4 + lane % 4 * 4;
    const unsigned shift = 8 * (unsigned)((uintptr_t)at & 3);
    const uint32_t *words = (const uint32_t *)(at - ((uintptr_t)at & 3));

#pragma unroll 1
    for (int row = 0; row < height + ROWS - 1; row++, words += pitch / 4) {
        unsigned a[TM_POSE_PARTS];
#pragma unroll
        for (int i = STEP_PARTS; i < TM_POSE_PARTS; i++)
            a[i] = tm_pose_part(words + 2 * (i - STEP_PARTS), shift);
#pragma unroll 1
        for (int step = 0; step < steps; step++) {
#pragma unroll
            for (int i = 0; i + STEP_PARTS < TM_POSE_PARTS; i++) /* the step before had these */
                a[i] = a[i + STEP_PARTS];
#pragma unroll
            for (int i = TM_POSE_PARTS - STEP_PARTS; i < TM_POSE_PARTS; i++)
                a[i] = tm_pose_part(words + TM_POSE_STEP / 4 * step + 2 * i, shift);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                if (row < r || row - r >= height)
                    continue;
                const uint2 *b = fragments + (((row - r) * steps + step) * BASIS * 32 + lane);
#pragma unroll
                for (int n = 0; n < BASIS; n++) {
                    const uint2 taps = __ldg(b + 32 * n);
#pragma unroll
                    for (int i = 0; i < TM_POSE_GROUPS; i++)
                        tm_bytes_mma(acc[r][i][n], a[2 * i], a[2 * i + 1], a[2 * i + 2], a[2 * i + 3], taps);
                }
            }
        }
    }
}

#endif
