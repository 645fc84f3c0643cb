/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/family_tile.h"

#include <math.h>
#include <string.h>

#include "integers.h"
#include "memory.h"

size_t tm_family_tile_carve(tm_family_tile *n, char *memory, const tm_cpu_kernels *kernels,
                            const tm_family_search *search, int64_t width, int64_t height)
{
    const tm_family *f = search->family;
    const int64_t with_rests = search->rests != NULL;
    const int64_t wide = with_rests && kernels->expand_wide && 256 * search->unit <= TM_WIDE_SAMPLES;
    const int64_t apart = with_rests && !wide;
    tm_carver carver = {memory, 0};
    const int64_t padded = round_up(width, TM_BLOCK);
    const int64_t columns = round_up(padded + f->width, TM_BLOCK);

    *n = (tm_family_tile){.kernels = kernels, .f = f, .padded = (int)padded};
    n->stride = (ptrdiff_t)(columns / TM_BLOCK % 2 ? columns : columns + TM_BLOCK);
    n->staged_rows = (int)(height + f->height - 1);
    n->staged = carve(&carver, (n->staged_rows + TM_EXTRA_ROWS) * n->stride);
    n->rests = carve(&carver, with_rests * (n->staged_rows + TM_EXTRA_ROWS) * n->stride);
    n->folds = tm_family_tile_folds(kernels, search);
    n->room = carve(&carver, n->folds ? (int64_t)(tm_folded_room(tm_folded_count(f)) * sizeof *n->room) : 0);
    n->planes = carve(&carver, n->folds ? 0 : tm_planes_size(n->staged_rows + TM_EXTRA_ROWS, n->stride));
    n->wide = wide ? carve(&carver, 2 * (n->staged_rows + TM_EXTRA_ROWS) * n->stride) : NULL;
    n->rest_planes = carve(&carver, apart * tm_planes_size(n->staged_rows + TM_EXTRA_ROWS, n->stride));
    n->products = carve(&carver, f->basis * TM_FAMILY_TILE_ROWS * padded * 4);
    n->rest_products = carve(&carver, apart * f->basis * TM_FAMILY_TILE_ROWS * padded * 4);
    n->row_sums = carve(&carver, n->staged_rows * n->stride * 4);
    n->row_squares = carve(&carver, n->staged_rows * n->stride * 8);
    n->sums = carve(&carver, padded * 4);
    n->squares = carve(&carver, padded * 8);
    n->inverse = carve(&carver, padded * 4);
    n->coordinates = carve(&carver, (f->basis + 2) * padded * 4);
    n->most = carve(&carver, padded * 4);
    n->members = carve(&carver, f->padded * 4);
    n->points = carve(&carver, f->padded * 4);
    n->bounds = carve(&carver, f->padded * 4);
    return carver.used;
}

/* The sums of a staged row's samples, and of their squares, before each of its columns. */
static void sum_row(const tm_family_tile *n, int y, bool with_rests, int unit)
{
    const uint8_t *row = n->staged + y * n->stride, *rests = n->rests + y * n->stride;
    uint32_t *sums = n->row_sums + y * n->stride, sum = 0;
    uint64_t *squares = n->row_squares + y * n->stride, square = 0;

    for (ptrdiff_t x = 0; x < n->stride; x++) {
        const uint32_t sample = with_rests ? (uint32_t)unit * row[x] + rests[x] : row[x];
        sums[x] = sum;
        squares[x] = square;
        sum += sample;
        square += sample * sample;
    }
}

/* Adds the sums of a row of a box to those of a row of windows, and takes off those of the row that leaves it. */
static void slide_box(const tm_family_tile *n, int leaves, int enters, int width)
{
    const uint32_t *sums = n->row_sums;
    const uint64_t *squares = n->row_squares;
    const ptrdiff_t from = leaves * n->stride, to = enters * n->stride, w = n->f->width;

    for (int x = 0; x < width; x++)
        n->sums[x] += sums[to + w + x] - sums[to + x] - (sums[from + w + x] - sums[from + x]);
    for (int x = 0; x < width; x++)
        n->squares[x] += squares[to + w + x] - squares[to + x] - (squares[from + w + x] - squares[from + x]);
}

/* The sums over the core of a row of windows, whose samples begin in row y. */
static void sum_cores(const tm_family_tile *n, int y, int width)
{
    const tm_family *f = n->f;

    if (y > 0 && f->pixels == (int64_t)f->width * f->height) {
        slide_box(n, y - 1, y - 1 + f->height, width);
        return;
    }
    memset(n->sums, 0, (size_t)width * sizeof *n->sums);
    memset(n->squares, 0, (size_t)width * sizeof *n->squares);
    for (int i = 0; i < f->run_count; i++) {
        const tm_family_run *r = &f->runs[i];
        const ptrdiff_t begin = (y + r->y) * n->stride + r->x, end = begin + r->end - r->x;
        for (int x = 0; x < width; x++)
            n->sums[x] += n->row_sums[end + x] - n->row_sums[begin + x];
        for (int x = 0; x < width; x++)
            n->squares[x] += n->row_squares[end + x] - n->row_squares[begin + x];
    }
}

/* 1 / |f| of each window, in the order of products; 0 where it is flat. */
static void find_lengths(const tm_family_tile *n, int width)
{
    const double pixels = (double)n->f->pixels;
    float inverse[TM_FAMILY_TILE_WIDTH];

    for (int x = 0; x < width; x++) {
        const double sum = n->sums[x], square = (double)(int64_t)n->squares[x];
        const double energy = (pixels * square - sum * sum) / pixels; /* of whole numbers below 2^53 */
        inverse[x] = energy > 1e-3 ? 1 / sqrtf((float)energy) : 0;
    }
    memset(n->inverse, 0, (size_t)n->padded * sizeof *n->inverse);
    for (int x = 0; x < width; x++)
        n->inverse[tm_phase_index(x)] = inverse[x];
}

/* Stages an image's part below the tile. */
static void stage(const tm_family_tile *n, const tm_family_search *search, const tm_image *image, const tm_tile *at,
                  uint8_t *staged)
{
    for (int y = 0; y < n->staged_rows + TM_EXTRA_ROWS; y++)
        stage_row(staged + y * n->stride, image, search->x + at->x, search->y + at->y + y, n->stride);
}

void tm_family_tile_stage(tm_family_tile *n, const tm_family_search *search, const tm_tile *at,
                          const tm_packed_taps *packed)
{
    n->staged_rows = (int)at->height + n->f->height - 1;
    stage(n, search, search->frame, at, n->staged);
    if (search->rests)
        stage(n, search, search->rests, at, n->rests);
    if (n->wide) {
        for (ptrdiff_t i = 0; i < (n->staged_rows + TM_EXTRA_ROWS) * n->stride; i++)
            n->wide[i] = (uint16_t)(search->unit * n->staged[i] + n->rests[i]);
        n->kernels->expand_wide(n->planes, n->wide, n->stride, n->staged_rows);
    } else if (packed->planes) {
        n->kernels->expand(n->planes, n->staged, n->stride, n->staged_rows, packed);
        if (search->rests)
            n->kernels->expand(n->rest_planes, n->rests, n->stride, n->staged_rows, packed);
    }
    for (int y = 0; y < n->staged_rows; y++)
        sum_row(n, y, search->rests != NULL, search->unit);
}

void tm_family_tile_sum(const tm_family_tile *n, int y, int width)
{
    sum_cores(n, y, width);
    find_lengths(n, width);
}
