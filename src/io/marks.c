/* SPDX-License-Identifier: MIT */
#include "marks.h"

#include <math.h>
#include <string.h>

/* Bright colours that the colour-blind tell apart, the first ones best, after Okabe and Ito:
 * https://jfly.uni-koeln.de/color/ */
static const io_rgb colors[IO_COLORS] = {
    {{255, 214, 10}},  {{86, 190, 255}}, {{255, 120, 70}}, {{70, 225, 150}},  {{255, 140, 215}},
    {{160, 150, 255}}, {{200, 240, 60}}, {{60, 230, 230}}, {{255, 185, 150}}, {{235, 235, 235}}};

uint32_t io_match_color(int64_t color)
{
    const uint8_t *c = colors[color % IO_COLORS].c;
    return (uint32_t)c[0] << 16 | (uint32_t)c[1] << 8 | c[2];
}

io_rgb io_color_of(const io_box *box)
{
    return colors[box->color % IO_COLORS];
}

/* The width follows the picture, which may be looked at as a whole, and the matches, which
 * may be looked at closely. */
io_pen io_pen_for(const io_picture *picture, const io_drawing *drawing)
{
    const double of_picture = (double)io_extent(picture) / 700;
    const int64_t most = larger(2, (int64_t)of_picture);
    int64_t match = 12;
    for (size_t i = 0; i < drawing->count; i++)
        match = larger(match, smaller(drawing->boxes[i].w, drawing->boxes[i].h));
    io_pen p = {.width = clamp(lround(sqrt(of_picture * (double)match / 12)), 1, most)};
    p.edge = (p.width + 2) / 3;
    p.line = p.width + 2 * p.edge;
    p.smallest = 4 + 5 * p.width;
    return p;
}

void io_fill(io_picture *picture, io_rect r, io_rgb color)
{
    r = io_clipped(r, picture);
    for (int64_t y = r.y0; y < r.y1; y++)
        for (int64_t x = r.x0; x < r.x1; x++)
            memcpy(io_pixel(picture, x, y), color.c, 3);
}

/* Grows the span of a match by a line on both sides. A match too small to be seen gets
 * room around it, and the box may leave the picture; so does the side of a larger one that
 * hangs over. Otherwise the line at the picture's edge moves inside, onto the match. */
static void fit_span(int64_t *low, int64_t *high, const io_pen *p, int64_t size, bool keep)
{
    const bool over_low = *low < 0 && !keep, over_high = *high > size && !keep;
    const int64_t room = p->smallest - (*high - *low);
    const int64_t by = p->line + larger(0, (room + 1) / 2);
    *low -= by;
    *high += by;
    if (room <= 0) {
        *low = over_low ? *low : larger(*low, 0);
        *high = over_high ? *high : smaller(*high, size);
    }
}

io_rect io_box_around(const io_picture *picture, const io_box *box, const io_pen *p)
{
    io_rect r = io_match_rect(box);
    const bool covers = r.x0 < 0 && r.y0 < 0 && r.x1 > picture->width && r.y1 > picture->height;
    fit_span(&r.x0, &r.x1, p, picture->width, covers);
    fit_span(&r.y0, &r.y1, p, picture->height, covers);
    return r;
}

io_rect io_outline(const io_picture *picture, const io_drawing *drawing, size_t i, const io_pen *p)
{
    if (!drawing->turned)
        return io_box_around(picture, &drawing->boxes[i], p);
    const io_turned box = io_turned_box(picture, &drawing->turned[i], p);
    return io_turned_bounds(&box, p);
}

int64_t io_text_size_for(const io_picture *picture)
{
    const int64_t side = io_extent(picture);
    return larger(side / 110, clamp(side / 40, IO_SMALLEST_TEXT, 10));
}

bool io_is_free(const io_crowd *crowd, io_rect rect, size_t except)
{
    for (size_t i = 0; i < crowd->plate_count; i++)
        if (io_meet(rect, crowd->plates[i]))
            return false;
    for (size_t i = 0; i < crowd->drawing->count; i++)
        if (crowd->places[i].first != except && io_meet(rect, crowd->places[i].taken))
            return false;
    return true;
}
