/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"
#include "cuda/poses_pack.cuh"
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

static void pack_numbers(const tm_large_level *l, const tm_family *f, float *solve, float *coordinates)
{
    const int basis = l->basis * TM_POSE_COLUMNS;

    for (int k = 0; k < f->basis; k++)
        memcpy(solve + k * basis, f->solve[k], (size_t)f->basis * sizeof *solve);
    for (int a = 0; a < f->count; a++) {
        float *to = coordinates + (int64_t)a * (basis + TM_LARGE_PADDED);
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
    l->basis = (f->basis + TM_POSE_COLUMNS - 1) / TM_POSE_COLUMNS;
    l->steps = (int)ceil_div(f->width, TM_POSE_STEP);
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
    const int basis = l->basis * TM_POSE_COLUMNS;
    const size_t runs = (size_t)round_up(f->run_count * (int64_t)sizeof *f->runs, 16),
                 taps = (size_t)l->height * (size_t)l->steps * (size_t)l->basis * 32 * sizeof *l->fragments,
                 solve = (size_t)(basis * basis) * 4, coordinates = (size_t)f->count * (size_t)(basis + TM_LARGE_PADDED) * 4,
                 ends = 2 * (size_t)c->columns * 4, all = runs + taps + solve + coordinates + ends;
    if (d->room < all) {
        free(d->packed);
        d->packed = (uint8_t *)malloc(all);
        d->room = d->packed ? all : 0;
    }
    if (!d->packed)
        return cudaErrorMemoryAllocation;
    memset(d->packed, 0, all);
    memcpy(d->packed, f->runs, (size_t)f->run_count * sizeof *f->runs);
    tm_poses_pack_fragments((uint2 *)(d->packed + runs), f, l->basis, l->steps);
    pack_numbers(l, f, (float *)(d->packed + runs + taps), (float *)(d->packed + runs + taps + solve));
    memcpy(d->packed + all - ends, c->firsts, ends / 2);
    memcpy(d->packed + all - ends / 2, c->ends, ends / 2);
    TRY(tm_buffer_fit(&d->taken, all));
    const uint8_t *there = (const uint8_t *)d->taken.data;
    l->runs = (const tm_family_run *)there;
    l->run_count = f->run_count;
    l->fragments = (const uint2 *)(there + runs);
    l->solve = (const float *)(there + runs + taps);
    l->coordinates = (const float *)(there + runs + taps + solve);
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
