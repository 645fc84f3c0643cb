/* SPDX-License-Identifier: MIT */
/* A font of 5x7 pixels. */
#ifndef TMATCH_IO_FONT_H
#define TMATCH_IO_FONT_H

#include <stdint.h>

enum { IO_GLYPH_WIDTH = 5, IO_GLYPH_HEIGHT = 7, IO_GLYPH_ADVANCE = 6, IO_GLYPH_DESCENT = 2 };

typedef struct io_glyph {
    uint8_t drop; /* how many rows it stands below the line, up to IO_GLYPH_DESCENT */
    uint8_t rows[IO_GLYPH_HEIGHT]; /* from the top, the leftmost column in bit 4 */
} io_glyph;

/* A character that is not printable ASCII is an empty frame. */
const io_glyph *io_find_glyph(unsigned char character);

#endif
