/* SPDX-License-Identifier: MIT */
#include "lcc/pose.h"

#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/lcc.h"
#include "lcc/pose_place.h"

#define ONE TM_FRACTION_ONE
enum { FRACTION_BITS = TM_FRACTION_BITS, DROP = TM_PLACE_DROP };
#define ROUND (INT64_C(1) << (DROP - 1))

/* How a pose's pixels lie in the template. */
typedef struct inverse {
    const tm_image *image;
    int64_t cosine, sine; /* over the scale */
    int64_t parts;        /* samples of a pixel, in each direction */
    int64_t width, height;
} inverse;

tm_pose_steps tm_pose_steps_of(tm_turn turn)
{
    const int64_t c = tm_cosine(turn.angle) * TM_POSE_UNIT, s = tm_sine(turn.angle) * TM_POSE_UNIT;
    return (tm_pose_steps){.cosine = floor_div(2 * c + turn.scale, 2 * turn.scale),
                           .sine = floor_div(2 * s + turn.scale, 2 * turn.scale),
                           .parts = ceil_div(TM_POSE_UNIT, turn.scale)};
}

static inverse inverse_of(const tm_image *image, tm_turn turn)
{
    const tm_pose_steps steps = tm_pose_steps_of(turn);
    return (inverse){.image = image, .cosine = steps.cosine, .sine = steps.sine, .parts = steps.parts};
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

static inline int64_t place_across(const inverse *inv, int64_t along, int64_t down, int64_t parts)
{
    return tm_pose_place_at(along * inv->cosine - down * inv->sine, parts, inv->image->width);
}

static inline int64_t place_down(const inverse *inv, int64_t along, int64_t down, int64_t parts)
{
    return tm_pose_place_at(along * inv->sine + down * inv->cosine, parts, inv->image->height);
}

typedef int64_t place_fn(const inverse *inv, int64_t along, int64_t down, int64_t parts);

/* The first of columns [first, last], or last + 1, at which a place, which grows from column to
 * column, or shrinks if rises is false, is beyond a limit: above it, or below. offset: of a pixel's
 * sample. */
static int64_t first_beyond(const inverse *inv, place_fn *at, bool rises, int64_t limit,
                            int64_t offset, int64_t down, int64_t first, int64_t last)
{
    int64_t end = last + 1;

    while (first < end) {
        const int64_t middle = first + (end - first) / 2;
        const int64_t along = tm_pose_first_sample(middle, inv->width, inv->parts) + offset;
        const int64_t value = at(inv, along, down, inv->parts);
        if (rises ? value > limit : value < limit)
            end = middle;
        else
            first = middle + 1;
    }
    return first;
}

/* Columns [first, last]; none if first > last. */
typedef struct columns {
    int64_t first, last;
} columns;

/* Leaves those of the columns at which one sample of the pixels lies from 0 to most. */
static columns narrow(const inverse *inv, place_fn *at, bool rises, int64_t most, int64_t offset,
                      int64_t down, columns c)
{
    const int64_t before = rises ? -1 : most + 1, behind = rises ? most : 0;
    c.first = first_beyond(inv, at, rises, before, offset, down, c.first, c.last);
    c.last = first_beyond(inv, at, rises, behind, offset, down, c.first, c.last) - 1;
    return c;
}

/* Where in a row of the canvas all samples lie in the template. Places move in one direction from
 * sample to sample, so that the corners of a pixel's samples speak for all. */
static columns columns_inside(const inverse *inv, int64_t y)
{
    const int64_t most_x = (inv->image->width - 1) * ONE, most_y = (inv->image->height - 1) * ONE;
    const int64_t down = tm_pose_first_sample(y, inv->height, inv->parts), far = 2 * (inv->parts - 1);
    columns c = {0, inv->width - 1};

    for (int k = 0; k < (far ? 4 : 1); k++) {
        const int64_t i = k & 1 ? far : 0, j = k & 2 ? far : 0;
        c = narrow(inv, place_across, inv->cosine >= 0, most_x, i, down + j, c);
        c = narrow(inv, place_down, inv->sine >= 0, most_y, i, down + j, c);
    }
    return c;
}

/* Adds the sample that lies between four pixels, times 2^(2 * FRACTION_BITS), to each channel's
 * sum. False where the mask leaves one of them out that weighs anything. */
static inline bool add_sample(const tm_image *image, int64_t u, int64_t v, int channels,
                              tm_sample_type type, bool masked, int64_t *sums)
{
    const int64_t right = u & (ONE - 1), below = v & (ONE - 1);
    const int64_t x[2] = {u >> FRACTION_BITS, (u >> FRACTION_BITS) + (right > 0)};
    const int64_t y[2] = {v >> FRACTION_BITS, (v >> FRACTION_BITS) + (below > 0)};

    for (int k = 0; k < 4; k++) {
        const int64_t weight = (k & 1 ? right : ONE - right) * (k & 2 ? below : ONE - below);
        if (masked && weight && !image->mask[y[k >> 1] * image->mask_stride + x[k & 1]])
            return false;
        for (int c = 0; c < channels; c++)
            sums[c] += weight * tm_sample_at(image->samples + y[k >> 1] * image->stride,
                                             x[k & 1] * channels + c, type);
    }
    return true;
}

/* Makes the canvas's pixel (x, y), all of whose samples lie in the template; false where the mask
 * leaves it out. */
static inline bool sample_pixel(const inverse *inv, int64_t x, int64_t y, int64_t parts,
                                int channels, tm_sample_type type, bool masked, int64_t *sums)
{
    const int64_t left = tm_pose_first_sample(x, inv->width, parts);
    const int64_t top = tm_pose_first_sample(y, inv->height, parts);

    memset(sums, 0, TM_MAX_CHANNELS * sizeof *sums);
    for (int64_t j = 0; j < parts; j++) {
        for (int64_t i = 0; i < parts; i++) {
            const int64_t u = place_across(inv, left + 2 * i, top + 2 * j, parts);
            const int64_t v = place_down(inv, left + 2 * i, top + 2 * j, parts);
            if (!add_sample(inv->image, u, v, channels, type, masked, sums))
                return false;
        }
    }
    return true;
}

static int64_t distance_of(const inverse *inv, int64_t x, int64_t y)
{
    const int64_t right = 2 * x - (inv->width - 1), down = 2 * y - (inv->height - 1);
    return right * right + down * down;
}

static inline void store(void *to, int64_t index, int64_t parts, int channels, tm_sample_type type,
                         const int64_t *sums)
{
    const int64_t whole = parts * parts << 2 * FRACTION_BITS;

    for (int c = 0; c < channels; c++) {
        const int64_t sample = (2 * sums[c] + whole) / (2 * whole);
        if (type == TM_SAMPLE_U16)
            ((uint16_t *)to)[index * channels + c] = (uint16_t)sample;
        else
            ((uint8_t *)to)[index * channels + c] = (uint8_t)sample;
    }
}

static inline void make_pixels(tm_posed *p, const inverse *inv, int64_t y, columns c, int64_t parts,
                               int channels, tm_sample_type type, bool masked)
{
    int64_t sums[TM_MAX_CHANNELS];

    for (int64_t x = c.first; x <= c.last; x++) {
        const int64_t i = y * inv->width + x;
        if (!sample_pixel(inv, x, y, parts, channels, type, masked, sums))
            continue;
        p->mask[i] = 1;
        p->count++;
        store(p->samples, i, parts, channels, type, sums);
    }
}

/* The same of 8-bit gray with all its pixels, of which one is a sample: the commonest. */
static void make_plain_pixels(tm_posed *p, const inverse *inv, int64_t y, columns c)
{
    const tm_image *image = inv->image;
    const int64_t left = tm_pose_first_sample(c.first, inv->width, 1), down = tm_pose_first_sample(y, inv->height, 1);
    const int64_t half_x = (image->width - 1) * (ONE / 2), half_y = (image->height - 1) * (ONE / 2);
    int64_t along = left * inv->cosine - down * inv->sine + ROUND, below = left * inv->sine + down * inv->cosine + ROUND;
    uint8_t *to = p->samples + y * inv->width;

    for (int64_t x = c.first; x <= c.last; x++) {
        const int64_t u = (along >> DROP) + half_x, v = (below >> DROP) + half_y;
        const uint32_t of_right = u & (ONE - 1), of_below = v & (ONE - 1);
        const uint8_t *at = image->samples + (v >> FRACTION_BITS) * image->stride + (u >> FRACTION_BITS);
        const uint8_t *next = at + (of_below ? image->stride : 0);
        const ptrdiff_t right = of_right > 0;
        const uint32_t upper = at[0] * ((uint32_t)ONE - of_right) + at[right] * of_right;
        const uint32_t lower = next[0] * ((uint32_t)ONE - of_right) + next[right] * of_right;
        const uint32_t sum = upper * ((uint32_t)ONE - of_below) + lower * of_below; /* at most 255 * 2^24 */
        to[x] = (uint8_t)((sum + (1u << (2 * FRACTION_BITS - 1))) >> (2 * FRACTION_BITS));
        along += 2 * inv->cosine;
        below += 2 * inv->sine;
    }
    if (c.first > c.last)
        return;
    memset(p->mask + y * inv->width + c.first, 1, (size_t)(c.last + 1 - c.first));
    p->count += c.last + 1 - c.first;
}

static void make_row(tm_posed *p, const inverse *inv, const tm_pose_support *support, int64_t y)
{
    const tm_image *image = inv->image;
    const int channels = tm_image_channels(image);
    columns c = columns_inside(inv, y);

    while (support->disc && c.first <= c.last && distance_of(inv, c.first, y) >= support->distance)
        c.first++;
    while (support->disc && c.first <= c.last && distance_of(inv, c.last, y) >= support->distance)
        c.last--;
    if (tm_image_is_plain(image) && inv->parts == 1)
        make_plain_pixels(p, inv, y, c);
    else
        make_pixels(p, inv, y, c, inv->parts, channels, image->type, image->mask != NULL);
}

/* Moves the pixels that count, with as much around them as is as far from the centre, to the
 * front. */
static void trim(tm_posed *p, int64_t pixel_bytes)
{
    int64_t margin_x = p->width, margin_y = p->height;

    for (int64_t y = 0; y < p->height; y++) {
        const uint8_t *row = p->mask + y * p->width, *first = memchr(row, 1, (size_t)p->width);
        int64_t last = p->width - 1;
        while (first && !row[last])
            last--;
        if (!first)
            continue;
        margin_x = smaller(margin_x, smaller(first - row, p->width - 1 - last));
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

tm_status tm_pose_make(tm_posed *posed, const tm_image *image, tm_turn turn,
                       const tm_pose_support *support)
{
    const int64_t pixel_bytes = tm_image_channels(image) * tm_sample_size(image->type), width = image->width, height = image->height;
    inverse inv = inverse_of(image, turn);

    choose_canvas(&inv, turn, support->disc ? width : natural_size(width, height, turn),
                  support->disc ? height : natural_size(height, width, turn));
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
    for (int64_t y = 0; y < h; y++)
        make_row(&p, &inv, support, y);
    if (p.count) {
        trim(&p, pixel_bytes);
        *posed = p;
    } else {
        tm_posed_free(&p);
    }
    return TM_OK;
}

tm_status tm_posed_of(tm_posed *posed, const tm_image *image)
{
    const size_t pixels = (size_t)(image->width * image->height);
    const size_t bytes = pixels * (size_t)(tm_image_channels(image) * tm_sample_size(image->type));
    tm_posed p = {.width = image->width, .height = image->height, .samples = malloc(bytes), .mask = malloc(pixels)};

    *posed = (tm_posed){0};
    if (!p.samples || !p.mask) {
        tm_posed_free(&p);
        return TM_ERR_MEMORY;
    }
    memcpy(p.samples, image->samples, bytes);
    for (size_t i = 0; i < pixels; i++)
        p.count += p.mask[i] = !image->mask || image->mask[i];
    *posed = p;
    return TM_OK;
}

void tm_posed_free(tm_posed *posed)
{
    free(posed->samples);
    free(posed->mask);
    *posed = (tm_posed){0};
}

bool tm_posed_is_flat(const tm_posed *p)
{
    int first = -1;
    for (int64_t i = 0; i < p->width * p->height; i++) {
        if (!p->mask[i])
            continue;
        if (first >= 0 && p->samples[i] != first)
            return false;
        first = p->samples[i];
    }
    return true;
}

/* The nearest pixel of a row that does not count, from the middle, or distance if none is nearer. */
static int64_t reach_of_row(const inverse *inv, int64_t y, int64_t distance)
{
    const tm_image *image = inv->image;
    const columns c = columns_inside(inv, y);
    int64_t sums[TM_MAX_CHANNELS];

    for (int64_t x = inv->width / 2; x < inv->width && distance_of(inv, x, y) < distance; x++) {
        const int64_t mirrored = inv->width - 1 - x;
        if (x > c.last || x < c.first || mirrored < c.first || mirrored > c.last ||
            (image->mask &&
             (!sample_pixel(inv, x, y, inv->parts, 0, image->type, true, sums) ||
              !sample_pixel(inv, mirrored, y, inv->parts, 0, image->type, true, sums))))
            return distance_of(inv, x, y);
    }
    return distance;
}

/* The canvas has more room on all sides than pixels can count. */
tm_status tm_pose_reach(int64_t *distance, const tm_image *image, tm_turn turn)
{
    inverse inv = inverse_of(image, turn);
    int64_t reach = *distance;

    choose_canvas(&inv, turn, image->width, image->height);
    if ((tm_int128)inv.width * inv.height > 2 * TM_MAX_TEMPLATE_PIXELS)
        return TM_ERR_TEMPLATE_TOO_LARGE;
    for (int64_t y = 0; y < inv.height; y++) {
        if (distance_of(&inv, inv.width / 2, y) < reach)
            reach = reach_of_row(&inv, y, reach);
    }
    *distance = reach;
    return TM_OK;
}
