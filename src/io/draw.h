/* SPDX-License-Identifier: MIT */
/* What pictures are drawn with, on RGB pictures. */
#ifndef TMATCH_IO_DRAW_H
#define TMATCH_IO_DRAW_H

#include "io.h"

typedef struct io_rgb {
    uint8_t c[3];
} io_rgb;

/* As much of the box as lies inside the picture. */
void io_fill(io_picture *picture, int64_t x, int64_t y, int64_t w, int64_t h, io_rgb color);

/* White, as many letters as lie inside; scale is pixels of one pixel of the font. */
int64_t io_text_width(const char *text, int64_t scale);
void io_draw_text(io_picture *picture, int64_t x, int64_t y, int64_t scale, const char *text);

#endif
