/* SPDX-License-Identifier: MIT */
/* From samples as libtiff decodes them, in the machine's byte order, to pixels. */
#include "tiff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int io_tiff_used(const tiff_layout *l)
{
    return l->colors + (l->alpha >= 0);
}

int io_tiff_converter_bits(const tiff_converter *c)
{
    return c->layout->depth == 16 && !c->deep ? 8 : c->layout->depth;
}

/* Samples of one channel in part of a row: the first, and the step from each to the next. */
typedef struct lane {
    const uint8_t *row;
    int64_t first, step;
} lane;

static unsigned packed_bits(const uint8_t *row, int64_t bit, int bits)
{
    unsigned value = 0;
    for (int i = 0; i < bits; i++, bit++)
        value = value << 1 | (row[bit / 8] >> (7 - bit % 8) & 1);
    return value;
}

/* Scales samples to 0..255 or 0..65535; indices of a palette stay as they are. */
static void unpack_integers(const tiff_layout *l, lane from, int64_t count, uint16_t *to, int step)
{
    const int bits = l->bits;
    const unsigned most = (1U << bits) - 1, wanted = l->model == MODEL_PALETTE ? most
                                                     : bits > 8              ? 65535
                                                                             : 255;
    const uint16_t *wide = (const uint16_t *)(const void *)from.row;
    for (int64_t i = 0, k = from.first; i < count; i++, k += from.step, to += step)
        if (bits == 8)
            *to = from.row[k];
        else if (bits == 16)
            *to = wide[k];
        else
            *to = (uint16_t)((packed_bits(from.row, k * bits, bits) * wanted + most / 2) / most);
}

static float half_float(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const float value = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexpf((float)fraction, -24)
                                        : ldexpf((float)(1024 + fraction), exponent - 25);
    return half & 0x8000 ? -value : value;
}

static void unpack_floats(tiff_converter *c, lane from, int64_t count, float *to, int step)
{
    const bool floats = c->layout->format == SAMPLEFORMAT_IEEEFP;
    const bool is_signed = c->layout->format == SAMPLEFORMAT_INT;
    const int bytes = c->layout->bits / 8;
    for (int64_t i = 0, k = from.first; i < count; i++, k += from.step, to += step) {
        union {
            uint8_t bytes[8];
            int8_t i8;
            int16_t i16;
            int32_t i32;
            uint16_t u16;
            uint32_t u32;
            float f32;
            double f64;
        } sample;
        memcpy(sample.bytes, from.row + k * bytes, (size_t)bytes);
        double value = sample.u32;
        if (floats)
            value = bytes == 2   ? (double)half_float(sample.u16)
                    : bytes == 4 ? (double)sample.f32
                                 : sample.f64;
        else if (is_signed)
            value = bytes == 1 ? sample.i8 : bytes == 2 ? sample.i16 : sample.i32;
        *to = (float)value;
        c->inexact = c->inexact || (isfinite(value) && (double)*to != value);
    }
}

/* Turns samples into 1 colour or 3: palettes are looked up, and inks become light. */
static void finish_integers(const tiff_layout *l, const uint16_t *from, int used, int64_t count,
                            uint16_t *to, uint8_t *mask)
{
    const uint64_t most = l->depth == 16 ? 65535 : 255;
    const int channels = l->model == MODEL_GRAY ? 1 : 3;
    for (int64_t i = 0; i < count; i++, from += used, to += channels) {
        const uint64_t alpha = l->alpha >= 0 ? from[used - 1] : most;
        for (int k = 0; k < channels; k++) {
            uint64_t value = from[l->model == MODEL_PALETTE ? 0 : k];
            if (l->model == MODEL_PALETTE)
                value = (unsigned)l->palette[k][value] >> l->palette_shift;
            else if (l->model == MODEL_CMYK)
                value = ((most - value) * (most - from[3]) + most / 2) / most;
            if (l->associated && alpha > 0)
                value = (value * most + alpha / 2) / alpha;
            value = value > most ? most : value;
            to[k] = (uint16_t)(l->white_is_zero ? most - value : value);
        }
        if (mask)
            mask[i] = alpha ? 255 : 0;
    }
}

static void finish_floats(const tiff_layout *l, const float *from, int used, int64_t count,
                          float *to, uint8_t *mask)
{
    for (int64_t i = 0; i < count; i++, from += used, to += l->colors) {
        const float alpha = l->alpha >= 0 ? from[used - 1] : 1;
        for (int k = 0; k < l->colors; k++)
            to[k] = l->associated && alpha > 0 ? from[k] / alpha : from[k];
        if (mask)
            mask[i] = alpha > 0 ? 255 : 0;
    }
}

/* Converts blocks, which hold their pixels' brightness and then their Cb and Cr. */
static void convert_blocks(const tiff_converter *c, const uint8_t *tile, int64_t y, int64_t count,
                           uint8_t *to)
{
    const int across = c->layout->blocks[0], down = c->layout->blocks[1];
    const int64_t in_row = (c->layout->tile_width + across - 1) / across;
    const uint8_t *row = tile + y / down * in_row * (across * down + 2);
    for (int64_t x = 0; x < count; x++, to += 3) {
        const uint8_t *block = row + x / across * (across * down + 2);
        const uint8_t *shared = block + across * down;
        uint32_t r, g, b;
        TIFFYCbCrtoRGB(c->ycbcr, block[y % down * across + x % across], shared[0], shared[1], &r,
                       &g, &b);
        to[0] = (uint8_t)r;
        to[1] = (uint8_t)g;
        to[2] = (uint8_t)b;
    }
}

static void put_deep(const tiff_converter *c, const uint16_t *pixels, int channels, int64_t count,
                     uint8_t *to)
{
    if (c->deep) {
        io_put_deep_row((uint16_t *)(void *)to, c->color, pixels, channels, count);
        return;
    }
    /* as with libpng, luma is computed in 16 bits first, which loses less */
    uint16_t *luma = c->samples;
    if (c->color == IO_GRAY && channels == 3)
        io_put_deep_row(luma, IO_GRAY, pixels, channels, count);
    const uint16_t *from = c->color == IO_GRAY && channels == 3 ? luma : pixels;
    uint8_t *narrow = c->pixels;
    for (int64_t i = 0; i < count * (from == luma ? 1 : channels); i++)
        narrow[i] = (uint8_t)((from[i] * 255U + 32895) >> 16);
    io_put_row(to, c->color, narrow, from == luma ? 1 : channels, count);
}

/* Converts decoded pixels to those that are wanted. */
static void put(const tiff_converter *c, const void *pixels, int channels, int64_t count,
                uint8_t *to)
{
    if (c->layout->depth == 32)
        io_put_float_row((float *)(void *)to, c->color, pixels, channels, count);
    else if (c->layout->depth == 16)
        put_deep(c, pixels, channels, count, to);
    else
        io_put_row(to, c->color, pixels, channels, count);
}

/* Whether libtiff's samples are pixels already. */
static bool is_plain(const tiff_converter *c)
{
    const tiff_layout *l = c->layout;
    return (l->model == MODEL_GRAY || l->model == MODEL_RGB) && l->samples == l->colors && !l->planar &&
           !l->white_is_zero && l->bits == l->depth &&
           (l->bits != 32 || l->format == SAMPLEFORMAT_IEEEFP);
}

void io_tiff_convert(tiff_converter *c, const uint8_t *const *planes, int64_t row_bytes, int64_t y,
                     int64_t count, uint8_t *to, uint8_t *mask)
{
    const tiff_layout *l = c->layout;
    const int used = io_tiff_used(l), channels = l->model == MODEL_GRAY ? 1 : 3;
    if (l->model == MODEL_YCBCR) {
        convert_blocks(c, planes[0], y, count, c->pixels);
        put(c, c->pixels, 3, count, to);
        return;
    }
    if (is_plain(c)) {
        put(c, planes[0] + y * row_bytes, channels, count, to);
        return;
    }
    for (int k = 0; k < used; k++) {
        const int sample = k < l->colors ? k : l->alpha;
        const lane from = {planes[l->planar ? k : 0] + y * row_bytes, l->planar ? 0 : sample,
                           l->planar ? 1 : l->samples};
        if (l->depth == 32)
            unpack_floats(c, from, count, (float *)c->samples + k, used);
        else
            unpack_integers(l, from, count, (uint16_t *)c->samples + k, used);
    }
    if (l->depth == 32)
        finish_floats(l, c->samples, used, count, c->pixels, mask);
    else
        finish_integers(l, c->samples, used, count, c->pixels, mask);
    uint8_t *narrow = c->samples;
    const uint16_t *pixels = c->pixels;
    for (int64_t i = 0; l->depth == 8 && i < count * channels; i++)
        narrow[i] = (uint8_t)pixels[i];
    put(c, l->depth == 8 ? c->samples : c->pixels, channels, count, to);
}

/* libtiff's tables, in the one block of memory that it wants for them. */
static TIFFYCbCrToRGB *make_ycbcr(TIFF *tiff)
{
    float *luma, *black_white;
    TIFFYCbCrToRGB *tables =
        malloc((sizeof(TIFFYCbCrToRGB) + 31) / 32 * 32 + 4 * 256 * sizeof(TIFFRGBValue) +
               2 * 256 * sizeof(int) + 3 * 256 * sizeof(int32_t));
    TIFFGetFieldDefaulted(tiff, TIFFTAG_YCBCRCOEFFICIENTS, &luma);
    TIFFGetFieldDefaulted(tiff, TIFFTAG_REFERENCEBLACKWHITE, &black_white);
    if (tables && TIFFYCbCrToRGBInit(tables, luma, black_white) < 0) {
        free(tables);
        return NULL;
    }
    return tables;
}

bool io_tiff_converter_init(tiff_converter *c, TIFF *tiff, const tiff_layout *l,
                            const io_request *request, io_error *error)
{
    const size_t width = (size_t)(l->tile_width < l->width ? l->tile_width : l->width);
    *c = (tiff_converter){.layout = l,
                          .color = request->color,
                          .deep = request->deep,
                          .alpha = request->alpha && l->alpha >= 0};
    c->samples = malloc(width * TIFF_MOST_USED * sizeof(float));
    c->pixels = malloc(width * 3 * sizeof(float));
    if (l->model == MODEL_YCBCR)
        c->ycbcr = make_ycbcr(tiff);
    if (c->samples && c->pixels && (c->ycbcr || l->model != MODEL_YCBCR))
        return true;
    return io_fail(error, "not enough memory");
}

void io_tiff_converter_free(tiff_converter *c)
{
    free(c->ycbcr);
    free(c->samples);
    free(c->pixels);
}
