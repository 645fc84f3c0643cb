/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"

tm_window_row first_row(const tile *t, const tm_columns *c)
{
    int64_t n = (int64_t)t->w * t->h, sum = 0, sum_sq = 0;
    const uint8_t *taps = t->taps.data;
    for (int64_t i = 0; i < n; i++) {
        sum += taps[i];
        sum_sq += taps[i] * taps[i];
    }
    return (tm_window_row){.sft = t->sft.data,
                           .prefix = c->prefix,
                           .prefix_sq = c->prefix_sq,
                           .plane = c->blocks * TM_LANES,
                           .w = t->w,
                           .width = (int)check_random_in(1, t->blocks * TM_BLOCK),
                           .n = n,
                           .sum = sum - TM_TAP_BIAS * n,
                           .variance = (float)(n * sum_sq - sum * sum),
                           .position = check_random_in(0, 1 << 20)};
}

/* What reaches the floor, and nothing else, bit for bit. */
static void compare_peaks(const tm_window_row *row, const tile *t, const float *map, float floor,
                          int isa)
{
    buffer other = buffer_make((size_t)row->width * 4);
    tm_best expected = TM_NO_BEST, best = expected;
    const float *scores = other.data;

    isas[0].score_best(row, &expected);
    isas[isa].score_peaks(row, &best, floor, other.data);
    for (int x = 0; x < row->width; x++) {
        if (map[x] >= floor ? memcmp(&map[x], &scores[x], 4) != 0 : !(scores[x] < floor))
            check_fail(__FILE__, __LINE__, "score_peaks, %s, %s: %.9g for %.9g, floor %.9g",
                       isas[isa].name, t->text, scores[x], map[x], floor);
    }
    check_margins(&other, "score_peaks", isas[isa].name);
    if (best.position != expected.position || best.score != expected.score)
        check_fail(__FILE__, __LINE__, "score_peaks, %s, %s: best %.9g, expected %.9g",
                   isas[isa].name, t->text, best.score, expected.score);
    free(other.memory);
}

static void compare_scores(const tile *t)
{
    buffer b[4];
    tm_columns c = columns_make(b, (int)(t->stride / TM_BLOCK));
    first_columns(t, &c);
    tm_window_row row = first_row(t, &c);
    if (row.variance == 0) {
        columns_free(b);
        return;
    }

    buffer map = buffer_make((size_t)row.width * 4), other = buffer_make((size_t)row.width * 4);
    tm_best none = TM_NO_BEST, top = none;
    isas[0].score_map(&row, &top, map.data);
    /* before, among and after equal scores */
    float some = ((float *)map.data)[check_random() % (unsigned)row.width];
    tm_best starts[] = {none, {some, row.position - 1}, {some, INT64_MAX},
                        {some, row.position + row.width / 2}, {top.score, top.position},
                        {top.score, top.position + 1}, {0, INT64_MAX}, {1, row.position + 3}};
    for (size_t s = 0; s < sizeof starts / sizeof *starts; s++) {
        tm_best expected = starts[s];
        isas[0].score_best(&row, &expected);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].score_best == isas[i - 1].score_best)
                continue;
            tm_best best = starts[s], of_map = starts[s];
            isas[i].score_best(&row, &best);
            isas[i].score_map(&row, &of_map, other.data);
            check_same(&map, &other, "score_map", isas[i].name, t->text);
            compare_peaks(&row, t, map.data, starts[s].score, i);
            if (best.position != expected.position || best.score != expected.score ||
                of_map.position != expected.position || of_map.score != expected.score)
                check_fail(__FILE__, __LINE__, "score_best, %s, %s, start %zu: %.9g at %" PRId64
                           ", expected %.9g at %" PRId64, isas[i].name, t->text, s, best.score,
                           best.position, expected.score, expected.position);
        }
    }
    free(map.memory);
    free(other.memory);
    columns_free(b);
}

void scores(void)
{
    for (int64_t i = check_cases(1000); i > 0; i--) {
        tile t = tile_random();
        compare_scores(&t);
        tile_free(&t);
    }
    for (int how = 0; how < 10; how++) {
        for (int taps = 2; taps < 6; taps++) {
            tile t = tile_make(256, 256, 1, 2, how, taps);
            compare_scores(&t);
            tile_free(&t);
        }
    }
}
