/* SPDX-License-Identifier: MIT */
/* Pictures to draw on, of one colour, between margins that nothing may write to. */
#ifndef TMATCH_TESTS_IO_BLANK_H
#define TMATCH_TESTS_IO_BLANK_H

#include "io/io.h"

io_picture blank_make(int64_t width, int64_t height, uint8_t color);
uint8_t *blank_at(const io_picture *picture, int64_t x, int64_t y);

/* Whether the pixel has another colour than the one that it was made with. */
bool blank_changed(const io_picture *picture, int64_t x, int64_t y, uint8_t color);

/* Fails the test where a margin was written to. */
void blank_check_and_free(io_picture *picture);

#endif
