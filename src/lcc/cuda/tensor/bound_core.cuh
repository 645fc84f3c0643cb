/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu: the core of a template, the part by which a cell's windows are bounded (bound_score.cuh). */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_CORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_CORE_CUH
#include "lcc/cuda/tensor/bound_part.cuh"

struct tm_bound_core {
    int bins, rows; // its columns, in pairs; 0: there is none
    int bin, row;   // where it begins in a cell's first window: column 2 bin + 1
    int taken_off;  // of the sum of each bin's squares
    int counted;    // pixels of the template that count
};

enum { TM_BOUND_MOST_BINS = (TM_BOUND_MOST_WIDTH - 1) / 2, TM_BOUND_TAKEN_OFF = 16 };

/* The core of a template of which all pixels count. */
__host__ __device__ constexpr tm_bound_core tm_bound_core_of(int bins, int width, int height)
{
    return {bins, height - 1, 0, 1, (TM_BOUND_TAKEN_OFF + bins - 1) / bins, width * height};
}

/* How many of a mask's pixels before row y and column x do not count. */
struct tm_bound_missing {
    int before[TM_BOUND_MOST_HEIGHT + 1][TM_BOUND_MOST_WIDTH + 1] = {};

    tm_bound_missing(const uint8_t *mask, int width, int height)
    {
        for (int y = 0; y < height; y++)
            for (int x = 0; x < width; x++)
                before[y + 1][x + 1] = before[y][x + 1] + before[y + 1][x] - before[y][x] + !mask[y * width + x];
    }

    int in(int x, int y, int columns, int rows) const
    {
        return before[y + rows][x + columns] - before[y][x + columns] - before[y + rows][x] + before[y][x];
    }

    /* At most so many are in a core, of whichever of the cell's windows. */
    int in_core(const tm_bound_core &c) const
    {
        int most = 0;
        for (int i = 0; i < 4; i++) {
            const int of_window = in(2 * c.bin + 1 - i % 2, c.row - i / 2, 2 * c.bins, c.rows);
            most = of_window > most ? of_window : most;
        }
        return most;
    }
};

/* The core under a mask: the rectangle whose pixels are most, where each that does not count costs MISSING. None where that leaves less than
 * a fourth of those that do, or where these are fewer than LEAST, of which a window that is not flat has the V that bound_score.cuh counts on.
 * What is taken off a bin's squares is 255^2 for each pixel that does not count, too. */
static inline tm_bound_core tm_bound_masked_core(const uint8_t *mask, int width, int height)
{
    enum { MISSING = 32, LEAST = 65 };
    const tm_bound_missing missing(mask, width, height);
    const int counted = width * height - missing.in(0, 0, width, height);
    tm_bound_core best = {}, c = {};
    int most = (counted - 1) / 4;

    for (c.bin = 0; counted >= LEAST && 2 * c.bin + 3 <= width; c.bin++)
        for (c.bins = 1; 2 * (c.bin + c.bins) + 1 <= width; c.bins++)
            for (c.row = 1; c.row < height; c.row++)
                for (c.rows = 1; c.row + c.rows <= height; c.rows++) {
                    const int pixels = 2 * c.bins * c.rows - MISSING * missing.in_core(c);
                    if (pixels > most)
                        most = pixels, best = c;
                }
    if (best.bins)
        best.taken_off = (TM_BOUND_TAKEN_OFF + 255 * 255 * missing.in_core(best) + best.bins - 1) / best.bins;
    best.counted = counted;
    return best;
}

#endif
