/* SPDX-License-Identifier: MIT */
/* The kernels of a certified search in plain C. */
#include <math.h>

#include "lcc/cpu/plain.h"

void tm_move_columns_c(uint16_t *columns, const uint8_t *enter, const uint8_t *leave, int count)
{
    for (int x = 0; x < count; x++)
        columns[x] = (uint16_t)(columns[x] + enter[x] - leave[x]);
}

static uint32_t block_square(uint32_t pair, int shift)
{
    const int32_t block = (int16_t)(pair & 0xffff);
    return (uint32_t)(block * block) >> shift;
}

void tm_make_blocks_c(const tm_block_row *row)
{
    const int half = row->shift ? 1 << (row->shift - 1) : 0;

    for (int x = 0; x < row->count + row->block_x; x++) {
        int sum = half - row->bias;
        for (int i = 0; i < row->block_x; i++)
            sum += row->columns[x + i];
        row->sums[x] = sum >> row->shift;
    }
    for (int x = 0; x < row->count; x++) {
        const uint32_t leaving = row->pairs[x], first = (uint32_t)row->sums[x] & 0xffff;
        row->pairs[x] = first | (uint32_t)row->sums[x + row->block_x] << 16;
        if (row->squares)
            row->squares[x] +=
                block_square(first, row->square_shift) - block_square(leaving, row->square_shift);
    }
}

void tm_move_level_c(const tm_level_columns *c, const uint8_t *enter, const uint8_t *leave,
                     int count)
{
    int32_t carry = 0, carry_sq = 0;

    for (int x = 0; x < count; x++) {
        const int in = enter[x] - 128, out = leave[x] - 128;
        c->sum[x] += in - out;
        if (c->prefix)
            c->prefix[x] = carry;
        carry = (int32_t)((uint32_t)carry + (uint32_t)c->sum[x]);
        if (!c->squares)
            continue;
        c->squares[x] += in * in - out * out;
        if (c->prefix_sq)
            c->prefix_sq[x] = carry_sq;
        carry_sq = (int32_t)((uint32_t)carry_sq + (uint32_t)c->squares[x]);
    }
}

static int32_t sum_of(const int32_t *prefix, int x, int count)
{
    return (int32_t)((uint32_t)prefix[x + count] - (uint32_t)prefix[x]);
}

static int32_t half_of(int32_t pair, int high)
{
    return (int16_t)((uint32_t)pair >> 16 * high & 0xffff);
}

/* What the bound takes of the blocks. */
typedef struct block_sums {
    int32_t p, all;
    uint32_t squares;
} block_sums;

static block_sums sums_of_blocks(const tm_level_row *row, int x)
{
    block_sums sums = {0};

    for (int i = 0; i < row->parts[TM_LEVEL_PARTS - 1].end; i++) {
        const tm_level_pair *pair = &row->pairs[i];
        const int32_t blocks = (int32_t)row->blocks[pair->row][x + pair->column];
        for (int high = 0; high < 2; high++) {
            const int32_t block = half_of(blocks & pair->mask, high);
            sums.p += block * half_of(pair->taps, high);
            sums.all += block;
            sums.squares += (uint32_t)(block * block);
        }
    }
    return sums;
}

static bool passes_few(const tm_level_row *row, const block_sums *sums, float left)
{
    const float least = tm_level_least_square(row), all = (float)sums->all;
    const float energy = (float)(int32_t)sums->squares * row->of_squares - row->e_energy - all * row->inverse_d * all;
    return least <= 0 || (left >= 0 && left * left >= energy * least);
}

static bool passes(const tm_level_row *row, int x)
{
    block_sums sums = sums_of_blocks(row, x);
    const float left = (float)sums.p * row->scale + row->spare;

    if (!row->squares) {
        const bool passes = passes_few(row, &sums, left);
        if (!passes || !row->prefix_sq)
            return passes;
    } else {
        sums.squares = 0;
        for (int j = 0; j < row->across; j++)
            sums.squares += row->squares[x + j * row->block_x];
        sums.all = row->prefix_d ? sum_of(row->prefix_d, x, row->covered) : sum_of(row->prefix, x, row->w);
    }
    const float sum = (float)sum_of(row->prefix, x, row->w), part = (float)sums.all;
    const float sum_sq = (float)sum_of(row->prefix_sq, x, row->w);
    const float energy = sum_sq - row->e_energy - sum * row->inverse_n * sum;
    float rest = sum_sq + row->e_rest - (float)(int32_t)sums.squares * row->of_squares;
    if (row->inverse_d != 0)
        rest = rest - sum * row->inverse_n * sum + part * row->inverse_d * part;
    return left >= sqrtf(fmaxf(energy, 0)) * row->least - sqrtf(fmaxf(rest, 0)) * row->rest;
}

int tm_pass_windows_c(const tm_level_row *row, uint16_t *windows)
{
    int count = 0;
    for (int x = 0; x < row->width; x++) {
        if (passes(row, x))
            windows[count++] = (uint16_t)x;
    }
    return count;
}

int32_t tm_window_product_c(const uint8_t *window, ptrdiff_t pitch, const int8_t *taps,
                            ptrdiff_t stride, int w, int h)
{
    int32_t sum = 0;
    for (int y = 0; y < h; y++) {
        for (int x = 0; x < w; x++)
            sum += window[y * pitch + x] * taps[y * stride + x];
    }
    return sum;
}
