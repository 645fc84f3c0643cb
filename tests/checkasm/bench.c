/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "checkasm.h"

static double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

/* Shortest of some repeats, in ns a window. */
#define TIME(windows, call)                                      \
    ({                                                           \
        double shortest = 1e300;                                 \
        for (int repeat = 0; repeat < 40; repeat++) {            \
            double start = now_ns();                             \
            for (int inner = 0; inner < 8; inner++)              \
                call;                                            \
            double taken = (now_ns() - start) / 8;               \
            shortest = taken < shortest ? taken : shortest;      \
        }                                                        \
        shortest / (windows);                                    \
    })

/* Waves with a little noise, of which blocks show most. */
static void fill_waves(uint8_t *samples, ptrdiff_t stride, int width, int height, double length)
{
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++)
            samples[y * stride + x] =
                (uint8_t)(128 + 60 * sin(x / length) + 50 * sin((x + 2 * y) / (1.7 * length)) +
                          (double)check_random_in(-6, 6));
    }
}

/* A level of square blocks, in ns a window, where none passes; and one window scored. */
static void bench_level(int block, bool few)
{
    buffer samples = buffer_make(21 * 21);
    const tm_image image = {.samples = samples.data, .width = 21, .height = 21, .stride = 21};
    tm_template *tmpl;
    level_case l;
    int level = 0;

    fill_waves(samples.data, 21, 21, 21, 7);
    CHECK_EQ(tm_template_prepare(&tmpl, &image), TM_OK);
    while (tmpl->levels.list[level].block_x != block)
        level++;
    level_case_make(&l, tmpl, level, 1024, few);
    fill_waves(l.samples, l.stride, (int)l.stride, 21, 9);
    level_case_sum(&l);
    l.row.least = tm_certified_least(&l.certified, 0.9f);
    if (l.certified.plan.by.few)
        l.row.prefix = l.row.prefix_sq = NULL;
    const size_t columns = (size_t)l.columns;
    buffer sums = buffer_make(columns * 2 + TM_SLACK), scratch = buffer_make((columns + 2 * TM_BLOCK) * 4);
    buffer moved[4], windows = buffer_make(columns * 2);
    for (int k = 0; k < 4; k++)
        moved[k] = buffer_make(columns * 4);
    const tm_level_columns level_columns = {moved[0].data, moved[1].data, moved[2].data, moved[3].data};
    const tm_block_row blocks = {sums.data, scratch.data, l.pairs, l.certified.plan.by.few ? NULL : l.squares, block,
                                 block * block * 128, 0, 0, l.columns};
    for (int i = 0; i < isa_count; i++) {
        const tm_cpu_kernels *k = &isas[i];
        memset(sums.data, 0, sums.size);
        memset(moved[0].data, 0, moved[0].size);
        memset(moved[1].data, 0, moved[1].size);
        double pass = TIME(l.width, k->pass_windows(&l.row, windows.data));
        double move = TIME(l.width, k->move_level(&level_columns, l.samples, l.samples + l.stride, l.columns));
        double column = TIME(l.width, k->move_columns(sums.data, l.samples, l.samples + l.stride, l.columns));
        double product = TIME(1, k->window_product(l.samples, l.stride, l.certified.taps, l.certified.taps_stride, 21, 21));
        printf("%-12s %s blocks of %d: move_columns %.3f, move_level %.3f, pass_windows %.3f ns/window, "
               "window_product %.1f ns",
               k->name, few ? "few" : "many", block, column, move, pass, product);
        memset(sums.data, 0, sums.size);
        printf(", make_blocks %.3f ns/window\n", TIME(l.width, k->make_blocks(&blocks)));
        level_case_sum(&l);
    }
    for (int k = 0; k < 4; k++)
        free(moved[k].memory);
    free(sums.memory);
    free(scratch.memory);
    free(windows.memory);
    free(samples.memory);
    level_case_free(&l);
}

void bench(void)
{
    static const int sizes[][2] = {{4, 4}, {8, 8}, {16, 16}, {21, 21}, {32, 32}, {64, 64}};

    printf("%-12s %8s %12s %12s\n", "", "", "ns/window", "products/ns");
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        tile t = tile_make(sizes[s][0], sizes[s][1], 12, 16, 9, 9);
        for (int i = 0; i < isa_count; i++) {
            buffer taps = buffer_make(tm_packed_taps_size(t.w, t.h));
            buffer planes = buffer_make((size_t)tm_planes_size(t.rows + t.h - 1 + TM_EXTRA_ROWS, t.stride));
            tm_packed_taps packed = {.w = t.w, .h = t.h, .taps = taps.data};
            isas[i].pack(&packed, t.taps.data, t.w);
            if (packed.planes)
                isas[i].expand(planes.data, t.staged.data, t.stride, t.rows + t.h - 1, &packed);
            double ns = TIME(t.rows * t.blocks * TM_BLOCK,
                             isas[i].correlate(t.sft.data, t.sft_stride, &packed, t.staged.data,
                                               planes.data, t.stride, t.rows, t.blocks));
            printf("%-12s correlate %3d %9.3f %12.1f\n", isas[i].name, t.w, ns, t.w * t.h / ns);
            free(taps.memory);
            free(planes.memory);
        }
        tile_free(&t);
    }

    tile t = tile_make(21, 21, TM_SLIDE_ROWS, 16, 9, 9);
    buffer b[4], map = buffer_make((size_t)t.blocks * TM_BLOCK * 4);
    tm_columns c = columns_make(b, (int)(t.stride / TM_BLOCK));
    first_columns(&t, &c);
    tm_window_row row = first_row(&t, &c);
    row.width = t.blocks * TM_BLOCK;
    for (int i = 0; i < isa_count; i++) {
        tm_best best = TM_NO_BEST;
        const tm_cpu_kernels *k = &isas[i];
        double score = TIME(row.width, k->score_best(&row, &best));
        double with_map = TIME(row.width, k->score_map(&row, &best, map.data));
        double peaks = TIME(row.width, k->score_peaks(&row, &best, best.score, map.data));
        double slide = TIME(TM_SLIDE_ROWS * row.width,
                            k->slide(&c, t.staged.data, t.stride, t.h, TM_SLIDE_ROWS));
        memset(c.sum, 0, b[0].size);
        memset(c.sum_sq, 0, b[1].size);
        first_columns(&t, &c);
        printf("%-12s slide %.3f, score_best %.3f, score_map %.3f, score_peaks %.3f ns/window\n",
               k->name, slide, score, with_map, peaks);
    }
    columns_free(b);
    free(map.memory);
    tile_free(&t);
    bench_level(3, false);
    for (size_t i = 0; i < 4; i++)
        bench_level((const int[]){3, 4, 5, 7}[i], true);
}
