/* SPDX-License-Identifier: MIT */
#include "pictures.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

const char *const picture_content_names[PICTURE_CONTENTS] = {
    "noise", "two values", "most but one", "checkerboard", "gradient", "broken checkerboard",
    "halves", "stripes", "all 0", "0 but one", "all most", "near-flat"};

picture_content picture_random_content(void)
{
    return check_random() % 2 ? PICTURE_NOISE
                              : (picture_content)check_random_in(0, PICTURE_CONTENTS - 1);
}

typedef struct canvas {
    picture_content content;
    unsigned most;
    int64_t width, height; /* in samples */
    int64_t special;       /* one of them */
} canvas;

static unsigned draw(const canvas *c, int64_t x, int64_t y)
{
    const int64_t i = y * c->width + x;

    switch (c->content) {
    case PICTURE_TWO_VALUES:
        return check_random() & 1 ? c->most : 0;
    case PICTURE_MOST_BUT_ONE:
        return i == c->special ? c->most - 1 : c->most;
    case PICTURE_CHECKERBOARD:
        return (x + y) % 2 ? c->most : 0;
    case PICTURE_GRADIENT:
        return (unsigned)((x + y) * c->most / (c->width + c->height));
    case PICTURE_BROKEN_CHECKERBOARD:
        return (x + y + (i > c->special)) % 2 ? c->most : 0;
    case PICTURE_HALVES:
        return 2 * x < c->width    ? c->most
               : 2 * y < c->height ? 0
                                   : (unsigned)(check_random() % (c->most + 1));
    case PICTURE_STRIPES:
        return x / 3 % 2 ? c->most : i == c->special;
    case PICTURE_ZEROS:
        return 0;
    case PICTURE_ZEROS_BUT_ONE:
        return i == c->special;
    case PICTURE_MOST:
        return c->most;
    case PICTURE_NEAR_FLAT:
        return c->most - 2 + (check_random() % 16 == 0);
    default:
        return (unsigned)(check_random() % (c->most + 1));
    }
}

static canvas canvas_of(picture_content content, unsigned most, int64_t width, int64_t height)
{
    return (canvas){content, most, width, height, check_random_in(0, width * height - 1)};
}

uint8_t *picture_bytes(picture_content content, int64_t width, int64_t height)
{
    const canvas c = canvas_of(content, 255, width, height);
    uint8_t *samples = malloc((size_t)(width * height));

    CHECK(samples);
    for (int64_t y = 0; y < height; y++)
        for (int64_t x = 0; x < width; x++)
            samples[y * width + x] = (uint8_t)draw(&c, x, y);
    return samples;
}

void picture_noise(void *samples, size_t size)
{
    uint8_t *bytes = samples;
    for (size_t i = 0; i < size; i++)
        bytes[i] = (uint8_t)check_random();
}

void *picture_make(tm_image *image, int64_t width, int64_t height, tm_sample_type type,
                   int channels, picture_content content)
{
    const int64_t size = type == TM_SAMPLE_U16 ? 2 : 1, row = width * channels;
    const int64_t apart = row + check_random_in(0, 9) * (int64_t)(check_random() % 2);
    const canvas c = canvas_of(content, size == 2 ? 65535 : 255, row, height);
    uint8_t *memory = malloc((size_t)(apart * size * height));

    CHECK(memory);
    *image = (tm_image){.samples = memory, .width = width, .height = height,
                        .stride = apart * size, .type = type, .channels = channels};
    if (channels == 1 && check_random() % 2)
        image->channels = 0;
    if (check_random() % 8 == 0) {
        image->samples = memory + (height - 1) * apart * size;
        image->stride = -image->stride;
    }
    for (int64_t y = 0; y < height; y++) {
        uint8_t *to = (uint8_t *)image->samples + y * image->stride;
        for (int64_t x = 0; x < apart; x++) {
            const unsigned sample = x < row ? draw(&c, x, y) : 0xa5;
            if (size == 2)
                ((uint16_t *)(void *)to)[x] = (uint16_t)sample;
            else
                to[x] = (uint8_t)sample;
        }
    }
    return memory;
}

void picture_cut(const tm_image *tmpl, const tm_image *frame)
{
    const int64_t channels = tmpl->channels ? tmpl->channels : 1;
    const int64_t pixel = channels * (tmpl->type == TM_SAMPLE_U16 ? 2 : 1);
    const int64_t x = check_random_in(0, frame->width - tmpl->width);
    const int64_t y = check_random_in(0, frame->height - tmpl->height);

    for (int64_t row = 0; row < tmpl->height; row++)
        memcpy((uint8_t *)tmpl->samples + row * tmpl->stride,
               frame->samples + (y + row) * frame->stride + x * pixel,
               (size_t)(tmpl->width * pixel));
}

const char *const picture_mask_names[PICTURE_MASKS] = {
    "no", "all", "random", "one pixel", "ring", "a hole", "empty rows", "empty columns", "few holes", "ellipse"};

static bool counts(int way, int64_t x, int64_t y, int64_t w, int64_t h, int64_t special)
{
    switch (way) {
    case 1:
        return true;
    case 3:
        return y * w + x == special;
    case 4:
        return x == 0 || y == 0 || x == w - 1 || y == h - 1;
    case 5:
        return !(3 * x >= w && 3 * x < 2 * w && 3 * y >= h && 3 * y < 2 * h);
    case 6:
        return y % 3 == 1 || h == 1;
    case 7:
        return x % 3 == 1 || w == 1;
    case PICTURE_FEW_HOLES:
        return check_random() % 64 != 0;
    case 9: {
        const int64_t dx = 2 * x + 1 - w, dy = 2 * y + 1 - h;
        return dx * dx * h * h + dy * dy * w * w <= w * w * h * h;
    }
    default:
        return check_random() % 2;
    }
}

/* One that masks nothing out. */
static uint8_t *whole_mask(tm_image *image)
{
    const size_t count = (size_t)(image->width * image->height);
    uint8_t *mask = malloc(count);

    CHECK(mask);
    memset(mask, 1, count);
    image->mask = mask;
    image->mask_stride = (ptrdiff_t)image->width;
    return mask;
}

uint8_t *picture_mask(tm_image *image, int way)
{
    if (way == 0)
        return NULL;
    const int64_t w = image->width, h = image->height;
    const int64_t special = check_random_in(0, w * h - 1);
    uint8_t *mask = whole_mask(image);
    for (int64_t i = 0; i < w * h; i++)
        mask[i] = counts(way, i % w, i / w, w, h, special) ? (uint8_t)check_random_in(1, 255) : 0;
    return mask;
}

uint8_t *picture_mask_out(tm_image *image, unsigned one_of)
{
    uint8_t *mask = whole_mask(image);
    for (int64_t i = 0; i < image->width * image->height; i++)
        mask[i] = check_random() % one_of != 0;
    return mask;
}

uint8_t *picture_mask_frame(tm_image *image)
{
    const int64_t count = image->width * image->height;
    const int64_t out = check_random() % 8 ? check_random_in(0, 3) : count;
    uint8_t *mask = whole_mask(image);
    for (int64_t i = 0; i < out; i++)
        mask[check_random_in(0, count - 1)] = 0;
    return mask;
}
