/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"
#include "integers.h"

/* Columns behind the frame that kernels may read. */
enum { SLACK = 16 };

/* Copies from the host's memory, when the stream comes to that. */
static cudaError_t bring(tm_cuda *cuda, void *to, const void *from, size_t size)
{
    cuda->bytes_in += (int64_t)size;
    return TM_CALL(cudaMemcpyAsync(to, from, size, cudaMemcpyHostToDevice, cuda->stream));
}

static cudaError_t bring_plane(tm_cuda *cuda, uint8_t *to, const uint8_t *from, ptrdiff_t stride, size_t width, size_t height)
{
    cuda->bytes_in += (int64_t)(width * height);
    return TM_CALL(cudaMemcpy2DAsync(to, width, from, (size_t)stride, width, height, cudaMemcpyHostToDevice, cuda->stream));
}

/* Columns x rows of the class's mask: whole words. */
static size_t words_of(const tm_large_level *l)
{
    return (size_t)l->row_words * (size_t)l->height;
}

/* Writes taps of four columns of a row, from a column of the family's box on, of a basis template. */
static uint32_t tap_of(const tm_family *f, int k, int row, int column)
{
    uint32_t word = 0x80808080;
    const int64_t at = ((int64_t)k * f->height + row) * f->width + column;

    if (k < f->basis)
        memcpy(&word, f->samples + at, (size_t)smaller(4, f->width - column));
    return word;
}

static void pack_taps(const tm_large_level *l, const tm_family *f, uint8_t *mask, uint32_t *taps)
{
    const int basis = l->basis * TM_LARGE_COLUMNS;

    for (int i = 0; i < f->run_count; i++)
        memset(mask + f->runs[i].y * l->row_words * 4 + f->runs[i].x, 255, (size_t)(f->runs[i].end - f->runs[i].x));
    for (int i = 0; i < l->row_words * l->height; i++) {
        for (int k = 0; k < basis; k++)
            taps[i * basis + k] = tap_of(f, k, i / l->row_words, i % l->row_words * 4);
    }
}

static void pack_numbers(const tm_large_level *l, const tm_family *f, float *solve, float *coordinates)
{
    const int basis = l->basis * TM_LARGE_COLUMNS;

    for (int k = 0; k < f->basis; k++)
        memcpy(solve + k * basis, f->solve[k], (size_t)f->basis * sizeof *solve);
    for (int a = 0; a < f->count; a++) {
        float *to = coordinates + (int64_t)a * (basis + 1);
        for (int k = 0; k < f->basis; k++)
            to[k] = f->coordinates[(int64_t)k * f->padded + a];
        to[basis] = f->coordinates[(int64_t)f->basis * f->padded + a];
    }
}

cudaError_t tm_large_bring_class(tm_cuda *cuda, const tm_large_class *c)
{
    tm_device_large *d = &cuda->large;
    tm_large_level *l = &d->level;
    const tm_family *f = &c->family;

    *l = (tm_large_level){};
    l->basis = (f->basis + TM_LARGE_COLUMNS - 1) / TM_LARGE_COLUMNS;
    l->row_words = (f->width + 3) / 4;
    l->height = f->height;
    l->side = c->side;
    l->count = f->count;
    l->pixels = (unsigned)f->pixels;
    l->columns = c->columns;
    l->reach = c->reach;
    l->margin_x = (c->columns - f->width) / 2;
    l->margin_y = (c->columns - f->height) / 2;
    l->most_share = c->most_share;
    l->most_rest = fmax(0, c->most_rest);
    l->spread = c->spread;
    l->error = f->error;
    const int basis = l->basis * TM_LARGE_COLUMNS;
    l->rows_at_once = (int)smaller(TM_LARGE_WORDS / (l->row_words * basis), f->height);
    const size_t mask = (size_t)round_up((int64_t)words_of(l), 4) * 4, taps = words_of(l) * (size_t)basis * 4,
                 solve = (size_t)(basis * basis) * 4, coordinates = (size_t)f->count * (size_t)(basis + 1) * 4,
                 ends = 2 * (size_t)c->columns * 4, all = mask + taps + solve + coordinates + ends;
    if (!l->rows_at_once)
        return cudaErrorMemoryAllocation;
    if (d->room < all) {
        free(d->packed);
        d->packed = (uint8_t *)malloc(all);
        d->room = d->packed ? all : 0;
    }
    if (!d->packed)
        return cudaErrorMemoryAllocation;
    memset(d->packed, 0, all);
    pack_taps(l, f, d->packed, (uint32_t *)(d->packed + mask));
    pack_numbers(l, f, (float *)(d->packed + mask + taps), (float *)(d->packed + mask + taps + solve));
    memcpy(d->packed + all - ends, c->firsts, ends / 2);
    memcpy(d->packed + all - ends / 2, c->ends, ends / 2);
    TRY(tm_buffer_fit(&d->taken, all));
    const uint8_t *there = (const uint8_t *)d->taken.data;
    l->mask = (const uint32_t *)there;
    l->taps = (const uint32_t *)(there + mask);
    l->solve = (const float *)(there + mask + taps);
    l->coordinates = (const float *)(there + mask + taps + solve);
    l->ends = (const int *)(there + all - ends);
    return bring(cuda, d->taken.data, d->packed, all);
}

cudaError_t tm_large_bring_squares(tm_cuda *cuda, const tm_large_look *look)
{
    tm_device_large *d = &cuda->large;
    const size_t size = (size_t)(look->squares_across + 1) * (size_t)look->squares_down * sizeof *look->squares;

    TRY(tm_buffer_fit(&d->squares, size));
    d->level.squares = (const uint64_t *)d->squares.data;
    d->level.squares_across = (int)look->squares_across;
    d->level.squares_down = (int)look->squares_down;
    return bring(cuda, d->squares.data, look->squares, size);
}

cudaError_t tm_large_bring_frame(tm_cuda *cuda, const tm_large_look *look)
{
    tm_device_large *d = &cuda->large;
    const tm_image *frame = look->frame;
    const int64_t rows = frame->height + 2 * look->pad_y;

    d->pitch = (size_t)round_up(frame->width + 2 * look->pad_x + SLACK, 128);
    d->width = (int)frame->width;
    d->height = (int)frame->height;
    TRY(tm_buffer_fit(&d->plane, d->pitch * (size_t)rows));
    d->corner = (uint8_t *)d->plane.data + look->pad_y * (int64_t)d->pitch + look->pad_x;
    TRY_CUDA(cudaMemsetAsync(d->plane.data, 0, d->pitch * (size_t)rows, cuda->in));
    TRY(tm_upload(cuda, d->corner, d->pitch, frame->samples, frame->stride, (size_t)frame->width, frame->height));
    return tm_await_upload(cuda);
}

cudaError_t tm_large_bring_template(tm_cuda *cuda, const tm_large_look *look)
{
    tm_device_large *d = &cuda->large;
    const tm_image *image = look->image;
    const size_t width = (size_t)image->width, height = (size_t)image->height, size = width * height;

    TRY(tm_buffer_fit(&d->picture, 2 * size));
    uint8_t *samples = (uint8_t *)d->picture.data, *mask = image->mask ? samples + size : NULL;
    d->tmpl = {samples, mask, (int)width, (int)height, look->support->disc ? look->support->distance : INT64_MAX};
    if (mask)
        TRY(bring_plane(cuda, mask, image->mask, image->mask_stride, width, height));
    return bring_plane(cuda, samples, image->samples, image->stride, width, height);
}
