/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "checkasm.h"

void picks(void)
{
    for (int64_t n = check_cases(300); n > 0; n--) {
        const int step = (int)check_random_in(1, 8);
        buffer expected = buffer_make((size_t)check_random_in(1, 300)), got = buffer_make(expected.size);
        buffer from = buffer_make((expected.size - 1) * (size_t)step + 1);
        buffer_fill(&from, 9);
        isas[0].pick(expected.data, from.data, step, (int64_t)expected.size);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].pick == isas[i - 1].pick)
                continue;
            isas[i].pick(got.data, from.data, step, (int64_t)expected.size);
            check_same(&expected, &got, "pick", isas[i].name, "");
        }
        check_margins(&expected, "pick", "c");
        free(expected.memory);
        free(got.memory);
        free(from.memory);
    }
}

/* Sources of both kinds, of any bits. */
void combines(void)
{
    enum { MOST = 9, SUM = 2 };
    for (int64_t n = check_cases(300); n > 0; n--) {
        const int blocks = (int)check_random_in(1, 5), count = (int)check_random_in(1, MOST);
        const int w = (int)check_random_in(1, 150), block = (int)check_random_in(0, blocks - 1);
        const ptrdiff_t plane = (blocks + (w + TM_BLOCK - 1) / TM_BLOCK) * TM_LANES;
        buffer rows[MOST], got, expected = buffer_make((size_t)(blocks - block) * TM_BLOCK * 8);
        tm_source_row row = {.first = {[SUM + 1] = count}, .plane = plane, .w = w, .blocks = blocks};

        got = buffer_make(expected.size);
        for (int i = 0; i < count; i++) {
            rows[i] = buffer_make((size_t)plane * 4 * 4);
            buffer_fill(&rows[i], (int)check_random_in(0, 9));
            if (check_random() % 2)
                row.source[i] = (tm_source){.products = rows[i].data,
                                            .shift = (int)check_random_in(0, 3) * 8};
            else
                row.source[i] = (tm_source){.prefix = rows[i].data,
                                            .weight = check_random_in(-256, 128 * 65536)};
        }
        isas[0].sum_up(expected.data, &row, SUM, block, blocks - block);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].sum_up == isas[i - 1].sum_up)
                continue;
            isas[i].sum_up(got.data, &row, SUM, block, blocks - block);
            check_same(&expected, &got, "sum_up", isas[i].name, "");
        }
        for (int i = 0; i < count; i++)
            free(rows[i].memory);
        free(expected.memory);
        free(got.memory);
    }
}
