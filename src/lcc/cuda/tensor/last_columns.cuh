/* SPDX-License-Identifier: MIT */
/* The few last columns of a map, for wgmma.cu. A column of tiles for them would take as long as any
 * other, so some blocks sum their windows without tensor cores. */
#ifndef TMATCH_LCC_CUDA_TENSOR_LAST_COLUMNS_CUH
#define TMATCH_LCC_CUDA_TENSOR_LAST_COLUMNS_CUH
#include "lcc/cuda/tensor/epilogue.cuh"

enum { TM_LAST_COLUMNS = 32 };    // at most
enum { TM_LAST_COLUMN_ROWS = 4 }; // windows of a thread at a time, one below the other

/* Scores one part of the columns' windows, of so many parts. row_bytes: of a template row in the
 * fragments, where rows of zeros stand before the template's and behind them. */
template <bool MAP>
__device__ __forceinline__ void tm_last_columns(const tm_tensor_job &j, int row_bytes,
                                                unsigned part, unsigned parts,
                                                tm_tensor_best &warp_best)
{
    const uint8_t *fragments = (const uint8_t *)j.fragments;
    tm_tensor_best best = {0, INT_MIN};
    const int64_t left = j.map_width / TILE_WIDTH * TILE_WIDTH;
    const int cols = (int)(j.map_width - left), w = j.width, h = j.height, n = w * h;
    const unsigned total = cols * (((unsigned)j.map_height + TM_LAST_COLUMN_ROWS - 1) /
                                   TM_LAST_COLUMN_ROWS),
                   each = (total + parts - 1) / parts, first = part * each,
                   end = min(first + each, total);
    const tm_tensor_template t = *j.templates;
    unsigned mask[7];
#pragma unroll
    for (int k = 0; k < 7; k++)
        mask[k] = 4 * k + 4 <= w ? ~0u : 4 * k >= w ? 0 : ~0u >> 8 * (4 * k + 4 - w);
    for (unsigned at = first + threadIdx.x; at < end; at += TM_TENSOR_THREADS) {
        const unsigned line = at / cols;
        const int64_t y = (int64_t)line * TM_LAST_COLUMN_ROWS, x = left + (at - line * cols);
        const int windows = (int)min((int64_t)TM_LAST_COLUMN_ROWS, j.map_height - y),
                  last = windows + h - 2;
        const uint8_t *row = j.frame + (size_t)y * j.pitch + (x & ~3);
        const uint8_t *taps = fragments + (h + 6) * row_bytes;
        const int shift = 8 * (int)(x & 3);
        unsigned s_f[TM_LAST_COLUMN_ROWS] = {}, s_ff[TM_LAST_COLUMN_ROWS] = {},
                 s_ft[TM_LAST_COLUMN_ROWS] = {};
#pragma unroll 2
        for (int r = 0; r < h + TM_LAST_COLUMN_ROWS - 1; r++, taps -= row_bytes) {
            unsigned f[8], v[7], sum = 0, squares = 0;
#pragma unroll
            for (int k = 0; k < 8; k++)
                f[k] = __ldg((const unsigned *)row + k);
            row += r < last ? j.pitch : 0; // rows below the last are not used
#pragma unroll
            for (int k = 0; k < 7; k++) {
                v[k] = __funnelshift_r(f[k], f[k + 1], shift) & mask[k];
                sum = __dp4a(v[k], 0x01010101u, sum);
                squares = __dp4a(v[k], v[k], squares);
            }
#pragma unroll
            for (int i = 0; i < TM_LAST_COLUMN_ROWS; i++) {
                const uint4 *tap = (const uint4 *)(taps + i * row_bytes);
                const uint4 a = __ldg(tap), b = __ldg(tap + 8);
                const unsigned of[7] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z};
#pragma unroll
                for (int k = 0; k < 7; k++)
                    s_ft[i] = __dp4a(v[k], of[k], s_ft[i]);
                if (r >= i && r < i + h)
                    s_f[i] += sum, s_ff[i] += squares;
            }
        }
#pragma unroll
        for (int i = 0; i < TM_LAST_COLUMN_ROWS; i++) {
            if (i >= windows)
                break;
            const int64_t position = (y + i) * j.map_width + x;
            float q = tm_tensor_score(
                __ll2float_rn((int64_t)n * s_ft[i] - (int64_t)s_f[i] * t.sum),
                __ll2float_rn((int64_t)n * s_ff[i] - (int64_t)s_f[i] * s_f[i]), t.variance);
            if (MAP)
                __stcs(j.map + position, q);
            int order = tm_score_order(q);
            if (order > best.order)
                best.order = order, best.pos = position;
        }
    }
    for (int d = 16; d; d /= 2) {
        int order = __shfl_xor_sync(~0u, best.order, d);
        int64_t pos = __shfl_xor_sync(~0u, best.pos, d);
        if (tm_tensor_beats(order, pos, best.order, best.pos))
            best.order = order, best.pos = pos;
    }
    if (tm_tensor_beats(best.order, best.pos, warp_best.order, warp_best.pos))
        warp_best = best;
}

#endif
