/* SPDX-License-Identifier: MIT */
/* A turned match cut out and turned upright. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "integers.h"

/* Positions are rounded to so many bits of a pixel, so that those of quarter turns are whole. */
enum { FRACTION_BITS = 12 };
#define ONE (INT64_C(1) << FRACTION_BITS)

static int64_t sample_at(const io_picture *p, int64_t x, int64_t y, int channel)
{
    const int64_t i = (clamp(y, 0, p->height - 1) * p->width + clamp(x, 0, p->width - 1)) *
                          p->channels + channel;
    return p->bits == 16 ? ((const uint16_t *)p->samples)[i] : p->samples[i];
}

/* Between the four pixels around a position; outside the picture its edge goes on. */
static int64_t sample_between(const io_picture *p, const int64_t at[2], int channel)
{
    const int64_t x = at[0] >> FRACTION_BITS, y = at[1] >> FRACTION_BITS;
    const int64_t right = at[0] & (ONE - 1), below = at[1] & (ONE - 1);
    int64_t sum = ONE * ONE / 2;

    for (int k = 0; k < 4; k++)
        sum += (k & 1 ? right : ONE - right) * (k & 2 ? below : ONE - below) *
               sample_at(p, x + (k & 1), y + (k >> 1), channel);
    return sum >> 2 * FRACTION_BITS;
}

static void store(io_picture *p, int64_t i, int64_t sample)
{
    if (p->bits == 16)
        ((uint16_t *)p->samples)[i] = (uint16_t)sample;
    else
        p->samples[i] = (uint8_t)sample;
}

bool io_cut_upright(const io_picture *picture, const io_corners *corners, int64_t width,
                    int64_t height, io_picture *cut, io_error *error)
{
    const double (*c)[2] = corners->at;

    *cut = (io_picture){.width = width, .height = height, .channels = picture->channels,
                        .bits = picture->bits};
    cut->samples = malloc(io_picture_bytes(&(io_picture){
        .width = width, .height = height, .channels = picture->channels, .bits = picture->bits,
        .samples = picture->samples}));
    if (!cut->samples)
        return io_fail(error, "not enough memory");
    for (int64_t i = 0; i < width * height; i++) {
        const double along = ((double)(i % width) + 0.5) / (double)width;
        const double down = ((double)(i / width) + 0.5) / (double)height;
        int64_t at[2];
        for (int k = 0; k < 2; k++)
            at[k] = llround((c[0][k] + along * (c[1][k] - c[0][k]) + down * (c[3][k] - c[0][k])) *
                            (double)ONE);
        for (int k = 0; k < picture->channels; k++)
            store(cut, i * picture->channels + k, sample_between(picture, at, k));
    }
    return true;
}
