/* SPDX-License-Identifier: MIT */
/* The few last columns of a map, for wgmma.cu. A column of tiles for them would take as long as any
 * other, so some blocks sum their windows without tensor cores. */
#ifndef TMATCH_LCC_CUDA_TENSOR_LAST_COLUMNS_CUH
#define TMATCH_LCC_CUDA_TENSOR_LAST_COLUMNS_CUH
#include "lcc/cuda/tensor/few_windows.cuh"

enum { TM_LAST_COLUMNS = 32 };    // at most
enum { TM_LAST_COLUMN_ROWS = 4 }; // windows of a thread at a time, one below the other

/* Scores one part of the columns' windows, of so many parts. */
template <bool MAP>
__device__ __forceinline__ void tm_last_columns(const tm_tensor_job &j, unsigned part, unsigned parts, tm_tensor_best &warp_best)
{
    tm_tensor_best best = {0, INT_MIN};
    const int64_t left = j.map_width / TILE_WIDTH * TILE_WIDTH;
    const int cols = (int)(j.map_width - left);
    const unsigned total = cols * (((unsigned)j.map_height + TM_LAST_COLUMN_ROWS - 1) /
                                   TM_LAST_COLUMN_ROWS),
                   each = (total + parts - 1) / parts, first = part * each,
                   end = min(first + each, total);
    const tm_tensor_template t = *j.templates;
    const tm_few_mask mask(j.width);
    for (unsigned at = first + threadIdx.x; at < end; at += TM_TENSOR_THREADS) {
        const unsigned line = at / cols;
        const int64_t y = (int64_t)line * TM_LAST_COLUMN_ROWS, x = left + (at - line * cols);
        const int windows = (int)min((int64_t)TM_LAST_COLUMN_ROWS, j.map_height - y);
        float scores[TM_LAST_COLUMN_ROWS];
        tm_few_scores(j, mask, t, x, y, windows, scores);
#pragma unroll
        for (int i = 0; i < TM_LAST_COLUMN_ROWS; i++) {
            if (i >= windows)
                break;
            const int64_t position = (y + i) * j.map_width + x;
            if (MAP)
                __stcs(j.map + position, scores[i]);
            const int order = tm_score_order(scores[i]);
            if (order > best.order)
                best.order = order, best.pos = position;
        }
    }
    tm_few_offer(best, warp_best);
}

#endif
