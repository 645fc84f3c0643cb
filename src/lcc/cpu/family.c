/* SPDX-License-Identifier: MIT */
#include "lcc/cpu/family.h"

#include <math.h>
#include <omp.h>

#include "integers.h"
#include "lcc/cpu/family_tile.h"
#include "lcc/threads.h"

/* Lists the members that pass, each of which must reach what is its own. */
static int list_own(const tm_family_tile *n, const tm_family *members, float *coordinates)
{
    const tm_family *f = n->f;
    coordinates[f->basis + 1] = 1;
    return n->kernels->list_members(members, coordinates, -f->error - TM_FAMILY_ROUNDING, 0, f->count, n->members, n->bounds);
}

/* The end of the members that a point of the chain stands for. */
static int end_of(const tm_family *chain, int point)
{
    return point + 1 < chain->count ? chain->points[point + 1] : chain->points[point] + 1;
}

/* Lists the members that pass by those of a chain, of which the bounds come first. */
static int list_members(const tm_family_tile *n, const float *coordinates, float least)
{
    const tm_family *f = n->f, *chain = f->chain;
    tm_list_members_fn *const list = n->kernels->list_members;
    int count = 0, next;

    if (!chain)
        return list(f, coordinates, least, 0, f->count, n->members, n->bounds);
    const int points = list(chain, coordinates, least, 0, chain->count, n->points, n->bounds);
    for (int i = 0; i < points; i = next) {
        const int first = n->points[i] ? chain->points[n->points[i] - 1] + 1 : 0;
        int end = end_of(chain, n->points[i]);
        for (next = i + 1; next < points && chain->points[n->points[next] - 1] < end + TM_FAMILY_UNIT; next++)
            end = end_of(chain, n->points[next]);
        count += list(f, coordinates, least, first, end, n->members + count, n->bounds + count);
    }
    return count;
}

/* Row y of the tile's windows, whose products are in this row. */
static void visit_row(tm_family_tile *n, tm_family_search *search, const tm_tile *tile, int y, int row, int thread,
                      int64_t *passed, int64_t *windows)
{
    const tm_family *f = n->f;
    float coordinates[TM_FAMILY_BASIS + 2]; /* with the rest and the length */
    const tm_family *own = search->members ? &search->members[thread] : NULL;
    float least = search->least(search->context) - f->error - TM_FAMILY_ROUNDING;

    for (int x = 0; x < tile->width; x++) {
        const int at = tm_phase_index(x);
        if (n->most[at] < least)
            continue;
        least = search->least(search->context) - f->error - TM_FAMILY_ROUNDING;
        for (int k = 0; k <= f->basis + 1; k++)
            coordinates[k] = n->coordinates[k * n->padded + at];
        const int count = own ? list_own(n, own, coordinates) : list_members(n, coordinates, least);
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
                                          .count = count,
                                          .products = n->products + row * n->padded + at,
                                          .product_step = (ptrdiff_t)TM_FAMILY_TILE_ROWS * n->padded});
    }
}

/* Everything that threads share. */
typedef struct family_run {
    tm_cpu *cpu;
    tm_family_search *search;
    tm_packed_taps packed[TM_FAMILY_BASIS];
    tm_folded folded; /* instead, where half turns are made use of */
    int64_t tile_width, tile_height, across, down;
    size_t needed;
} family_run;

/* Products of staged rows from top on with all of the basis. */
static void correlate_rows(const family_run *r, const tm_family_tile *n, int32_t *products,
                           const uint8_t *staged, const uint32_t *planes, int top, int rows)
{
    const ptrdiff_t step = (ptrdiff_t)TM_FAMILY_TILE_ROWS * n->padded;

    for (int k = 0; k < n->f->basis; k++)
        n->kernels->correlate(products + k * step, n->padded, &r->packed[k], staged + top * n->stride,
                              planes + tm_expanded_row(&r->packed[0], n->stride, top), n->stride, rows, n->padded / TM_BLOCK);
}

/* The products of rows of windows from top on. */
static void make_products(const family_run *r, const tm_family_tile *n, int top, int rows)
{
    const ptrdiff_t step = (ptrdiff_t)TM_FAMILY_TILE_ROWS * n->padded;
    const uint32_t unit = (uint32_t)r->search->unit;

    if (n->folds) {
        for (int y = 0; y < rows; y++)
            n->kernels->correlate_folded(n->products + y * n->padded, step, &r->folded, n->staged + (top + y) * n->stride,
                                         n->stride, n->padded / TM_BLOCK, n->room);
        return;
    }
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
    tm_family_tile n;

    tm_family_tile_carve(&n, memory, kernels, search, r->tile_width, r->tile_height);
    tm_family_tile_stage(&n, search, tile, &r->packed[0]);
    for (int top = 0; top < tile->height; top += TM_FAMILY_TILE_ROWS) {
        const int rows = (int)smaller(TM_FAMILY_TILE_ROWS, tile->height - top);
        make_products(r, &n, top, rows);
        for (int y = 0; y < rows; y++) {
            tm_family_tile_sum(&n, top + y, (int)tile->width);
            const tm_family_row windows_of = {.products = n.products + y * n.padded,
                                              .step = (ptrdiff_t)TM_FAMILY_TILE_ROWS * n.padded,
                                              .inverse = n.inverse,
                                              .coordinates = n.coordinates,
                                              .step_out = n.padded,
                                              .most = n.most,
                                              .count = n.padded};
            kernels->family_row(n.f, &windows_of);
            if (!search->members)
                kernels->limit_row(n.f->chain ? n.f->chain : n.f, &windows_of,
                                   search->least(search->context) - n.f->error - TM_FAMILY_ROUNDING);
            visit_row(&n, search, tile, top + y, y, thread, &passed, &windows);
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
    if (tm_family_tile_folds(&cpu->kernels, r->search)) {
        if (!tm_memory_fit(&cpu->taps, tm_folded_size(f)))
            return false;
        tm_folded_pack(&r->folded, f, cpu->taps.data);
        return true;
    }
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
    tm_family_tile n;
    bool good = true;

    r.tile_width = smaller(TM_FAMILY_TILE_WIDTH, round_up(search->width, TM_BLOCK));
    r.across = ceil_div(search->width, r.tile_width);
    const int64_t share = round_up(ceil_div(r.across * search->height, cpu->threads), TM_FAMILY_TILE_ROWS);
    r.tile_height = smaller(smaller(TM_FAMILY_TILE_HEIGHT, share), search->height);
    r.down = ceil_div(search->height, r.tile_height);
    r.needed = tm_family_tile_carve(&n, NULL, &cpu->kernels, search, r.tile_width, r.tile_height);
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
            if (search->advance)
                search->advance(search->context, (double)(tile.width * tile.height) / (double)(search->width * search->height));
        }
    }
    return good ? TM_OK : TM_ERR_MEMORY;
}
