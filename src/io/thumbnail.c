/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <stdlib.h>

enum { QUALITY = 65 };

/* The mean of the pixels that a pixel of the smaller picture covers. */
static void shrink(const io_picture *from, io_picture *to)
{
    const int channels = from->channels;
    for (int64_t y = 0; y < to->height; y++) {
        const int64_t top = y * from->height / to->height, bottom = (y + 1) * from->height / to->height;
        for (int64_t x = 0; x < to->width; x++) {
            const int64_t left = x * from->width / to->width, right = (x + 1) * from->width / to->width;
            uint64_t sums[3] = {0};
            for (int64_t v = top; v < bottom; v++)
                for (int64_t u = left; u < right; u++)
                    for (int c = 0; c < channels; c++)
                        sums[c] += from->samples[(v * from->width + u) * channels + c];
            const uint64_t count = (uint64_t)((bottom - top) * (right - left));
            for (int c = 0; c < channels; c++)
                to->samples[(y * to->width + x) * channels + c] =
                    (uint8_t)((sums[c] + count / 2) / count);
        }
    }
}

bool io_write_thumbnail(const io_picture *picture, int width, int height, FILE *file, io_error *error)
{
    io_picture small = {.width = width, .height = height, .channels = picture->channels};

    /* The larger ratio decides; nothing is enlarged. */
    if (picture->width * height > picture->height * width)
        small.height = picture->height * width / picture->width;
    else
        small.width = picture->width * height / picture->height;
    if (small.width > picture->width || small.height > picture->height)
        return io_jpeg_encode(picture, QUALITY, file, error);
    small.width = small.width < 1 ? 1 : small.width;
    small.height = small.height < 1 ? 1 : small.height;
    small.samples = malloc((size_t)(small.width * small.height * small.channels));
    if (!small.samples)
        return io_fail(error, "not enough memory");
    shrink(picture, &small);
    const bool written = io_jpeg_encode(&small, QUALITY, file, error);
    io_picture_free(&small);
    return written;
}
