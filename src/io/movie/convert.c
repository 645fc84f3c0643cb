/* SPDX-License-Identifier: MIT */
#include "convert.h"

#include "integers.h"

enum { FRACTION = 16 };

/* Y', Cb and Cr are weighted sums of R, G and B, in parts of 2^FRACTION. */
typedef struct weights {
    int y[3], cb[3], cr[3];
} weights;

static int fixed(double value)
{
    return (int)(value * (1 << FRACTION) + (value < 0 ? -0.5 : 0.5));
}

static weights weights_of(double red, double blue)
{
    const double y = 219.0 / 255, c = 224.0 / 255 / 2, green = 1 - red - blue;
    return (weights){
        .y = {fixed(y * red), fixed(y * green), fixed(y * blue)},
        .cb = {fixed(-c * red / (1 - blue)), fixed(-c * green / (1 - blue)), fixed(c)},
        .cr = {fixed(c), fixed(-c * green / (1 - red)), fixed(-c * blue / (1 - red))},
    };
}

/* The sum of 2^shift pixels, whose mean it stands for. */
static uint8_t weigh(const int w[3], int r, int g, int b, int shift, int zero)
{
    const int sum = w[0] * r + w[1] * g + w[2] * b;
    const int value = (sum + (1 << (FRACTION + shift - 1))) >> (FRACTION + shift);
    return (uint8_t)(value + zero);
}

static void put_light(uint8_t *restrict to, const uint8_t *restrict rgb, int width, const weights *w)
{
    for (int x = 0; x < width; x++)
        to[x] = weigh(w->y, rgb[3 * x], rgb[3 * x + 1], rgb[3 * x + 2], 0, 16);
}

/* upper and lower are the same row where each has its own colours, or in the last row of an odd height. */
static void put_chroma(AVFrame *f, int row, const uint8_t *upper, const uint8_t *lower, bool shared, const weights *w)
{
    uint8_t *cb = f->data[1] + (ptrdiff_t)row * f->linesize[1], *cr = f->data[2] + (ptrdiff_t)row * f->linesize[2];
    const int step = shared ? 2 : 1, last = f->width - 1;

    for (int x = 0; x <= last; x += step) {
        const uint8_t *p[4] = {upper + 3 * x, upper + 3 * (x < last ? x + step - 1 : x), lower + 3 * x,
                               lower + 3 * (x < last ? x + step - 1 : x)};
        int sum[3];
        for (int c = 0; c < 3; c++)
            sum[c] = p[0][c] + p[1][c] + p[2][c] + p[3][c];
        cb[x / step] = weigh(w->cb, sum[0], sum[1], sum[2], 2, 128);
        cr[x / step] = weigh(w->cr, sum[0], sum[1], sum[2], 2, 128);
    }
}

void movie_convert(AVFrame *f, const io_picture *picture)
{
    const bool shared = f->format == AV_PIX_FMT_YUV420P;
    const weights w = f->colorspace == AVCOL_SPC_BT709 ? weights_of(0.2126, 0.0722) : weights_of(0.299, 0.114);
    const ptrdiff_t stride = (ptrdiff_t)picture->width * 3;

    for (int y = 0; y < f->height; y++) {
        const uint8_t *row = picture->samples + y * stride;
        put_light(f->data[0] + (ptrdiff_t)y * f->linesize[0], row, f->width, &w);
        if (!shared)
            put_chroma(f, y, row, row, false, &w);
        else if (y % 2 == 0)
            put_chroma(f, y / 2, row, y + 1 < f->height ? row + stride : row, true, &w);
    }
}
