/* SPDX-License-Identifier: MIT */
/* For wgmma_tall_planes.cu and wgmma_tall.cu: sums of products in memory, to which others are added; and the parts of a template whose
 * products are added so. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_MAP_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_MAP_CUH
#include "lcc/cuda/tensor/tall_block.cuh"

/* The parts in which a template is taken: of so many rows and units each, so many across and down. */
struct tm_tall_division {
    int rows, units, across, down;

    int count() const
    {
        return across * down;
    }

    /* Where one of them begins. */
    int row(int i) const
    {
        return i / across * rows;
    }

    int unit(int i) const
    {
        return i % across * units;
    }

    /* Sets the plan's part to one of them. */
    void take(tm_tensor_plan *p, int i) const
    {
        p->part_row = row(i), p->part_unit = unit(i), p->part_rows = rows;
    }
};

/* Sets those that take the fewest products, and little besides, where a block has shared memory for operands and so many bytes; false
 * where they would be more than most. */
static inline bool tm_tall_divide(const tm_tensor_device *device, const tm_device_windows &j, size_t besides, int most,
                                  tm_tall_division *parts)
{
    enum { BESIDES = 40 }; // units that take as long as what a product takes besides
    const int units = tm_wide_units(j.width), fewest = (units + TM_WIDE_MOST_UNITS - 1) / TM_WIDE_MOST_UNITS,
              narrowest = (units + TM_WIDE_LEAST_UNITS - 1) / TM_WIDE_LEAST_UNITS;
    int least = INT_MAX, down = 2;

    for (int across = fewest; across <= min(most, narrowest) && down > 1; across++) {
        const int wide = max((units + across - 1) / across, +TM_WIDE_LEAST_UNITS);
        int high = j.height;
        down = 1;
        while (down * across <= most && tm_tall_operand_bytes(wide, high) + besides > device->shared_memory)
            down++, high = (j.height + down - 1) / down;
        const int cost = across * down * ((high + 3) * wide + BESIDES);
        if (down * across <= most && cost < least)
            least = cost, *parts = {high, wide, across, down};
    }
    return least < INT_MAX;
}

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
