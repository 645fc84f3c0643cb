/* SPDX-License-Identifier: MIT */
/* For wgmma_tall_planes.cu and wgmma_tall.cu: sums of products in memory, to which others are added. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_MAP_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_MAP_CUH
#include "lcc/cuda/tensor/tall_block.cuh"

/* A thread's sums of a tile, in a map of sums. */
struct tm_tall_map {
    uint32_t *at;
    int64_t stride;
    int columns, rows; // of which the map has so many, from the thread's first on

    /* The map's rows are so many elements apart; the tile begins at (x, y). */
    __device__ __forceinline__ tm_tall_map(uint32_t *map, int64_t apart, int64_t height, int64_t x, int64_t y)
        : stride(apart)
    {
        const tm_tall_lane lane;
        at = map + (y + lane.row) * stride + x + lane.column;
        columns = (int)min((int64_t)TILE_WIDTH, stride - x) - lane.column;
        rows = (int)min((int64_t)TILE_HEIGHT, height - y) - lane.row;
    }

    __device__ __forceinline__ bool has(int g, int e) const
    {
        return TM_TALL_GROUP_ROWS * g < rows && 8 * e < columns;
    }

    /* The sums so far, shifted; 0 where there are none yet. */
    __device__ __forceinline__ void load(int (&acc)[TM_TALL_GROUPS][4], bool any, int shift) const
    {
        const uint32_t *row = at;
#pragma unroll
        for (int g = 0; g < TM_TALL_GROUPS; g++, row += TM_TALL_GROUP_ROWS * stride)
#pragma unroll
            for (int e = 0; e < 4; e++)
                tm_tall_product(acc[g], e) = (int)((any && has(g, e) ? __ldcg(row + 8 * e) : 0) << shift);
    }

    __device__ __forceinline__ void store(const int (&acc)[TM_TALL_GROUPS][4]) const
    {
        uint32_t *row = at;
#pragma unroll
        for (int g = 0; g < TM_TALL_GROUPS; g++, row += TM_TALL_GROUP_ROWS * stride)
#pragma unroll
            for (int e = 0; e < 4; e++)
                if (has(g, e))
                    __stcg(row + 8 * e, (uint32_t)tm_tall_product(acc[g], e));
    }
};

#endif
