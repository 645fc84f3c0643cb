/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/family.h"

#include <math.h>
#include <omp.h>
#include <string.h>

#include "integers.h"
#include "memory.h"
#include "lcc/cpu/tile.h"
#include "lcc/threads.h"

enum {
    TILE_WIDTH = 256,
    TILE_HEIGHT = 96,
    ROWS_AT_ONCE = 12, /* a multiple of every kernel's rows */
};

/* What roundings in binary32 may take off a bound, besides what they make of p. */
#define ROUNDING 1e-5f

typedef struct family_tile {
    const tm_cpu_kernels *kernels;
    const tm_family *f;
    ptrdiff_t stride;
    int staged_rows, padded; /* padded: windows of a row */
    uint8_t *staged, *rests;
    uint16_t *wide; /* both together, where kernels take that; else NULL */
    uint32_t *planes, *rest_planes;
    int32_t *products, *rest_products; /* of basis templates, rows and windows */
    uint32_t *row_sums, *sums;         /* of staged rows, before each column; of windows */
    uint64_t *row_squares, *squares;   /* likewise, of squares: below 2^53 */
    float *inverse, *coordinates, *most;
    int32_t *members;
    float *bounds;
} family_tile;

static size_t carve_tile(family_tile *n, char *memory, const tm_cpu_kernels *kernels, const tm_family_search *search,
                         int64_t width, int64_t height)
{
    const tm_family *f = search->family;
    const int64_t with_rests = search->rests != NULL;
    const int64_t wide = with_rests && kernels->expand_wide && 256 * search->unit <= TM_WIDE_SAMPLES;
    const int64_t apart = with_rests && !wide;
    tm_carver carver = {memory, 0};
    const int64_t padded = round_up(width, TM_BLOCK);
    const int64_t columns = round_up(padded + f->width, TM_BLOCK);

    *n = (family_tile){.kernels = kernels, .f = f, .padded = (int)padded};
    n->stride = (ptrdiff_t)(columns / TM_BLOCK % 2 ? columns : columns + TM_BLOCK);
    n->staged_rows = (int)(height + f->height - 1);
    n->staged = carve(&carver, (n->staged_rows + TM_EXTRA_ROWS) * n->stride);
    n->rests = carve(&carver, with_rests * (n->staged_rows + TM_EXTRA_ROWS) * n->stride);
    n->planes = carve(&carver, tm_planes_size(n->staged_rows + TM_EXTRA_ROWS, n->stride));
    n->wide = wide ? carve(&carver, 2 * (n->staged_rows + TM_EXTRA_ROWS) * n->stride) : NULL;
    n->rest_planes = carve(&carver, apart * tm_planes_size(n->staged_rows + TM_EXTRA_ROWS, n->stride));
    n->products = carve(&carver, f->basis * ROWS_AT_ONCE * padded * 4);
    n->rest_products = carve(&carver, apart * f->basis * ROWS_AT_ONCE * padded * 4);
    n->row_sums = carve(&carver, n->staged_rows * n->stride * 4);
    n->row_squares = carve(&carver, n->staged_rows * n->stride * 8);
    n->sums = carve(&carver, padded * 4);
    n->squares = carve(&carver, padded * 8);
    n->inverse = carve(&carver, padded * 4);
    n->coordinates = carve(&carver, (f->basis + 1) * padded * 4);
    n->most = carve(&carver, padded * 4);
    n->members = carve(&carver, f->padded * 4);
    n->bounds = carve(&carver, f->padded * 4);
    return carver.used;
}

/* The sums of a staged row's samples, and of their squares, before each of its columns. */
static void sum_row(const family_tile *n, int y, bool with_rests, int unit)
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

/* The sums over the core of a row of windows, whose samples begin in row y. */
static void sum_cores(const family_tile *n, int y, int width)
{
    const tm_family *f = n->f;

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
static void find_lengths(const family_tile *n, int width)
{
    const double pixels = (double)n->f->pixels;
    float inverse[TILE_WIDTH];

    for (int x = 0; x < width; x++) {
        const double sum = n->sums[x], square = (double)(int64_t)n->squares[x];
        const double energy = (pixels * square - sum * sum) / pixels; /* of whole numbers below 2^53 */
        inverse[x] = energy > 1e-3 ? 1 / sqrtf((float)energy) : 0;
    }
    memset(n->inverse, 0, (size_t)n->padded * sizeof *n->inverse);
    for (int x = 0; x < width; x++)
        n->inverse[tm_phase_index(x)] = inverse[x];
}

/* At least |p|. */
static float length_of(const float *p, int count)
{
    float square = 0;
    for (int k = 0; k < count; k++)
        square += p[k] * p[k];
    return sqrtf(square) * (1 + ROUNDING);
}

static void visit_row(family_tile *n, tm_family_search *search, const tm_tile *tile, int y,
                      int thread, int64_t *passed, int64_t *windows)
{
    const tm_family *f = n->f;
    float coordinates[TM_FAMILY_BASIS + 2]; /* with the rest and, for groups, the length */
    float least = search->least(search->context) - f->error - ROUNDING;

    for (int x = 0; x < tile->width; x++) {
        const int at = tm_phase_index(x);
        if (n->most[at] < least)
            continue;
        least = search->least(search->context) - f->error - ROUNDING;
        for (int k = 0; k <= f->basis; k++)
            coordinates[k] = n->coordinates[k * n->padded + at];
        if (f->groups) {
            coordinates[f->basis + 1] = length_of(coordinates, f->basis);
            if (!n->kernels->list_members(f->groups, coordinates, least, n->members, n->bounds))
                continue;
        }
        const int count =
            n->kernels->list_members(f, coordinates, least, n->members, n->bounds);
        if (!count)
            continue;
        *passed += count;
        ++*windows;
        search->visit(search->context, thread,
                      &(tm_family_window){.x = search->x + tile->x + x,
                                          .y = search->y + tile->y + y,
                                          .s_f = n->sums[x],
                                          .s_ff = search->rests ? 0 : (int64_t)n->squares[x],
                                          .samples = n->staged + y * n->stride + x,
                                          .stride = n->stride,
                                          .members = n->members,
                                          .bounds = n->bounds,
                                          .count = count});
    }
}

/* Everything that threads share. */
typedef struct family_run {
    tm_cpu *cpu;
    tm_family_search *search;
    tm_packed_taps packed[TM_FAMILY_BASIS];
    int64_t tile_width, tile_height, across, down;
    size_t needed;
} family_run;

/* Stages an image's part below the tile. */
static void stage(const family_run *r, const family_tile *n, const tm_image *image, const tm_tile *tile, uint8_t *staged)
{
    const tm_family_search *search = r->search;

    for (int y = 0; y < n->staged_rows + TM_EXTRA_ROWS; y++)
        stage_row(staged + y * n->stride, image, search->x + tile->x, search->y + tile->y + y, n->stride);
}

/* Stages samples and makes what kernels make of them. */
static void stage_all(const family_run *r, const family_tile *n, const tm_tile *tile)
{
    const tm_family_search *search = r->search;
    const tm_packed_taps *packed = &r->packed[0];

    stage(r, n, search->frame, tile, n->staged);
    if (search->rests)
        stage(r, n, search->rests, tile, n->rests);
    if (n->wide) {
        for (ptrdiff_t i = 0; i < (n->staged_rows + TM_EXTRA_ROWS) * n->stride; i++)
            n->wide[i] = (uint16_t)(search->unit * n->staged[i] + n->rests[i]);
        n->kernels->expand_wide(n->planes, n->wide, n->stride, n->staged_rows);
    } else if (packed->planes) {
        n->kernels->expand(n->planes, n->staged, n->stride, n->staged_rows, packed);
        if (search->rests)
            n->kernels->expand(n->rest_planes, n->rests, n->stride, n->staged_rows, packed);
    }
}

/* Products of staged rows from top on with all of the basis. */
static void correlate_rows(const family_run *r, const family_tile *n, int32_t *products,
                           const uint8_t *staged, const uint32_t *planes, int top, int rows)
{
    const ptrdiff_t step = (ptrdiff_t)ROWS_AT_ONCE * n->padded;

    for (int k = 0; k < n->f->basis; k++)
        n->kernels->correlate(products + k * step, n->padded, &r->packed[k], staged + top * n->stride,
                              planes + tm_expanded_row(&r->packed[0], n->stride, top), n->stride, rows, n->padded / TM_BLOCK);
}

/* The products of rows of windows from top on. */
static void make_products(const family_run *r, const family_tile *n, int top, int rows)
{
    const ptrdiff_t step = (ptrdiff_t)ROWS_AT_ONCE * n->padded;
    const uint32_t unit = (uint32_t)r->search->unit;

    correlate_rows(r, n, n->products, n->staged, n->planes, top, rows);
    if (!r->search->rests || n->wide)
        return;
    correlate_rows(r, n, n->rest_products, n->rests, n->rest_planes, top, rows);
    for (int k = 0; k < n->f->basis; k++) {
        for (ptrdiff_t i = k * step; i < k * step + (ptrdiff_t)rows * n->padded; i++)
            n->products[i] = (int32_t)(unit * (uint32_t)n->products[i] + (uint32_t)n->rest_products[i]);
    }
}

static void search_tile(const family_run *r, char *memory, const tm_tile *tile, int thread)
{
    tm_family_search *search = r->search;
    const tm_cpu_kernels *kernels = &r->cpu->kernels;
    int64_t passed = 0, windows = 0;
    family_tile n;

    carve_tile(&n, memory, kernels, search, r->tile_width, r->tile_height);
    n.staged_rows = (int)tile->height + n.f->height - 1;
    stage_all(r, &n, tile);
    for (int y = 0; y < n.staged_rows; y++)
        sum_row(&n, y, search->rests != NULL, search->unit);
    for (int top = 0; top < tile->height; top += ROWS_AT_ONCE) {
        const int rows = (int)smaller(ROWS_AT_ONCE, tile->height - top);
        make_products(r, &n, top, rows);
        for (int y = 0; y < rows; y++) {
            sum_cores(&n, top + y, (int)tile->width);
            find_lengths(&n, (int)tile->width);
            kernels->family_row(n.f, &(tm_family_row){.products = n.products + y * n.padded,
                                                    .step = (ptrdiff_t)ROWS_AT_ONCE * n.padded,
                                                    .inverse = n.inverse,
                                                    .coordinates = n.coordinates,
                                                    .step_out = n.padded,
                                                    .most = n.most,
                                                    .count = n.padded});
            visit_row(&n, search, tile, top + y, thread, &passed, &windows);
        }
    }
#pragma omp atomic
    search->passed += passed;
#pragma omp atomic
    search->windows += windows;
}

/* Packs the basis behind the last thread's needs. */
static bool pack(family_run *r)
{
    tm_cpu *cpu = r->cpu;
    const tm_family *f = r->search->family;
    const size_t size = (size_t)round_up((int64_t)tm_packed_taps_size(f->width, f->height), 64);

    if (!tm_memory_fit(&cpu->taps, size * (size_t)f->basis))
        return false;
    for (int k = 0; k < f->basis; k++) {
        r->packed[k] = (tm_packed_taps){.w = f->width, .h = f->height};
        r->packed[k].taps = (int32_t *)(void *)((char *)cpu->taps.data + size * (size_t)k);
        cpu->kernels.pack(&r->packed[k], f->samples + (int64_t)k * f->width * f->height, f->width);
    }
    return true;
}

tm_status tm_cpu_search_family(tm_cpu *cpu, tm_family_search *search)
{
    family_run r = {.cpu = cpu, .search = search};
    family_tile n;
    bool good = true;

    r.tile_width = smaller(TILE_WIDTH, round_up(search->width, TM_BLOCK));
    r.tile_height = smaller(TILE_HEIGHT, search->height);
    r.across = ceil_div(search->width, r.tile_width);
    r.down = ceil_div(search->height, r.tile_height);
    r.needed = carve_tile(&n, NULL, &cpu->kernels, search, r.tile_width, r.tile_height);
    if (!pack(&r))
        return TM_ERR_MEMORY;
    const int team = tm_team_size((int)smaller(cpu->threads, r.across * r.down));
#pragma omp parallel num_threads(team)
    {
        const int thread = omp_get_thread_num();
        tm_cpu_scratch *s = &cpu->scratch[thread];
        const bool mine = tm_memory_fit(&s->memory, r.needed);
        if (!mine) {
#pragma omp atomic write
            good = false;
        }
#pragma omp for schedule(dynamic)
        for (int64_t i = 0; i < r.across * r.down; i++) {
            const int64_t x = i % r.across * r.tile_width, y = i / r.across * r.tile_height;
            const tm_tile tile = {.x = x,
                                  .y = y,
                                  .width = smaller(r.tile_width, search->width - x),
                                  .height = smaller(r.tile_height, search->height - y)};
            if (mine)
                search_tile(&r, s->memory.data, &tile, thread);
        }
    }
    return good ? TM_OK : TM_ERR_MEMORY;
}
