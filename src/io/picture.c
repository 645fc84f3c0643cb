/* SPDX-License-Identifier: MIT */
#include "format.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool io_fail(io_error *error, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error->reason, sizeof error->reason, format, arguments);
    va_end(arguments);
    return false;
}

void io_replace_samples(io_picture *picture, uint8_t *samples)
{
    if (picture->memory && picture->samples)
        picture->memory->give_back(picture->memory, picture->samples);
    else
        free(picture->samples);
    picture->samples = samples;
    picture->memory = NULL;
}

void io_picture_free(io_picture *picture)
{
    io_replace_samples(picture, NULL);
    free(picture->mask);
    memset(picture, 0, sizeof *picture);
}

io_limits io_limits_of(const io_source *source, const io_limits *limits)
{
    if (limits->max_pixels)
        return *limits;
    if (source->size > IO_DEFAULT_MAX_PIXELS / IO_PIXELS_A_BYTE)
        return (io_limits){IO_DEFAULT_MAX_PIXELS};
    const int64_t most = (int64_t)source->size * IO_PIXELS_A_BYTE;
    return (io_limits){most > IO_SMALL_FILE_PIXELS ? most : IO_SMALL_FILE_PIXELS};
}

bool io_check_size(int64_t width, int64_t height, const io_limits *limits, io_error *error)
{
    int64_t pixels;
    if (width <= 0 || height <= 0)
        return io_fail(error, "a picture of %" PRId64 "x%" PRId64 " pixels is empty", width,
                       height);
    if (__builtin_mul_overflow(width, height, &pixels) || pixels > limits->max_pixels)
        return io_fail(error,
                       "%" PRId64 "x%" PRId64 " pixels are more than the limit of %" PRId64
                       " (--max-pixels raises it)",
                       width, height, limits->max_pixels);
    return true;
}

bool io_picture_allocate(io_picture *picture, int64_t width, int64_t height, io_color color,
                         int bits, const io_limits *limits, io_error *error)
{
    ptrdiff_t bytes; /* signed: no object may be larger than PTRDIFF_MAX */
    if (!io_check_size(width, height, limits, error))
        return false;
    picture->samples = NULL;
    if (!__builtin_mul_overflow(width * height, (int)color * bits / 8, &bytes)) {
        if (picture->memory)
            picture->samples = picture->memory->take(picture->memory, (size_t)bytes);
        if (!picture->samples) {
            picture->memory = NULL;
            picture->samples = malloc((size_t)bytes);
        }
    }
    if (!picture->samples)
        return io_fail(error, "not enough memory for %" PRId64 "x%" PRId64 " pixels of %d bytes",
                       width, height, (int)color * bits / 8);
    picture->bits = bits;
    picture->width = width;
    picture->height = height;
    picture->channels = color;
    return true;
}

/* This is libpng's arithmetic, so that a crop saved in another format still scores 1. */
static uint8_t luma(uint32_t r, uint32_t g, uint32_t b)
{
    return (uint8_t)((9797 * r + 19234 * g + 3737 * b) >> 15);
}

void io_put_row(uint8_t *restrict to, int to_channels, const uint8_t *restrict from,
                int from_channels, int64_t width)
{
    if (to_channels == from_channels)
        memcpy(to, from, (size_t)(width * to_channels));
    else if (to_channels == 1)
        for (int64_t x = 0; x < width; x++)
            to[x] = luma(from[3 * x], from[3 * x + 1], from[3 * x + 2]);
    else
        for (int64_t x = 0; x < width; x++)
            to[3 * x] = to[3 * x + 1] = to[3 * x + 2] = from[x];
}

static uint16_t deep_luma(uint32_t r, uint32_t g, uint32_t b)
{
    return (uint16_t)((9797 * r + 19234 * g + 3737 * b + 16384) >> 15);
}

void io_put_deep_row(uint16_t *restrict to, int to_channels, const uint16_t *restrict from,
                     int from_channels, int64_t width)
{
    if (to_channels == from_channels)
        memcpy(to, from, (size_t)(width * to_channels) * sizeof *to);
    else if (to_channels == 1)
        for (int64_t x = 0; x < width; x++)
            to[x] = deep_luma(from[3 * x], from[3 * x + 1], from[3 * x + 2]);
    else
        for (int64_t x = 0; x < width; x++)
            to[3 * x] = to[3 * x + 1] = to[3 * x + 2] = from[x];
}

void io_put_float_row(float *restrict to, int to_channels, const float *restrict from,
                      int from_channels, int64_t width)
{
    if (to_channels == from_channels)
        memcpy(to, from, (size_t)(width * to_channels) * sizeof *to);
    else if (to_channels == 1)
        for (int64_t x = 0; x < width; x++)
            to[x] = (float)((9797 * (double)from[3 * x] + 19234 * (double)from[3 * x + 1] +
                             3737 * (double)from[3 * x + 2]) / 32768);
    else
        for (int64_t x = 0; x < width; x++)
            to[3 * x] = to[3 * x + 1] = to[3 * x + 2] = from[x];
}

/* Works in place: the first quarter of the memory gets the bytes. */
static void show_floats(io_picture *picture)
{
    const size_t count = (size_t)(picture->width * picture->height * picture->channels);
    const float *from = (const float *)(const void *)picture->samples;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < count; i++) {
        if (!isfinite(from[i]))
            continue;
        low = fmin(low, (double)from[i]);
        high = fmax(high, (double)from[i]);
    }
    for (size_t i = 0; i < count; i++) {
        const double share = ((double)from[i] - low) / (high - low);
        picture->samples[i] = (uint8_t)(share > 0 ? fmin(255, 255 * share + 0.5) : 0);
    }
    picture->bits = 8;
}

/* Works in place: the first half of the memory gets the bytes. */
static void show_deep(io_picture *picture)
{
    const size_t count = (size_t)(picture->width * picture->height * picture->channels);
    const uint16_t *from = (const uint16_t *)(const void *)picture->samples;
    unsigned low = UINT16_MAX, high = 0;
    for (size_t i = 0; i < count; i++) {
        low = from[i] < low ? from[i] : low;
        high = from[i] > high ? from[i] : high;
    }
    const unsigned range = high - low;
    const bool stretched = range > 0 && range <= UINT16_MAX / 2;
    for (size_t i = 0; i < count; i++)
        picture->samples[i] = (uint8_t)(stretched ? ((from[i] - low) * 255 + range / 2) / range
                                                  : (from[i] * 255U + 32895) >> 16);
    picture->bits = 8;
}

void io_show(io_picture *picture)
{
    if (picture->bits == 32)
        show_floats(picture);
    else if (picture->bits == 16)
        show_deep(picture);
}

bool io_finish_floats(io_picture *picture, const io_request *request, io_error *error)
{
    if (request->floats == IO_FLOATS_REFUSED)
        return io_fail(error, "float or 32-bit samples, where 8-bit samples are needed");
    if (request->floats == IO_FLOATS_SHOWN)
        show_floats(picture);
    return true;
}

static bool make_floats(io_picture *picture, io_error *error)
{
    const size_t count = (size_t)(picture->width * picture->height * picture->channels);
    const uint16_t *deep = (const uint16_t *)(const void *)picture->samples;
    float *floats = malloc(count * sizeof *floats);
    if (!floats)
        return io_fail(error, "not enough memory");
    for (size_t i = 0; i < count; i++)
        floats[i] = picture->bits == 16 ? deep[i] : picture->samples[i];
    io_replace_samples(picture, (uint8_t *)floats);
    picture->bits = 32;
    return true;
}

bool io_set_bits(io_picture *picture, int bits, io_error *error)
{
    const size_t count = (size_t)(picture->width * picture->height * picture->channels);
    if (bits == 8 * io_sample_size(picture))
        return true;
    if (picture->bits == 32)
        return io_fail(error, "float or 32-bit samples cannot be reduced to %d bits", bits);
    if (bits == 32)
        return make_floats(picture, error);
    uint8_t *samples = malloc(count * (size_t)bits / 8);
    if (!samples)
        return io_fail(error, "not enough memory");
    uint16_t *deep = (uint16_t *)(void *)(bits == 16 ? samples : picture->samples);
    if (bits == 16)
        for (size_t i = 0; i < count; i++)
            deep[i] = (uint16_t)(picture->samples[i] * 257);
    else
        for (size_t i = 0; i < count; i++)
            samples[i] = (uint8_t)((deep[i] * 255U + 32895) >> 16);
    io_replace_samples(picture, samples);
    picture->bits = bits;
    return true;
}
