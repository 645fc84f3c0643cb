/* SPDX-License-Identifier: MIT */
#include "lcc/reduce.h"

#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/lcc.h"
#include "lcc/threads.h"

enum { TAPS = 4, WHOLE = 64, MOST = 48 };
static const int weights[TAPS] = {1, 3, 3, 1};

/* A picture on its way. */
typedef struct reduction {
    const tm_image *image;
    const tm_image *half;
    uint8_t *samples, *mask;
    int64_t first; /* the column and row of the picture where those of pixel 0 begin */
    bool whole;    /* a pixel counts where most of what it is made of does */
    uint16_t *columns; /* room for each thread */
} reduction;

static inline void store(void *to, int64_t index, tm_sample_type type, int64_t sample)
{
    if (type == TM_SAMPLE_U16)
        ((uint16_t *)to)[index] = (uint16_t)sample;
    else
        ((uint8_t *)to)[index] = (uint8_t)sample;
}

/* One pixel of any kind of picture, of those that are there and count. */
static void reduce_pixel(const reduction *r, int64_t x, int64_t y)
{
    const tm_image *image = r->image;
    const int channels = tm_image_channels(image);
    const int64_t at = y * r->half->width + x;
    int64_t sums[TM_MAX_CHANNELS] = {0}, weight = 0;

    for (int i = 0; i < TAPS * TAPS; i++) {
        const int64_t u = 2 * x + r->first + i % TAPS, v = 2 * y + r->first + i / TAPS;
        const int64_t w = weights[i % TAPS] * weights[i / TAPS];
        if (u < 0 || v < 0 || u >= image->width || v >= image->height ||
            (image->mask && !image->mask[v * image->mask_stride + u]))
            continue;
        weight += w;
        for (int c = 0; c < channels; c++)
            sums[c] += w * tm_sample_at(image->samples + v * image->stride, u * channels + c, image->type);
    }
    const bool counts = weight >= (r->whole ? MOST : 1);
    if (r->mask)
        r->mask[at] = counts;
    for (int c = 0; c < channels; c++)
        store(r->samples, at * channels + c, image->type, counts ? (2 * sums[c] + weight) / (2 * weight) : 0);
}

/* The columns of a row of an 8-bit gray picture without mask, all of whose rows are there, summed. */
static void sum_columns(const reduction *r, int64_t y, uint16_t *columns)
{
    const tm_image *image = r->image;
    const uint8_t *a = image->samples + (2 * y + r->first) * image->stride;
    const uint8_t *b = a + image->stride, *c = b + image->stride, *d = c + image->stride;

    for (int64_t u = 0; u < image->width; u++)
        columns[u] = (uint16_t)(a[u] + 3 * (b[u] + c[u]) + d[u]);
}

static void reduce_row(const reduction *r, int64_t y)
{
    const tm_image *image = r->image;
    const int64_t width = r->half->width, top = 2 * y + r->first;
    int64_t from = 0, to = 0; /* pixels that are made of summed columns */

    if (tm_image_is_plain(image) && top >= 0 && top + TAPS <= image->height) {
        uint16_t *columns = r->columns + omp_get_thread_num() * image->width;
        from = r->first < 0;
        to = larger(from, (image->width - TAPS - r->first) / 2 + 1);
        to = smaller(to, width);
        sum_columns(r, y, columns);
        for (int64_t x = from; x < to; x++) {
            const uint16_t *s = columns + 2 * x + r->first;
            r->samples[y * width + x] = (uint8_t)((s[0] + 3 * (s[1] + s[2]) + s[3] + WHOLE / 2) / WHOLE);
        }
    }
    for (int64_t x = 0; x < from; x++)
        reduce_pixel(r, x, y);
    for (int64_t x = to; x < width; x++)
        reduce_pixel(r, x, y);
}

static tm_status reduce(tm_image *half, const tm_image *image, bool whole, int threads)
{
    tm_image made = *image;
    reduction r = {.image = image, .half = &made, .first = whole ? 0 : -1, .whole = whole};

    *half = (tm_image){0};
    made.width = image->width / 2 - whole;
    made.height = image->height / 2 - whole;
    made.stride = (ptrdiff_t)tm_image_row_bytes(&made);
    made.mask_stride = (ptrdiff_t)made.width;
    if (made.width < 1 || made.height < 1)
        return TM_OK;
    const int team = threads > 1 ? tm_team_size(threads) : 1;
    r.columns = malloc((size_t)team * (size_t)image->width * sizeof *r.columns);
    made.samples = r.samples = malloc((size_t)made.stride * (size_t)made.height);
    made.mask = r.mask = image->mask ? malloc((size_t)(made.width * made.height)) : NULL;
    if (r.columns && made.samples && (made.mask || !image->mask)) {
#pragma omp parallel for num_threads(team) if (team > 1)
        for (int64_t y = 0; y < made.height; y++)
            reduce_row(&r, y);
        *half = made;
    } else {
        tm_reduced_free(&made);
    }
    free(r.columns);
    return half->samples ? TM_OK : TM_ERR_MEMORY;
}

tm_status tm_reduce_frame(tm_image *half, const tm_image *frame, int threads)
{
    return reduce(half, frame, false, threads);
}

/* A copy of the pixels of a picture's middle. */
static tm_status copy_middle(tm_image *copy, const tm_image *image, int64_t width, int64_t height)
{
    const int64_t left = (image->width - width) / 2, top = (image->height - height) / 2;
    const int64_t pixel = tm_image_channels(image) * tm_sample_size(image->type);
    tm_image made = *image;
    uint8_t *samples = malloc((size_t)(width * height * pixel));
    uint8_t *mask = image->mask ? malloc((size_t)(width * height)) : NULL;

    made.width = width;
    made.height = height;
    made.stride = (ptrdiff_t)(width * pixel);
    made.mask_stride = (ptrdiff_t)width;
    made.samples = samples;
    made.mask = mask;
    *copy = (tm_image){0};
    if (!samples || (image->mask && !mask)) {
        tm_reduced_free(&made);
        return TM_ERR_MEMORY;
    }
    for (int64_t y = 0; y < height; y++) {
        memcpy(samples + y * made.stride, image->samples + (top + y) * image->stride + left * pixel,
               (size_t)made.stride);
        if (mask)
            memcpy(mask + y * width, image->mask + (top + y) * image->mask_stride + left, (size_t)width);
    }
    *copy = made;
    return TM_OK;
}

/* The greatest size from which halving, where pairs of pixels never remain, leaves a whole number. */
static int64_t even_size(int64_t size, int times)
{
    const int64_t cell = INT64_C(1) << times, border = 2 * (cell - 1);
    return size < border + cell ? 0 : (size - border) / cell * cell + border;
}

tm_status tm_reduce_template(tm_image *reduced, const tm_image *image, int times)
{
    const int64_t width = even_size(image->width, times), height = even_size(image->height, times);
    tm_image at = {0};

    *reduced = at;
    if (!width || !height)
        return TM_OK;
    tm_status status = copy_middle(&at, image, width, height);
    for (int i = 0; i < times && status == TM_OK; i++) {
        tm_image half;
        status = reduce(&half, &at, true, 1);
        tm_reduced_free(&at);
        at = half;
    }
    *reduced = at;
    return status;
}

void tm_reduced_free(tm_image *reduced)
{
    free((void *)(uintptr_t)reduced->samples);
    free((void *)(uintptr_t)reduced->mask);
    *reduced = (tm_image){0};
}
