/* SPDX-License-Identifier: MIT */
#include "match/suppress.h"

#include <stdlib.h>

enum { FIRST_SIZE = 64 };

/* Both areas are exact in a double up to 2^53. */
static bool overlaps(const tm_suppressor *s, const tm_corner *a, int64_t x, int64_t y)
{
    const int64_t w = s->width - llabs(a->x - x), h = s->height - llabs(a->y - y);
    if (w <= 0 || h <= 0)
        return false;
    return (double)(w * h) > s->overlap * (double)(2 * s->width * s->height - w * h);
}

/* With dx = u * width and dy = v * height, intersection > overlap * union means
 * (1 - u) * (1 - v) > 2 * overlap / (1 + overlap), so u and v are less than
 * (1 - overlap) / (1 + overlap). Where that is a whole number of pixels, rounding decides: so the rule itself has the
 * last word, whose sides rise and fall with dx and dy also where they are rounded. */
void tm_suppressor_init(tm_suppressor *s, int64_t width, int64_t height, double overlap)
{
    const double reach = (1 - overlap) / (1 + overlap);
    const tm_corner corner = {0, 0};
    *s = (tm_suppressor){.width = width, .height = height, .overlap = overlap};
    s->cell_width = (int64_t)((double)width * reach) + 1;
    s->cell_height = (int64_t)((double)height * reach) + 1;
    while (overlaps(s, &corner, s->cell_width, 0))
        s->cell_width++;
    while (overlaps(s, &corner, 0, s->cell_height))
        s->cell_height++;
}

void tm_suppressor_free(tm_suppressor *s)
{
    free(s->table);
}

static bool cell_covers(const tm_suppressor *s, int64_t cell_x, int64_t cell_y, int64_t x,
                        int64_t y)
{
    for (size_t i = tm_cell_slot(cell_x, cell_y, s->size); s->table[i].x >= 0;
         i = (i + 1) & (s->size - 1)) {
        if (overlaps(s, &s->table[i], x, y))
            return true;
    }
    return false;
}

bool tm_suppressor_covers(const tm_suppressor *s, int64_t x, int64_t y)
{
    const int64_t cell_x = x / s->cell_width, cell_y = y / s->cell_height;
    if (s->taken == 0)
        return false;
    if (cell_covers(s, cell_x, cell_y, x, y)) /* the likeliest first */
        return true;
    for (int64_t v = cell_y - 1; v <= cell_y + 1; v++) {
        for (int64_t u = cell_x - 1; u <= cell_x + 1; u++) {
            if (cell_covers(s, u, v, x, y))
                return true;
        }
    }
    return false;
}

static void put(tm_suppressor *s, tm_corner corner)
{
    size_t i = tm_cell_slot(corner.x / s->cell_width, corner.y / s->cell_height, s->size);
    while (s->table[i].x >= 0)
        i = (i + 1) & (s->size - 1);
    s->table[i] = corner;
}

static bool grow(tm_suppressor *s)
{
    tm_corner *old = s->table;
    const size_t old_size = s->size, size = old_size ? 2 * old_size : FIRST_SIZE;
    tm_corner *table = malloc(size * sizeof *table);
    if (!table)
        return false;
    for (size_t i = 0; i < size; i++)
        table[i] = (tm_corner){-1, -1};
    s->table = table;
    s->size = size;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].x >= 0)
            put(s, old[i]);
    }
    free(old);
    return true;
}

bool tm_suppressor_take(tm_suppressor *s, int64_t x, int64_t y)
{
    if (2 * (s->taken + 1) > s->size && !grow(s))
        return false;
    put(s, (tm_corner){x, y});
    s->taken++;
    return true;
}
