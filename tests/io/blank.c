/* SPDX-License-Identifier: MIT */
#include "blank.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { MARGIN = 4096, POISON = 0xa5 };

io_picture blank_make(int64_t width, int64_t height, uint8_t color)
{
    const size_t size = (size_t)(width * height * 3);
    uint8_t *buffer = malloc(size + 2 * MARGIN);
    CHECK(buffer);
    memset(buffer, POISON, size + 2 * MARGIN);
    memset(buffer + MARGIN, color, size);
    return (io_picture){
        .width = width, .height = height, .channels = 3, .samples = buffer + MARGIN};
}

uint8_t *blank_at(const io_picture *picture, int64_t x, int64_t y)
{
    return picture->samples + (y * picture->width + x) * 3;
}

bool blank_changed(const io_picture *picture, int64_t x, int64_t y, uint8_t color)
{
    const uint8_t *p = blank_at(picture, x, y);
    return p[0] != color || p[1] != color || p[2] != color;
}

void blank_check_and_free(io_picture *picture)
{
    const uint8_t *end = picture->samples + picture->width * picture->height * 3;
    for (int i = 0; i < MARGIN; i++)
        CHECK(picture->samples[i - MARGIN] == POISON && end[i] == POISON);
    free(picture->samples - MARGIN);
}
