/* SPDX-License-Identifier: MIT */
#include <stdlib.h>
#include <string.h>

#include "checkasm.h"

tm_columns columns_make(buffer b[4], int blocks)
{
    size_t size = (size_t)blocks * TM_BLOCK * 4;
    for (int i = 0; i < 4; i++) {
        b[i] = buffer_make(i < 2 ? size : size * TM_SLIDE_ROWS);
        memset(b[i].data, 0, b[i].size);
    }
    return (tm_columns){b[0].data, b[1].data, b[2].data, b[3].data, blocks};
}

void columns_free(buffer b[4])
{
    for (int i = 0; i < 4; i++)
        free(b[i].memory);
}

/* The prefixes of the first row of windows. */
void first_columns(const tile *t, const tm_columns *c)
{
    buffer still = buffer_make((size_t)t->stride * 2);
    memset(still.data, 0, still.size);
    for (int y = 0; y < t->h; y++)
        isas[0].enter(c, (uint8_t *)t->staged.data + y * t->stride);
    isas[0].slide(c, still.data, t->stride, 1, 1);
    free(still.memory);
}

void slides(void)
{
    for (int64_t n = check_cases(300); n > 0; n--) {
        int blocks = (int)check_random_in(1, 9), h = (int)check_random_in(1, 30);
        int rows = (int)check_random_in(1, TM_SLIDE_ROWS), how = (int)check_random_in(0, 9);
        ptrdiff_t stride = (blocks + (int)(check_random() % 2)) * TM_BLOCK;
        buffer samples = buffer_make((size_t)(h + rows) * (size_t)stride), expected[4], got[4];
        tm_columns c = columns_make(expected, blocks);
        buffer_fill(&samples, how);
        buffer_fill(&expected[0], 9); /* sums are modulo 2^32, whatever they start from */
        buffer_fill(&expected[1], 9);
        buffer start[2] = {buffer_make(expected[0].size), buffer_make(expected[1].size)};
        memcpy(start[0].data, c.sum, start[0].size);
        memcpy(start[1].data, c.sum_sq, start[1].size);
        isas[0].enter(&c, samples.data);
        isas[0].slide(&c, samples.data, stride, h, rows);
        for (int i = 1; i < isa_count; i++) {
            if (isas[i].slide == isas[i - 1].slide)
                continue;
            tm_columns d = columns_make(got, blocks);
            memcpy(d.sum, start[0].data, start[0].size);
            memcpy(d.sum_sq, start[1].data, start[1].size);
            isas[i].enter(&d, samples.data);
            isas[i].slide(&d, samples.data, stride, h, rows);
            for (int j = 0; j < 4; j++)
                check_same(&expected[j], &got[j], "enter, slide", isas[i].name, "");
            columns_free(got);
        }
        columns_free(expected);
        free(samples.memory);
        free(start[0].memory);
        free(start[1].memory);
    }
}
