/* SPDX-License-Identifier: MIT */
#include "lcc/pose.h"

#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/lcc.h"

/* Positions in the template are rounded to so many bits of a pixel, half up. */
enum { FRACTION_BITS = 12 };
#define ONE (INT64_C(1) << FRACTION_BITS)

/* The series are added up with so many fractional bits. */
enum { SERIES_BITS = 62 };

static int64_t times(int64_t a, int64_t b)
{
    return (int64_t)(((tm_int128)a * b + (INT64_C(1) << (SERIES_BITS - 1))) >> SERIES_BITS);
}

/* The Taylor series of the sine, from = 1, or the cosine, from = 0, of 0 to 45 degrees. The error is
 * below 2^-59, and no sine of a whole number of millionths lies as near to where rounding to
 * TM_SINE_BITS would change. */
static int64_t series(int64_t angle, int from)
{
    const int64_t unit = INT64_C(2700766203474729657); /* pi / 180e6 * 2^87 */
    const int64_t x = (int64_t)(((tm_int128)angle * unit + (1 << 24)) >> 25);
    const int64_t square = times(x, x);
    int64_t term = from ? x : INT64_C(1) << SERIES_BITS, sum = 0;

    for (int k = from; term; k += 2) {
        sum += term;
        term = -times(term, square) / ((k + 1) * (k + 2));
    }
    const int drop = SERIES_BITS - TM_SINE_BITS;
    return (sum + (INT64_C(1) << (drop - 1))) >> drop;
}

int64_t tm_sine(int64_t angle)
{
    const int64_t quarter = TM_POSE_TURN / 4;
    angle %= TM_POSE_TURN;
    if (angle < 0)
        angle += TM_POSE_TURN;
    if (angle >= 2 * quarter)
        return -tm_sine(angle - 2 * quarter);
    if (angle > quarter)
        angle = 2 * quarter - angle;
    return angle <= quarter / 2 ? series(angle, 1) : series(quarter - angle, 0);
}

int64_t tm_cosine(int64_t angle)
{
    return tm_sine(angle % TM_POSE_TURN + TM_POSE_TURN / 4);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

/* How a pose's pixels lie in the template. */
typedef struct inverse {
    const tm_image *image;
    int64_t cosine, sine; /* over the scale */
    int64_t parts;        /* samples of a pixel, in each direction */
    int64_t width, height;
} inverse;

static inverse inverse_of(const tm_image *image, tm_turn turn)
{
    const int64_t c = tm_cosine(turn.angle) * TM_POSE_UNIT, s = tm_sine(turn.angle) * TM_POSE_UNIT;
    return (inverse){.image = image,
                     .cosine = floor_div(2 * c + turn.scale, 2 * turn.scale),
                     .sine = floor_div(2 * s + turn.scale, 2 * turn.scale),
                     .parts = ceil_div(TM_POSE_UNIT, turn.scale)};
}

/* The template's size in this direction after it was turned to the nearest quarter, and resized. */
static int64_t natural_size(int64_t along, int64_t across, tm_turn turn)
{
    const bool upright = llabs(tm_cosine(turn.angle)) >= llabs(tm_sine(turn.angle));
    return ((upright ? along : across) * turn.scale + TM_POSE_UNIT / 2) / TM_POSE_UNIT;
}

/* A size of the given parity that holds the turned centres of all the template's pixels, and a row
 * more. */
static int64_t canvas_size(int64_t along, int64_t across, tm_turn turn, int64_t parity)
{
    const tm_int128 extent = ((tm_int128)llabs(tm_cosine(turn.angle)) * (along - 1) +
                              (tm_int128)llabs(tm_sine(turn.angle)) * (across - 1)) *
                             turn.scale / TM_POSE_UNIT;
    const int64_t size = (int64_t)(extent >> TM_SINE_BITS) + 3;
    return size + ((size ^ parity) & 1);
}

/* width and height: what the canvas's sizes are even with. */
static void choose_canvas(inverse *inv, tm_turn turn, int64_t width, int64_t height)
{
    const int64_t w = inv->image->width, h = inv->image->height;
    inv->width = canvas_size(w, h, turn, width);
    inv->height = canvas_size(h, w, turn, height);
}

/* A position in the template, in parts of a pixel, from twice the canvas's position times parts. */
static int64_t place(const inverse *inv, int64_t along, int64_t size)
{
    const int64_t unit = 2 * inv->parts << (TM_SINE_BITS - FRACTION_BITS);
    return floor_div(along + unit / 2, unit) + (size - 1) * (ONE / 2);
}

/* Adds the sample that lies between four pixels, times 2^(2 * FRACTION_BITS), to each channel's
 * sum. False where one of them that weighs anything does not count. */
static bool add_sample(const tm_image *image, int64_t u, int64_t v, int64_t *sums)
{
    const int64_t x = u >> FRACTION_BITS, y = v >> FRACTION_BITS;
    const int64_t right = u & (ONE - 1), below = v & (ONE - 1);
    const int channels = tm_image_channels(image);

    if (u < 0 || v < 0 || x + (right > 0) >= image->width || y + (below > 0) >= image->height)
        return false;
    for (int k = 0; k < 4; k++) {
        const int64_t weight = (k & 1 ? right : ONE - right) * (k & 2 ? below : ONE - below);
        const int64_t column = x + (k & 1), row = y + (k >> 1);
        if (!weight)
            continue;
        if (image->mask && !image->mask[row * image->mask_stride + column])
            return false;
        for (int c = 0; c < channels; c++)
            sums[c] += weight * tm_sample_at(image->samples + row * image->stride,
                                             column * channels + c, image->type);
    }
    return true;
}

/* Makes the canvas's pixel (x, y); false where it does not count. */
static bool sample_pixel(const inverse *inv, int64_t x, int64_t y, int64_t *sums)
{
    const tm_image *image = inv->image;
    const int64_t q = inv->parts, left = (2 * x - (inv->width - 1)) * q - (q - 1);
    const int64_t top = (2 * y - (inv->height - 1)) * q - (q - 1);

    memset(sums, 0, TM_MAX_CHANNELS * sizeof *sums);
    for (int64_t i = 0; i < q * q; i++) {
        const int64_t along = left + 2 * (i % q), down = top + 2 * (i / q);
        const int64_t u = place(inv, along * inv->cosine - down * inv->sine, image->width);
        const int64_t v = place(inv, along * inv->sine + down * inv->cosine, image->height);
        if (!add_sample(image, u, v, sums))
            return false;
    }
    return true;
}

static int64_t distance_of(const inverse *inv, int64_t x, int64_t y)
{
    const int64_t right = 2 * x - (inv->width - 1), down = 2 * y - (inv->height - 1);
    return right * right + down * down;
}

static void store(const inverse *inv, void *to, int64_t index, const int64_t *sums)
{
    const int channels = tm_image_channels(inv->image);
    const int64_t whole = inv->parts * inv->parts << 2 * FRACTION_BITS;

    for (int c = 0; c < channels; c++) {
        const int64_t sample = (2 * sums[c] + whole) / (2 * whole);
        if (inv->image->type == TM_SAMPLE_U16)
            ((uint16_t *)to)[index * channels + c] = (uint16_t)sample;
        else
            ((uint8_t *)to)[index * channels + c] = (uint8_t)sample;
    }
}

/* Moves the pixels that count, with as much around them as is as far from the centre, to the
 * front. */
static void trim(tm_posed *p, int64_t pixel_bytes)
{
    int64_t margin_x = p->width, margin_y = p->height;

    for (int64_t i = 0; i < p->width * p->height; i++) {
        const int64_t x = i % p->width, y = i / p->width;
        if (!p->mask[i])
            continue;
        margin_x = smaller(margin_x, smaller(x, p->width - 1 - x));
        margin_y = smaller(margin_y, smaller(y, p->height - 1 - y));
    }
    const int64_t width = p->width - 2 * margin_x, height = p->height - 2 * margin_y;
    for (int64_t y = 0; y < height; y++) {
        const int64_t from = (y + margin_y) * p->width + margin_x;
        memmove(p->samples + y * width * pixel_bytes, p->samples + from * pixel_bytes,
                (size_t)(width * pixel_bytes));
        memmove(p->mask + y * width, p->mask + from, (size_t)width);
    }
    p->width = width;
    p->height = height;
}

tm_status tm_pose_make_like(tm_posed *posed, const tm_image *image, tm_turn turn,
                            const tm_pose_support *support, int64_t width, int64_t height)
{
    const int64_t pixel_bytes = tm_image_channels(image) * tm_sample_size(image->type);
    inverse inv = inverse_of(image, turn);
    int64_t sums[TM_MAX_CHANNELS];

    choose_canvas(&inv, turn, width, height);
    const int64_t w = inv.width, h = inv.height;
    *posed = (tm_posed){0};
    if ((tm_int128)w * h > TM_MAX_TEMPLATE_PIXELS)
        return TM_ERR_TEMPLATE_TOO_LARGE;
    tm_posed p = {.width = w,
                  .height = h,
                  .samples = calloc((size_t)(w * h), (size_t)pixel_bytes),
                  .mask = calloc((size_t)(w * h), 1)};
    if (!p.samples || !p.mask) {
        tm_posed_free(&p);
        return TM_ERR_MEMORY;
    }
    for (int64_t i = 0; i < w * h; i++) {
        const int64_t x = i % w, y = i / w;
        if ((support->disc && distance_of(&inv, x, y) >= support->distance) ||
            !sample_pixel(&inv, x, y, sums))
            continue;
        p.mask[i] = 1;
        p.count++;
        store(&inv, p.samples, i, sums);
    }
    if (p.count) {
        trim(&p, pixel_bytes);
        *posed = p;
    } else {
        tm_posed_free(&p);
    }
    return TM_OK;
}

tm_status tm_pose_make(tm_posed *posed, const tm_image *image, tm_turn turn,
                       const tm_pose_support *support)
{
    const int64_t w = image->width, h = image->height;
    return tm_pose_make_like(posed, image, turn, support,
                             support->disc ? w : natural_size(w, h, turn),
                             support->disc ? h : natural_size(h, w, turn));
}

void tm_posed_free(tm_posed *posed)
{
    free(posed->samples);
    free(posed->mask);
    *posed = (tm_posed){0};
}

/* The canvas has more room on all sides than pixels can count. */
tm_status tm_pose_reach(int64_t *distance, const tm_image *image, tm_turn turn)
{
    inverse inv = inverse_of(image, turn);
    int64_t sums[TM_MAX_CHANNELS], reach = INT64_MAX;

    choose_canvas(&inv, turn, image->width, image->height);
    if ((tm_int128)inv.width * inv.height > 2 * TM_MAX_TEMPLATE_PIXELS)
        return TM_ERR_TEMPLATE_TOO_LARGE;
    for (int64_t i = 0; i < inv.width * inv.height; i++) {
        const int64_t x = i % inv.width, y = i / inv.width;
        if (distance_of(&inv, x, y) < reach && !sample_pixel(&inv, x, y, sums))
            reach = distance_of(&inv, x, y);
    }
    *distance = reach;
    return TM_OK;
}
