/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_IO_FONT_H
#define TMATCH_IO_FONT_H

#include <stdint.h>

enum { IO_GLYPH_WIDTH = 5, IO_GLYPH_HEIGHT = 7, IO_GLYPH_ADVANCE = 6 };

/* Rows from the top, the leftmost column in bit 4. A character that the font
 * lacks is an empty frame. */
const uint8_t *io_glyph(char character);

#endif
