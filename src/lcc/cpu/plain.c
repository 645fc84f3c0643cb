/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/plain.h"

#include <string.h>

#include "lcc/score.h"

void tm_pack_c(tm_packed_taps *packed, const uint8_t *samples, ptrdiff_t stride)
{
    for (int v = 0; v < packed->h; v++) {
        for (int u = 0; u < packed->w; u++)
            packed->taps[v * packed->w + u] = samples[v * stride + u] - TM_TAP_BIAS;
    }
    packed->steps = packed->w;
    packed->extra = packed->groups = packed->planes = 0;
}

/* The sums of one block stay in registers over all taps; the fixed trip count
 * lets the compiler vectorise the block. */
void tm_correlate_c(int32_t *sft, ptrdiff_t sft_stride, const tm_packed_taps *packed,
                    const uint8_t *staged, const uint32_t *planes, ptrdiff_t stride, int rows,
                    int blocks)
{
    (void)planes;
    for (int y = 0; y < rows; y++) {
        for (int b = 0; b < blocks; b++) {
            int32_t sums[TM_BLOCK] = {0};
            for (int v = 0; v < packed->h; v++) {
                const uint8_t *row = staged + (y + v) * stride + b * TM_BLOCK;
                for (int u = 0; u < packed->w; u++) {
                    int16_t tap = (int16_t)packed->taps[v * packed->w + u];
                    for (int i = 0; i < TM_BLOCK; i++)
                        sums[i] += (int16_t)(row[u + i] * tap);
                }
            }
            for (int i = 0; i < TM_BLOCK; i++)
                sft[y * sft_stride + b * TM_BLOCK + tm_phase_index(i)] = sums[i];
        }
    }
}

static void add_row(const tm_columns *columns, const uint8_t *samples, int sign)
{
    for (int x = 0; x < columns->blocks * TM_BLOCK; x++) {
        int i = tm_phase_index(x), sample = samples[x];
        columns->sum[i] += (uint32_t)(sign * sample);
        columns->sum_sq[i] += (uint32_t)(sign * sample * sample);
    }
}

void tm_enter_c(const tm_columns *columns, const uint8_t *samples)
{
    add_row(columns, samples, 1);
}

void tm_slide_c(const tm_columns *columns, const uint8_t *samples, ptrdiff_t stride, int h,
                int rows)
{
    int width = columns->blocks * TM_BLOCK, plane = columns->blocks * TM_LANES;

    for (int y = 0; y < rows; y++) {
        uint32_t prefix = 0, prefix_sq = 0;
        add_row(columns, samples + y * stride, -1);
        add_row(columns, samples + (y + h) * stride, 1);
        for (int x = 0; x < width; x++) {
            int i = tm_phase_index(x), at = y * width + x % 4 * plane + x / 4;
            columns->prefix[at] = prefix;
            columns->prefix_sq[at] = prefix_sq;
            prefix += columns->sum[i];
            prefix_sq += columns->sum_sq[i];
        }
    }
}

static float score_window(const tm_window_row *row, int x)
{
    int end = x + row->w;
    ptrdiff_t from = x % 4 * row->plane + x / 4, to = end % 4 * row->plane + end / 4;
    int64_t s_f = row->prefix[to] - row->prefix[from];
    int64_t s_ff = row->prefix_sq[to] - row->prefix_sq[from];

    return tm_lcc_score(row->n * row->sft[tm_phase_index(x)] - s_f * row->sum,
                        row->n * s_ff - s_f * s_f, row->variance);
}

static void rank(tm_best *best, float score, int64_t position)
{
    if (score > best->score || (score == best->score && position < best->position))
        *best = (tm_best){score, position};
}

void tm_score_best_c(const tm_window_row *row, tm_best *best)
{
    for (int x = 0; x < row->width; x++)
        rank(best, score_window(row, x), row->position + x);
}

void tm_score_map_c(const tm_window_row *row, tm_best *best, float *map)
{
    for (int x = 0; x < row->width; x++) {
        map[x] = score_window(row, x);
        rank(best, map[x], row->position + x);
    }
}

void tm_score_peaks_c(const tm_window_row *row, tm_best *best, float floor, float *map)
{
    (void)floor;
    tm_score_map_c(row, best, map);
}

void tm_reject_c(const tm_reject *reject, const tm_source_row *row, uint8_t *pass)
{
    (void)reject;
    memset(pass, 1, (size_t)row->blocks);
}
