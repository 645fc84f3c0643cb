/* SPDX-License-Identifier: MIT */
/* A tile of a job that is taken apart, as narrow.c makes one of a plain job: the
 * planes are staged; then a few rows of every term's products at a time are made,
 * put together, scored and ranked while they lie in the caches. */
#include <float.h>

#include "lcc/cpu/tile.h"

enum { ROWS_AT_ONCE = 12 }; /* a multiple of every kernel's rows */

typedef struct parts_tile {
    ptrdiff_t stride; /* of staged and planes, in elements */
    int staged_rows, padded;
    uint8_t *staged[TM_TILE_PLANES]; /* a row of zeros lies above */
    uint32_t *planes[TM_TILE_PLANES];
    tm_columns columns[TM_TILE_PLANES];
    int32_t *products[TM_TERMS];
    int64_t *sums[TM_SUMS];
    void *row; /* of the map */
} parts_tile;

/* The best of a tile so far, a distance with the sign changed. Skipped positions
 * do not beat what it starts from. */
typedef struct parts_best {
    float real;
    int64_t integer, position;
} parts_best;

static void carve_columns(tm_columns *c, tm_carver *carver, int64_t columns)
{
    c->blocks = (int)(columns / TM_BLOCK);
    c->sum = carve(carver, columns * 4);
    c->sum_sq = carve(carver, columns * 4);
    c->prefix = carve(carver, TM_SLIDE_ROWS * columns * 4);
    c->prefix_sq = carve(carver, TM_SLIDE_ROWS * columns * 4);
}

static size_t parts_carve(parts_tile *n, char *memory, const tm_job *job, const tm_tile_parts *p,
                          int width, int height)
{
    tm_carver carver = {memory, 0};
    int64_t padded = round_up(width, TM_BLOCK), w = job->tmpl->width, h = job->tmpl->height;
    int64_t columns = round_up(padded + w, TM_BLOCK);

    *n = (parts_tile){.padded = (int)padded};
    n->stride = (ptrdiff_t)(columns / TM_BLOCK % 2 ? columns : columns + TM_BLOCK);
    n->staged_rows = (int)(height + h - 1);
    for (int i = 0; i < TM_TILE_PLANES; i++) {
        if (p->correlated[i] || p->slid[i]) {
            n->staged[i] = carve(&carver, (n->staged_rows + TM_EXTRA_ROWS + 1) * n->stride);
            n->staged[i] = n->staged[i] ? n->staged[i] + n->stride : NULL;
        }
        if (p->correlated[i])
            n->planes[i] = carve(&carver, (n->staged_rows + TM_EXTRA_ROWS) * n->stride * 4);
        if (p->slid[i])
            carve_columns(&n->columns[i], &carver, columns);
    }
    for (int i = 0; i < p->parts.terms; i++)
        n->products[i] = carve(&carver, ROWS_AT_ONCE * padded * 4);
    for (int i = 0; i < TM_SUMS; i++) {
        if (p->parts.needed[i])
            n->sums[i] = carve(&carver, padded * 8);
    }
    n->row = carve(&carver, padded * 8);
    return carver.used;
}

size_t tm_tile_of_parts_size(const tm_job *job, const tm_tile_parts *p, int width, int height)
{
    parts_tile n;
    return parts_carve(&n, NULL, job, p, width, height);
}

/* Columns [x, x + count) of a plane's row y, with zeros outside the frame. */
static void stage_plane_row(const tm_cpu_kernels *kernels, uint8_t *to, const tm_parts *p,
                            const tm_image *frame, int plane, int64_t x, int64_t y, int64_t count)
{
    const int pixel = p->channels * p->bytes;
    int64_t left = y < 0 || y >= frame->height ? count : min64(max64(-x, 0), count);
    int64_t inside = max64(min64(count - left, frame->width - x - left), 0);

    memset(to, 0, (size_t)left);
    if (inside && plane < pixel) /* 16 bits are low byte first, as the planes are */
        kernels->pick(to + left, frame->samples + y * frame->stride + (x + left) * pixel + plane,
                      pixel, inside);
    else if (inside)
        tm_plane_row(p, frame, plane, x + left, y, inside, to + left);
    memset(to + left + inside, 0, (size_t)(count - left - inside));
}

static void stage_difference(const parts_tile *n, int channel)
{
    const ptrdiff_t count = (n->staged_rows + TM_EXTRA_ROWS) * n->stride;
    const uint8_t *low = n->staged[2 * channel], *high = n->staged[2 * channel + 1];
    uint8_t *restrict to = n->staged[TM_FRAME_PLANES + channel];
    for (ptrdiff_t i = 0; i < count; i++)
        to[i] = (uint8_t)(low[i] > high[i] ? low[i] - high[i] : high[i] - low[i]);
}

static void stage(const tm_cpu_kernels *kernels, const parts_tile *n, const tm_job *job,
                  const tm_tile_parts *p, const tm_tile *tile)
{
    const int64_t left = tile->x - job->geometry.pad_x, top = tile->y - job->geometry.pad_y;

    for (int i = 0; i < TM_TILE_PLANES; i++) {
        if (!n->staged[i])
            continue;
        memset(n->staged[i] - n->stride, 0, (size_t)n->stride);
        for (int y = 0; i < TM_FRAME_PLANES && y < n->staged_rows + TM_EXTRA_ROWS; y++)
            stage_plane_row(kernels, n->staged[i] + y * n->stride, &p->parts, &job->frame, i, left,
                            top + y, n->stride);
        if (i >= TM_FRAME_PLANES)
            stage_difference(n, i - TM_FRAME_PLANES);
        if (p->correlated[i] && p->panel[0].planes)
            kernels->expand(n->planes[i], n->staged[i], n->stride, n->staged_rows, &p->panel[0]);
        if (p->slid[i]) {
            const tm_columns *c = &n->columns[i];
            memset(c->sum, 0, (size_t)c->blocks * TM_BLOCK * 4);
            memset(c->sum_sq, 0, (size_t)c->blocks * TM_BLOCK * 4);
            for (int v = 0; v < job->tmpl->height - 1; v++)
                kernels->enter(c, n->staged[i] + v * n->stride);
        }
    }
}

static void correlate(const tm_cpu_kernels *kernels, const parts_tile *n, const tm_tile_parts *p,
                      int top, int rows)
{
    for (int i = 0; i < p->parts.terms; i++) {
        const int plane = p->parts.term[i].plane;
        kernels->correlate(n->products[i], n->padded, &p->panel[p->term_panel[i]],
                           n->staged[plane] + top * n->stride, n->planes[plane] + top * n->stride,
                           n->stride, rows, n->padded / TM_BLOCK);
    }
}

/* Moves all columns down; the rows' first is row y of the tile. */
static void slide(const tm_cpu_kernels *kernels, const parts_tile *n, const tm_tile_parts *p,
                  const tm_job *job, int y, int rows)
{
    for (int i = 0; i < TM_TILE_PLANES; i++) {
        if (p->slid[i])
            kernels->slide(&n->columns[i], n->staged[i] + (y - 1) * n->stride, n->stride,
                           (int)job->tmpl->height, rows);
    }
}

/* Makes the sums of a row: row y of the products, row slid of the prefixes. */
static void put_together(const tm_cpu_kernels *kernels, const parts_tile *n,
                         const tm_tile_parts *p, const tm_job *job, int y, int slid)
{
    ptrdiff_t plane = 0;

    for (int sum = 0; sum < TM_SUMS; sum++) {
        tm_source sources[TM_TERMS + 2 * TM_TILE_PLANES];
        int count = 0;
        if (!n->sums[sum])
            continue;
        for (int i = 0; i < p->parts.terms; i++) {
            if (p->parts.term[i].sum == sum)
                sources[count++] = (tm_source){.products = n->products[i] + y * n->padded,
                                               .shift = p->parts.term[i].shift};
        }
        for (int i = 0; i < TM_TILE_PLANES; i++) {
            const tm_columns *c = &n->columns[i];
            const ptrdiff_t at = (ptrdiff_t)slid * c->blocks * TM_BLOCK;
            if (!p->slid[i])
                continue;
            plane = c->blocks * TM_LANES;
            if (p->weight[sum][i])
                sources[count++] = (tm_source){.prefix = c->prefix + at,
                                               .weight = p->weight[sum][i]};
            if (sum == TM_SUM_FF && p->square_weight[i])
                sources[count++] = (tm_source){.prefix = c->prefix_sq + at,
                                               .weight = p->square_weight[i]};
        }
        kernels->combine(n->sums[sum], sources, count, plane, (int)job->tmpl->width,
                         n->padded / TM_BLOCK);
    }
}

/* Compares many before it looks for one. */
#define RANK_ROW(name, type, field)                                                       \
    static void name(const type *row, int width, type sign, int64_t position,             \
                     parts_best *best)                                                    \
    {                                                                                     \
        for (int x = 0; x < width; x += TM_BLOCK) {                                       \
            const int count = (int)min64(TM_BLOCK, width - x);                            \
            int any = 0;                                                                  \
            for (int i = 0; i < count; i++)                                               \
                any |= sign * row[x + i] > best->field;                                   \
            for (int i = 0; any && i < count; i++) {                                      \
                if (sign * row[x + i] > best->field) {                                    \
                    best->field = sign * row[x + i];                                      \
                    best->position = position + x + i;                                    \
                }                                                                         \
            }                                                                             \
        }                                                                                 \
    }

RANK_ROW(rank_reals, float, real)
RANK_ROW(rank_integers, int64_t, integer)

/* Scores and ranks row y of the map. */
static void finish_row(const tm_cpu_kernels *kernels, const parts_tile *n, const tm_tile_parts *p,
                       const tm_job *job, const tm_tile *tile, int64_t y, parts_best *best)
{
    const int64_t position = y * job->geometry.map_width + tile->x;
    const size_t element = tm_map_element_size(job->metric);
    const int sign = tm_is_distance(job->metric) ? -1 : 1;

    kernels->score_sums(&p->scorer, (const int64_t *const *)n->sums, n->padded / TM_BLOCK, n->row);
    if (job->map.data)
        memcpy((char *)job->map.data + y * job->map.stride + tile->x * (int64_t)element, n->row,
               (size_t)tile->width * element);
    if (tm_is_integer(job->metric))
        rank_integers(n->row, tile->width, sign, position, best);
    else
        rank_reals(n->row, tile->width, (float)sign, position, best);
}

static tm_candidate candidate_of(const tm_job *job, const parts_best *best)
{
    const int sign = tm_is_distance(job->metric) ? -1 : 1;
    if (best->position == INT64_MAX)
        return (tm_candidate)TM_NO_CANDIDATE;
    if (tm_is_integer(job->metric))
        return (tm_candidate){best->integer, best->position};
    return (tm_candidate){sign * (int64_t)tm_score_order((float)sign * best->real),
                          best->position};
}

tm_candidate tm_tile_of_parts(const tm_cpu_kernels *kernels, char *memory, const tm_job *job,
                              const tm_tile_parts *p, const tm_tile *tile, tm_peak_scan *scan)
{
    parts_best best = {-FLT_MAX, -INT64_MAX, INT64_MAX};
    parts_tile n;

    parts_carve(&n, memory, job, p, tile->width, tile->height);
    stage(kernels, &n, job, p, tile);
    for (int top = 0; top < tile->height; top += ROWS_AT_ONCE) {
        const int rows = (int)min64(ROWS_AT_ONCE, tile->height - top);
        correlate(kernels, &n, p, top, rows);
        for (int y = 0; y < rows; y++) {
            const int slid = y % TM_SLIDE_ROWS;
            if (slid == 0)
                slide(kernels, &n, p, job, top + y, (int)min64(TM_SLIDE_ROWS, rows - y));
            put_together(kernels, &n, p, job, y, slid);
            finish_row(kernels, &n, p, scan ? tm_peak_scan_row(scan) : job, tile,
                       tile->y + top + y, &best);
            if (scan)
                tm_peak_scan_row_done(scan);
        }
    }
    return candidate_of(job, &best);
}
