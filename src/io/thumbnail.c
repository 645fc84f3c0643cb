/* SPDX-License-Identifier: MIT */
#include "format.h"
#include "integers.h"

#include <stdlib.h>

/* Each pixel of the smaller picture becomes the mean of the pixels that it covers. */
static void average(const io_picture *from, io_picture *to)
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

bool io_shrink(const io_picture *picture, int64_t width, int64_t height, io_picture *small,
               io_error *error)
{
    *small = (io_picture){.width = picture->width, .height = picture->height, .channels = picture->channels};
    /* The larger ratio decides; nothing is enlarged. */
    if (picture->width > width || picture->height > height) {
        const bool wide = (double)picture->width * (double)height > (double)picture->height * (double)width;
        const double ratio = wide ? (double)width / (double)picture->width
                                  : (double)height / (double)picture->height;
        small->width = wide ? width : larger(1, (int64_t)((double)picture->width * ratio));
        small->height = wide ? larger(1, (int64_t)((double)picture->height * ratio)) : height;
    }
    small->samples = malloc((size_t)(small->width * small->height * small->channels));
    if (!small->samples)
        return io_fail(error, "not enough memory");
    average(picture, small);
    return true;
}

bool io_write_thumbnail(const io_picture *picture, int side, FILE *file, io_error *error)
{
    io_picture small;
    if (!io_shrink(picture, side, side * 3 / 4, &small, error))
        return false;
    /* Thousands of small ones shall have a few kB each; a large one shall look good. */
    const bool written = io_jpeg_encode(&small, side < 400 ? 65 : 85, file, error);
    io_picture_free(&small);
    return written;
}
