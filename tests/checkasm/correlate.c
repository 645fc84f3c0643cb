/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "checkasm.h"

void correlate(const tm_cpu_kernels *k, const tile *t, buffer *sft)
{
    buffer taps = buffer_make(tm_packed_taps_size(t->w, t->h));
    buffer planes = buffer_make((size_t)tm_planes_size(t->rows + t->h - 1 + TM_EXTRA_ROWS, t->stride));
    tm_packed_taps packed = {.w = t->w, .h = t->h, .taps = taps.data};

    k->pack(&packed, t->taps.data, t->w);
    if (packed.planes)
        k->expand(planes.data, t->staged.data, t->stride, t->rows + t->h - 1, &packed);
    k->correlate(sft->data, t->sft_stride, &packed, t->staged.data, planes.data, t->stride, t->rows,
                 t->blocks);
    check_margins(&taps, "pack", k->name);
    check_margins(&planes, "expand", k->name);
    free(taps.memory);
    free(planes.memory);
}

tile tile_make(int w, int h, int rows, int blocks, int samples, int taps)
{
    tile t = {.w = w, .h = h, .rows = rows, .blocks = blocks};
    snprintf(t.text, sizeof t.text, "%dx%d taps (%d), %d rows of %d blocks (%d)", w, h, taps, rows,
             blocks, samples);
    t.stride = (blocks * TM_BLOCK + w + TM_BLOCK - 1) / TM_BLOCK * TM_BLOCK;
    t.sft_stride = (blocks + (int)(check_random() % 2)) * TM_BLOCK;
    t.taps = buffer_make((size_t)w * (size_t)h);
    t.staged = buffer_make((size_t)(rows + h - 1 + TM_EXTRA_ROWS) * (size_t)t.stride + TM_SLACK);
    t.sft = buffer_make((size_t)rows * (size_t)t.sft_stride * 4);
    buffer_fill(&t.taps, taps);
    buffer_fill(&t.staged, samples);
    correlate(&isas[0], &t, &t.sft);
    return t;
}

tile tile_random(void)
{
    int w = (int)check_random_in(1, check_random() % 4 ? 24 : 150);
    int h = (int)check_random_in(1, check_random() % 4 ? 24 : 150);
    return tile_make(w, h, (int)check_random_in(1, 14), (int)check_random_in(1, 5),
                     (int)check_random_in(0, 9), (int)check_random_in(0, 9));
}

void tile_free(tile *t)
{
    free(t->taps.memory);
    free(t->staged.memory);
    free(t->sft.memory);
}

static void compare_correlate(const tile *t)
{
    for (int i = 1; i < isa_count; i++) {
        if (isas[i].correlate == isas[i - 1].correlate)
            continue;
        buffer sft = buffer_make(t->sft.size);
        correlate(&isas[i], t, &sft);
        check_same(&t->sft, &sft, "correlate", isas[i].name, t->text);
        free(sft.memory);
    }
}

/* The sums of a tile's windows of samples of 15 bits. */
static void sum_wide(const tile *t, const uint16_t *samples, buffer *sft)
{
    const uint8_t *taps = t->taps.data;

    for (int y = 0; y < t->rows; y++) {
        for (int x = 0; x < t->blocks * TM_BLOCK; x++) {
            uint32_t sum = 0;
            for (int i = 0; i < t->w * t->h; i++)
                sum += (uint32_t)((taps[i] - TM_TAP_BIAS) * samples[(y + i / t->w) * t->stride + x + i % t->w]);
            ((uint32_t *)sft->data)[y * t->sft_stride + x / TM_BLOCK * TM_BLOCK + tm_phase_index(x % TM_BLOCK)] = sum;
        }
    }
}

static void correlate_wide(const tm_cpu_kernels *k, const tile *t, const buffer *samples, buffer *sft)
{
    buffer taps = buffer_make(tm_packed_taps_size(t->w, t->h));
    buffer planes = buffer_make((size_t)tm_planes_size(t->rows + t->h - 1 + TM_EXTRA_ROWS, t->stride));
    tm_packed_taps packed = {.w = t->w, .h = t->h, .taps = taps.data};

    k->pack(&packed, t->taps.data, t->w);
    k->expand_wide(planes.data, samples->data, t->stride, t->rows + t->h - 1);
    k->correlate(sft->data, t->sft_stride, &packed, t->staged.data, planes.data, t->stride, t->rows, t->blocks);
    check_margins(&planes, "expand_wide", k->name);
    free(taps.memory);
    free(planes.memory);
}

static void compare_wide(const tile *t)
{
    buffer samples = buffer_make(2 * t->staged.size), wanted = buffer_make(t->sft.size);
    uint16_t *wide = samples.data;

    buffer_fill(&samples, (int)check_random_in(0, 9));
    for (size_t i = 0; i < samples.size / 2; i++)
        wide[i] %= TM_WIDE_SAMPLES;
    sum_wide(t, wide, &wanted);
    for (int i = 1; i < isa_count; i++) {
        if (!isas[i].expand_wide || isas[i].expand_wide == isas[i - 1].expand_wide)
            continue;
        buffer sft = buffer_make(t->sft.size);
        correlate_wide(&isas[i], t, &samples, &sft);
        check_same(&wanted, &sft, "expand_wide", isas[i].name, t->text);
        free(sft.memory);
    }
    free(wanted.memory);
    free(samples.memory);
}

void correlates(void)
{
    for (int64_t i = check_cases(300); i > 0; i--) {
        tile t = tile_random();
        compare_correlate(&t);
        if (i % 4 == 0)
            compare_wide(&t);
        tile_free(&t);
    }
    /* the greatest sums, and every remainder of the width */
    static const int sizes[][2] = {{256, 256}, {65536, 1}, {64, 1024}, {255, 257}, {253, 259},
                                   {1, 1},     {2, 1},     {3, 1},     {49, 2},    {50, 2},
                                   {64, 2},    {65, 2},    {113, 2},   {114, 2}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int extreme = 0; extreme < 3; extreme++) {
            tile t = tile_make(sizes[i][0], sizes[i][1], 2, 1, 1, extreme);
            compare_correlate(&t);
            tile_free(&t);
        }
    }
}
