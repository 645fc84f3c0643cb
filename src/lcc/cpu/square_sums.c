/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "lcc/cpu/pose_large.h"
#include "lcc/threads.h"

/* The sums of a row of squares. */
static void sum_row(const tm_square_sums *s, const tm_image *frame, int64_t row)
{
    uint64_t *before = s->before + row * (s->across + 1);

    for (int64_t i = 0; i <= s->across; i++)
        before[i] = 0;
    for (int64_t y = row * s->side; y < smaller(frame->height, (row + 1) * s->side); y++) {
        const uint8_t *pixels = frame->samples + y * frame->stride;
        for (int64_t i = 0; i < s->across; i++) {
            const int64_t end = smaller(frame->width, (i + 1) * s->side);
            uint32_t square = 0;
            for (int64_t x = i * s->side; x < end; x++)
                square += (uint32_t)(pixels[x] * pixels[x]);
            before[i + 1] += square;
        }
    }
    for (int64_t i = 0; i < s->across; i++)
        before[i + 1] += before[i];
}

bool tm_square_sums_make(tm_square_sums *s, const tm_image *frame, int side, int threads)
{
    if (s->before && s->side == side)
        return true;
    tm_square_sums_free(s);
    s->side = side;
    s->across = ceil_div(frame->width, side);
    s->down = ceil_div(frame->height, side);
    s->before = malloc((size_t)((s->across + 1) * s->down) * sizeof *s->before);
    const int team = tm_team_size((int)smaller(threads, s->down));
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int64_t row = 0; row < (s->before ? s->down : 0); row++)
        sum_row(s, frame, row);
    return s->before != NULL;
}

void tm_square_sums_free(tm_square_sums *s)
{
    free(s->before);
    *s = (tm_square_sums){0};
}
