/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"

/* Sums of all sizes, and so that variances are 0 or too great for 64 bits. */
static void fill_sums(int64_t *sums, int count, bool int128)
{
    const int bits = (int)check_random_in(0, int128 ? 46 : 30);
    for (int i = 0; i < count; i++)
        sums[i] = check_random() % 8 ? check_random_in(0, INT64_C(1) << bits) : 0;
}

static void compare_sums(const tm_scorer *s, const int64_t *const *sums, int blocks)
{
    const size_t element = tm_map_element_size(s->metric);
    buffer expected = buffer_make((size_t)blocks * TM_BLOCK * element), got = buffer_make(expected.size);
    char text[64];

    snprintf(text, sizeof text, "metric %d, %d channels%s%s", (int)s->metric, s->channels,
             s->int128 ? ", 128 bits" : "", sums[TM_SUM_TOUCHED] ? ", masked" : "");
    isas[0].score_sums(s, sums, blocks, expected.data);
    for (int i = 1; i < isa_count; i++) {
        if (isas[i].score_sums == isas[i - 1].score_sums)
            continue;
        isas[i].score_sums(s, sums, blocks, got.data);
        check_same(&expected, &got, "score_sums", isas[i].name, text);
    }
    for (int x = 0; x < blocks * TM_BLOCK; x++) {
        const int i = tm_phase_index(x);
        tm_sums window = {sums[TM_SUM_FT][i], sums[TM_SUM_FF][i], {0}};
        for (int c = 0; c < s->channels; c++)
            window.s_f[c] = sums[TM_SUM_F + c][i];
        tm_value value = sums[TM_SUM_TOUCHED] && sums[TM_SUM_TOUCHED][i]
                             ? tm_skipped_value(s->metric)
                             : tm_score_of(s, &window);
        const void *wanted = element == 8 ? (void *)&value.integer : (void *)&value.score;
        if (memcmp((char *)expected.data + (size_t)x * element, wanted, element) != 0)
            check_fail(__FILE__, __LINE__, "score_sums, %s: column %d is not metrics.h's", text, x);
    }
    check_margins(&expected, "score_sums", "c");
    free(expected.memory);
    free(got.memory);
}

void scores_of_sums(void)
{
    enum { BLOCKS = 3 };
    static int64_t memory[TM_SUMS][BLOCKS * TM_BLOCK];
    for (int64_t n = check_cases(1000); n > 0; n--) {
        const bool int128 = check_random() % 4 == 0;
        const int64_t *sums[TM_SUMS];
        tm_scorer s = {.metric = (tm_metric)check_random_in(0, TM_METRICS - 1),
                       .channels = (int)check_random_in(1, TM_MAX_CHANNELS),
                       .int128 = int128,
                       .n = check_random_in(1, int128 ? 65536 : 32767),
                       .s_tt = check_random_in(0, 1 << 30),
                       .norm = (float)check_random_in(1, 1 << 30) * TM_SCORE_SCALE};
        for (int c = 0; c < s.channels; c++)
            s.s_t[c] = check_random_in(0, 1 << 30);
        for (int i = 0; i < TM_SUMS; i++) {
            fill_sums(memory[i], BLOCKS * TM_BLOCK, int128);
            sums[i] = memory[i];
        }
        if (check_random() % 2)
            sums[TM_SUM_TOUCHED] = NULL;
        compare_sums(&s, sums, (int)check_random_in(1, BLOCKS));
    }
}
