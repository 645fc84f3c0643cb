/* SPDX-License-Identifier: MIT */
/* The kernels of certified search whose bits are the same. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"

/* Memory that sources may have behind them, in which anything may lie. */
static buffer source_make(size_t size, int how)
{
    buffer b = buffer_make(size + TM_SLACK);
    buffer_fill(&b, how);
    return b;
}

static buffer copy_of(const buffer *b)
{
    buffer copy = buffer_make(b->size);
    memcpy(copy.data, b->data, b->size);
    return copy;
}

void moves_columns(void)
{
    for (int64_t n = check_cases(300); n > 0; n--) {
        const int count = (int)check_random_in(1, 9) * TM_BLOCK;
        buffer enter = source_make((size_t)count, (int)check_random_in(0, 9));
        buffer leave = source_make((size_t)count, (int)check_random_in(0, 9));
        buffer start = buffer_make((size_t)count * 2);
        buffer_fill(&start, (int)check_random_in(0, 9)); /* sums are modulo 2^16, whatever they start from */
        buffer expected = copy_of(&start);
        isas[0].move_columns(expected.data, enter.data, leave.data, count);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].move_columns == isas[i - 1].move_columns)
                continue;
            buffer got = copy_of(&start);
            isas[i].move_columns(got.data, enter.data, leave.data, count);
            check_same(&expected, &got, "move_columns", isas[i].name, "");
            free(got.memory);
        }
        free(enter.memory);
        free(leave.memory);
        free(start.memory);
        free(expected.memory);
    }
}

enum { BLOCK_ROWS = 3 };

/* What a row of blocks is made of and of what others it takes the place. */
typedef struct block_case {
    buffer columns[BLOCK_ROWS], pairs, squares;
    tm_block_row row;
} block_case;

static block_case block_case_make(int block_x, bool shifted)
{
    const int count = (int)check_random_in(1, 5) * TM_BLOCK;
    /* sums of more than 256 samples are shifted */
    const int block_y = (int)check_random_in(1, shifted || 256 / block_x > 64 ? 64 : 256 / block_x);
    const int how = (int)check_random_in(0, 9);
    block_case b = {
        .pairs = buffer_make((size_t)count * 4),
        .squares = buffer_make((size_t)count * 4),
        .row = {.block_x = block_x, .bias = 128 * block_x * block_y, .count = count},
    };
    while (128 * block_x * block_y >> b.row.shift > 32768)
        b.row.shift++;
    if (shifted && b.row.shift == 0)
        b.row.shift = (int)check_random_in(1, 4);
    if (check_random() & 1)
        b.row.square_shift = (int)check_random_in(1, 20);
    for (int r = 0; r < BLOCK_ROWS; r++) {
        b.columns[r] = source_make((size_t)count * 2, how);
        uint16_t *columns = b.columns[r].data;
        for (size_t x = 0; x < b.columns[r].size / 2; x++)
            columns[x] = (uint16_t)(columns[x] * (block_y * 255) / 65535);
    }
    buffer_fill(&b.pairs, (int)check_random_in(0, 9));
    buffer_fill(&b.squares, (int)check_random_in(0, 9));
    return b;
}

/* Makes rows of blocks, each in the place of the one before. */
static void make_blocks(const tm_cpu_kernels *kernels, const block_case *b, bool with_squares, buffer *pairs,
                        buffer *squares)
{
    buffer sums = buffer_make(((size_t)b->row.count + 2 * TM_BLOCK) * 4);
    tm_block_row row = b->row;

    *pairs = copy_of(&b->pairs);
    *squares = copy_of(&b->squares);
    row.sums = sums.data;
    row.pairs = pairs->data;
    row.squares = with_squares ? squares->data : NULL;
    for (int r = 0; r < BLOCK_ROWS; r++) {
        row.columns = b->columns[r].data;
        kernels->make_blocks(&row);
        check_margins(&sums, "make_blocks", kernels->name);
    }
    free(sums.memory);
}

static void compare_blocks(int block_x, bool shifted)
{
    block_case b = block_case_make(block_x, shifted);
    const bool with_squares = check_random() % 4;
    buffer expected[2];
    char text[64];

    snprintf(text, sizeof text, "blocks of %d columns, shifts %d and %d", block_x, b.row.shift, b.row.square_shift);
    make_blocks(&isas[0], &b, with_squares, &expected[0], &expected[1]);
    for (int i = 1; i < isa_count; i++) {
        if (isas[i].make_blocks == isas[i - 1].make_blocks)
            continue;
        buffer got[2];
        make_blocks(&isas[i], &b, with_squares, &got[0], &got[1]);
        check_same(&expected[0], &got[0], "pairs of blocks", isas[i].name, text);
        check_same(&expected[1], &got[1], "squares of blocks", isas[i].name, text);
        free(got[0].memory);
        free(got[1].memory);
    }
    free(expected[0].memory);
    free(expected[1].memory);
    free(b.pairs.memory);
    free(b.squares.memory);
    for (int r = 0; r < BLOCK_ROWS; r++)
        free(b.columns[r].memory);
}

void makes_blocks(void)
{
    for (int64_t n = (check_cases(300) + 19) / 20; n > 0; n--) {
        for (int block_x = 1; block_x <= TM_LEVEL_BLOCK; block_x++) {
            compare_blocks(block_x, false);
            compare_blocks(block_x, true);
        }
    }
}

/* Sums, squares and the prefixes of either. */
enum { LEVEL_SUMS = 4 };

static void sums_start(buffer *sums, int count)
{
    for (int k = 0; k < LEVEL_SUMS; k++) {
        sums[k] = buffer_make((size_t)count * 4);
        int32_t *sum = sums[k].data;
        for (int x = 0; x < count; x++)
            sum[x] = (int32_t)check_random_in(-65536 * 128, 65536 * 128);
    }
}

static void move_level(const tm_cpu_kernels *kernels, buffer *sums, const buffer *samples, int count,
                       bool squares, bool prefixes)
{
    const tm_level_columns columns = {
        .sum = sums[0].data,
        .squares = squares ? sums[1].data : NULL,
        .prefix = prefixes ? sums[2].data : NULL,
        .prefix_sq = squares && prefixes ? sums[3].data : NULL,
    };
    kernels->move_level(&columns, samples[0].data, samples[1].data, count);
    kernels->move_level(&columns, samples[1].data, samples[2].data, count);
}

void moves_levels(void)
{
    for (int64_t n = check_cases(300); n > 0; n--) {
        const int count = (int)check_random_in(1, 9) * TM_BLOCK;
        const bool squares = check_random() & 1, prefixes = check_random() & 1;
        buffer samples[3], start[LEVEL_SUMS], expected[LEVEL_SUMS];
        for (int k = 0; k < 3; k++)
            samples[k] = source_make((size_t)count, (int)check_random_in(0, 9));
        sums_start(start, count);
        for (int k = 0; k < LEVEL_SUMS; k++)
            expected[k] = copy_of(&start[k]);
        move_level(&isas[0], expected, samples, count, squares, prefixes);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].move_level == isas[i - 1].move_level)
                continue;
            buffer got[LEVEL_SUMS];
            for (int k = 0; k < LEVEL_SUMS; k++)
                got[k] = copy_of(&start[k]);
            move_level(&isas[i], got, samples, count, squares, prefixes);
            for (int k = 0; k < LEVEL_SUMS; k++) {
                check_same(&expected[k], &got[k], "move_level", isas[i].name, "");
                free(got[k].memory);
            }
        }
        for (int k = 0; k < LEVEL_SUMS; k++) {
            free(start[k].memory);
            free(expected[k].memory);
        }
        for (int k = 0; k < 3; k++)
            free(samples[k].memory);
    }
}

void window_products(void)
{
    for (int64_t n = check_cases(2000); n > 0; n--) {
        const int w = (int)check_random_in(1, 200), h = (int)check_random_in(1, 60);
        const ptrdiff_t stride = (w + TM_BLOCK - 1) / TM_BLOCK * TM_BLOCK, pitch = w + check_random_in(0, 70);
        const size_t inside = (size_t)((h - 1) * pitch + w);
        /* rows end in those below, the last one in the columns that kernels read beyond it */
        buffer window = buffer_make(inside + TM_BLOCK), taps = buffer_make((size_t)(stride * h));
        buffer_fill(&window, (int)check_random_in(0, 9));
        buffer_fill(&taps, (int)check_random_in(0, 9));
        int8_t *tap = taps.data;
        for (int y = 0; y < h; y++) {
            for (int x = 0; x < stride; x++)
                tap[y * stride + x] = (int8_t)(x < w ? (uint8_t)tap[y * stride + x] - TM_TAP_BIAS : 0);
        }
        const int32_t expected = isas[0].window_product(window.data, pitch, tap, stride, w, h);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].window_product == isas[i - 1].window_product)
                continue;
            const int32_t got = isas[i].window_product(window.data, pitch, tap, stride, w, h);
            if (got != expected)
                check_fail(__FILE__, __LINE__, "window_product, %s, %d x %d: %d, not %d", isas[i].name, w, h, got,
                           expected);
        }
        for (ptrdiff_t i = 0; i < stride * h; i++)
            tap[i] = i % stride < w && tap[i] % 3 == 0;
        int64_t sum, square, other, other_sq;
        isas[0].sum_window(window.data, pitch, tap, stride, w, h, &sum, &square);
        for (int i = 1; i < isa_count; i++) {
            isas[i].sum_window(window.data, pitch, tap, stride, w, h, &other, &other_sq);
            if (other != sum || other_sq != square)
                check_fail(__FILE__, __LINE__, "sum_window, %s, %d x %d: %" PRId64 " and %" PRId64 ", not %" PRId64
                           " and %" PRId64, isas[i].name, w, h, other, other_sq, sum, square);
        }
        free(window.memory);
        free(taps.memory);
    }
}
