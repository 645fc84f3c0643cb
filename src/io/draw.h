/* SPDX-License-Identifier: MIT */
/* Rectangles and text drawn on RGB pictures. Whatever lies outside the picture is left out. */
#ifndef TMATCH_IO_DRAW_H
#define TMATCH_IO_DRAW_H

#include "integers.h"
#include "io.h"

typedef struct io_rgb {
    uint8_t c[3];
} io_rgb;

#define IO_DARK ((io_rgb){{16, 16, 20}})
#define IO_WHITE ((io_rgb){{255, 255, 255}})

typedef struct io_rect {
    int64_t x0, y0, x1, y1; /* x1 and y1 are outside */
} io_rect;

static inline io_rect io_placed(int64_t x, int64_t y, int64_t w, int64_t h)
{
    return (io_rect){x, y, x + w, y + h};
}

static inline io_rect io_grown(io_rect r, int64_t by)
{
    return (io_rect){r.x0 - by, r.y0 - by, r.x1 + by, r.y1 + by};
}

static inline io_rect io_clipped(io_rect r, const io_picture *picture)
{
    return (io_rect){larger(r.x0, 0), larger(r.y0, 0), smaller(r.x1, picture->width),
                     smaller(r.y1, picture->height)};
}

/* The least rectangle that holds both, and the part that both have. */
static inline io_rect io_joined(io_rect a, io_rect b)
{
    return (io_rect){smaller(a.x0, b.x0), smaller(a.y0, b.y0), larger(a.x1, b.x1),
                     larger(a.y1, b.y1)};
}

static inline io_rect io_shared(io_rect a, io_rect b)
{
    return (io_rect){larger(a.x0, b.x0), larger(a.y0, b.y0), smaller(a.x1, b.x1),
                     smaller(a.y1, b.y1)};
}

static inline bool io_meet(io_rect a, io_rect b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

static inline bool io_holds(io_rect outer, io_rect r)
{
    return r.x0 >= outer.x0 && r.y0 >= outer.y0 && r.x1 <= outer.x1 && r.y1 <= outer.y1;
}

static inline uint8_t *io_pixel(io_picture *picture, int64_t x, int64_t y)
{
    return picture->samples + (y * picture->width + x) * 3;
}

void io_fill(io_picture *picture, io_rect r, io_rgb color);

/* How much of the colour there is, from 0 to 1. */
static inline void io_blend(uint8_t *to, io_rgb color, float alpha)
{
    for (int c = 0; c < 3; c++)
        to[c] = (uint8_t)((float)to[c] + alpha * (float)(color.c[c] - to[c]) + 0.5f);
}

/* Text is as large as its capitals are high, in pixels; SMALLEST is the least that can be read, and
 * its multiples are the sharpest. A character that is not printable ASCII is an empty frame. */
enum { IO_SMALLEST_TEXT = 7 };
int64_t io_text_width(const char *text, int64_t size);
int64_t io_text_descent(int64_t size); /* below the line that capitals stand on */
void io_draw_text(io_picture *picture, int64_t x, int64_t y, int64_t size, io_rgb color,
                  const char *text);

#endif
