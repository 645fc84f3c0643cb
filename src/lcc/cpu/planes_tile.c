/* SPDX-License-Identifier: MIT */
/* A tile of a job of planes, made as tile_32.c makes one of a plain job: the planes are staged;
 * then a few rows of all products at a time are made, and scored while they lie in the caches. */
#include "lcc/cpu/tile.h"

enum { ROWS_AT_ONCE = 12 }; /* a multiple of every kernel's rows */

typedef struct planes_tile {
    ptrdiff_t stride; /* of staged and planes, in elements */
    ptrdiff_t plane;  /* from one plane of prefixes to the next */
    int staged_rows, padded;
    uint8_t *staged[TM_TILE_PLANES]; /* a row of zeros lies above */
    uint32_t *planes[TM_TILE_PLANES];
    tm_columns columns[TM_TILE_PLANES];
    int32_t *products[TM_SHARED_MASK][TM_MAX_PRODUCTS]; /* of each job */
    uint8_t *pass; /* a row's blocks */
} planes_tile;

static void carve_columns(tm_columns *c, tm_carver *carver, int64_t columns)
{
    c->blocks = (int)(columns / TM_BLOCK);
    c->sum = carve(carver, columns * 4);
    c->sum_sq = carve(carver, columns * 4);
    c->prefix = carve(carver, TM_SLIDE_ROWS * columns * 4);
    c->prefix_sq = carve(carver, TM_SLIDE_ROWS * columns * 4);
}

/* The mask's products are the first job's, and all others point to them. */
static void carve_products(planes_tile *n, tm_carver *carver, const tm_planes_job *jobs, int count,
                           int64_t padded)
{
    for (int k = 0; k < count; k++) {
        const tm_plane_products *p = &jobs[k].planes.products;
        const tm_template *mask = tm_mask_plane(jobs[k].job->tmpl);
        for (int i = 0; i < p->count; i++)
            n->products[k][i] = k && p->product[i].taps == mask
                                    ? n->products[0][i]
                                    : carve(carver, ROWS_AT_ONCE * padded * 4);
    }
}

static size_t carve_planes_tile(planes_tile *n, char *memory, const tm_planes_job *jobs, int count,
                                int64_t width, int64_t height)
{
    const tm_job *job = jobs->job;
    const tm_tile_planes *p = &jobs->planes;
    tm_carver carver = {memory, 0};
    int64_t padded = round_up(width, TM_BLOCK), w = job->tmpl->width, h = job->tmpl->height;
    int64_t columns = round_up(padded + w, TM_BLOCK);

    *n = (planes_tile){.padded = (int)padded};
    n->stride = (ptrdiff_t)(columns / TM_BLOCK % 2 ? columns : columns + TM_BLOCK);
    n->plane = (ptrdiff_t)(columns / TM_BLOCK * TM_LANES);
    n->staged_rows = (int)(height + h - 1);
    for (int i = 0; i < TM_TILE_PLANES; i++) {
        if (p->correlated[i] || p->slid[i]) {
            n->staged[i] = carve(&carver, (n->staged_rows + TM_EXTRA_ROWS + 1) * n->stride);
            n->staged[i] = n->staged[i] ? n->staged[i] + n->stride : NULL;
        }
        if (p->correlated[i])
            n->planes[i] = carve(&carver, tm_planes_size(n->staged_rows + TM_EXTRA_ROWS, n->stride));
        if (p->slid[i])
            carve_columns(&n->columns[i], &carver, columns);
    }
    carve_products(n, &carver, jobs, count, padded);
    n->pass = carve(&carver, padded / TM_BLOCK);
    return carver.used;
}

size_t tm_tile_of_planes_size(const tm_planes_job *jobs, int count, int64_t width, int64_t height)
{
    planes_tile n;
    return carve_planes_tile(&n, NULL, jobs, count, width, height);
}

/* Columns [x, x + count) of a plane's row y, with zeros outside the frame. */
static void stage_plane_row(const tm_cpu_kernels *kernels, uint8_t *to, const tm_plane_products *p,
                            const tm_image *frame, int plane, int64_t x, int64_t y, int64_t count)
{
    const int pixel = p->channels * p->bytes;
    int64_t left = columns_left(frame, x, y, count);
    int64_t inside = columns_inside(frame, x, count, left);

    memset(to, 0, (size_t)left);
    if (inside && plane < pixel) /* 16 bits are low byte first, as the planes are */
        kernels->pick(to + left, frame->samples + y * frame->stride + (x + left) * pixel + plane,
                      pixel, inside);
    else if (inside)
        tm_plane_row(p, frame, plane, x + left, y, inside, to + left);
    memset(to + left + inside, 0, (size_t)(count - left - inside));
}

static void stage_difference(const planes_tile *n, int channel)
{
    const ptrdiff_t count = (n->staged_rows + TM_EXTRA_ROWS) * n->stride;
    const uint8_t *low = n->staged[2 * channel], *high = n->staged[2 * channel + 1];
    uint8_t *restrict to = n->staged[TM_FRAME_PLANES + channel];
    for (ptrdiff_t i = 0; i < count; i++)
        to[i] = (uint8_t)(low[i] > high[i] ? low[i] - high[i] : high[i] - low[i]);
}

static void stage(const tm_cpu_kernels *kernels, const planes_tile *n, const tm_job *job,
                  const tm_tile_planes *p, const tm_tile *tile)
{
    const int64_t left = tile->x - job->geometry.pad_x, top = tile->y - job->geometry.pad_y;

    for (int i = 0; i < TM_TILE_PLANES; i++) {
        if (!n->staged[i])
            continue;
        memset(n->staged[i] - n->stride, 0, (size_t)n->stride);
        for (int y = 0; i < TM_FRAME_PLANES && y < n->staged_rows + TM_EXTRA_ROWS; y++)
            stage_plane_row(kernels, n->staged[i] + y * n->stride, &p->products, &job->frame, i,
                            left, top + y, n->stride);
        if (i >= TM_FRAME_PLANES)
            stage_difference(n, i - TM_FRAME_PLANES);
        if (p->correlated[i] && p->packed[0].planes)
            kernels->expand(n->planes[i], n->staged[i], n->stride, n->staged_rows, &p->packed[0]);
        if (p->slid[i]) {
            const tm_columns *c = &n->columns[i];
            memset(c->sum, 0, (size_t)c->blocks * TM_BLOCK * 4);
            memset(c->sum_sq, 0, (size_t)c->blocks * TM_BLOCK * 4);
            for (int v = 0; v < job->tmpl->height - 1; v++)
                kernels->enter(c, n->staged[i] + v * n->stride);
        }
    }
}

/* Makes the products of job k, those of the mask with the first. */
static void correlate(const tm_cpu_kernels *kernels, const planes_tile *n, const tm_tile_planes *p,
                      int k, int top, int rows)
{
    for (int i = 0; i < p->products.count; i++) {
        const int plane = p->products.product[i].plane;
        if (k && n->products[k][i] == n->products[0][i])
            continue;
        kernels->correlate(n->products[k][i], n->padded, &p->packed[p->product_packed[i]],
                           n->staged[plane] + top * n->stride,
                           n->planes[plane] + tm_expanded_row(&p->packed[0], n->stride, top),
                           n->stride, rows, n->padded / TM_BLOCK);
    }
}

/* Moves all column sums down by some rows, of which the first is row y of the tile. */
static void slide(const tm_cpu_kernels *kernels, const planes_tile *n, const tm_tile_planes *p,
                  const tm_job *job, int y, int rows)
{
    for (int i = 0; i < TM_TILE_PLANES; i++) {
        if (p->slid[i])
            kernels->slide(&n->columns[i], n->staged[i] + (y - 1) * n->stride, n->stride,
                           (int)job->tmpl->height, rows);
    }
}

/* Points the row's sources to row y of job k's products and row slid of the prefixes. */
static void find_sources(tm_source_row *row, const planes_tile *n, const tm_tile_planes *p, int k,
                         int y, int slid)
{
    for (int i = 0; i < row->first[TM_SUMS]; i++) {
        const tm_tile_source *from = &p->source[i];
        if (from->of == TM_OF_PRODUCT) {
            row->source[i].products = n->products[k][from->index] + y * n->padded;
        } else {
            const tm_columns *c = &n->columns[from->index];
            row->source[i].prefix =
                (from->of == TM_OF_PLANE ? c->prefix : c->prefix_sq) + slid * 4 * row->plane;
        }
    }
}

static void begin_rows(tm_planes_row *rows, const planes_tile *n, const tm_planes_job *jobs,
                       int count, const tm_tile *tile)
{
    for (int k = 0; k < count; k++) {
        const tm_tile_planes *p = &jobs[k].planes;
        rows[k] = (tm_planes_row){.job = jobs[k].job,
                                  .planes = p,
                                  .row = p->row,
                                  .reject = p->reject,
                                  .best = TM_NO_PLANES_BEST};
        rows[k].row.blocks = n->padded / TM_BLOCK;
        rows[k].row.plane = n->plane;
        rows[k].pass = n->pass;
        rows[k].width = (int)tile->width;
    }
}

void tm_tile_of_planes(const tm_cpu_kernels *kernels, char *memory, const tm_planes_job *jobs,
                       int count, const tm_tile *tile, tm_candidate *best)
{
    const tm_tile_planes *p = &jobs->planes;
    tm_planes_row rows[TM_SHARED_MASK];
    planes_tile n;

    carve_planes_tile(&n, memory, jobs, count, tile->width, tile->height);
    stage(kernels, &n, jobs->job, p, tile);
    begin_rows(rows, &n, jobs, count, tile);
    for (int top = 0; top < tile->height; top += ROWS_AT_ONCE) {
        const int height = (int)smaller(ROWS_AT_ONCE, tile->height - top);
        for (int k = 0; k < count; k++)
            correlate(kernels, &n, &jobs[k].planes, k, top, height);
        for (int y = 0; y < height; y++) {
            const int slid = y % TM_SLIDE_ROWS;
            if (slid == 0)
                slide(kernels, &n, p, jobs->job, top + y, (int)smaller(TM_SLIDE_ROWS, height - y));
            for (int k = 0; k < count; k++) {
                find_sources(&rows[k].row, &n, &jobs[k].planes, k, y, slid);
                tm_planes_row_score(kernels, &rows[k], tile->x, tile->y + top + y, tile->scan);
            }
        }
    }
    for (int k = 0; k < count; k++)
        best[k] = tm_planes_row_best(&rows[k]);
}
