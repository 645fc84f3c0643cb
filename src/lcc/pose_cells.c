/* SPDX-License-Identifier: MIT */
#include "lcc/pose_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

enum {
    LEAST_SIDE = 3, /* cells of fewer pixels cost about as much as the pixels */
    MOST_SIDE = 8,
    LEAST_CELLS = 150, /* fewer are too easily like any window */
    TRIED = 16,     /* members that the size of cells is chosen by */
};

/* Cells that have less of the variance say too little of the whole; large ones are so few besides that
 * they are like many windows. */
static double least_share(int side)
{
    return side > 4 ? 0.68 : 0.55;
}

/* A grid of cells in the class's box, in its middle. */
typedef struct grid {
    int side, columns, rows, x, y;
    int64_t count;    /* of cells that are wholly in the core */
    uint8_t *inside;  /* which */
} grid;

/* False if memory ran out. */
static bool make_grid(grid *g, const tm_family *f, int side)
{
    *g = (grid){.side = side, .columns = f->width / side, .rows = f->height / side};
    g->x = f->width % side / 2;
    g->y = f->height % side / 2;
    const int64_t size = (int64_t)g->columns * g->rows;
    uint16_t *pixels = calloc((size_t)size + 1, sizeof *pixels);
    g->inside = malloc((size_t)size + 1);
    for (int i = 0; i < f->run_count && pixels && g->inside; i++) {
        const tm_family_run *r = &f->runs[i];
        const int row = (r->y - g->y) / side;
        for (int x = r->x; x < r->end && r->y >= g->y && row < g->rows; x++) {
            if (x >= g->x && (x - g->x) / side < g->columns)
                pixels[row * g->columns + (x - g->x) / side]++;
        }
    }
    const bool good = pixels && g->inside;
    for (int64_t i = 0; i < size && good; i++)
        g->count += g->inside[i] = pixels[i] == side * side;
    free(pixels);
    return good;
}

/* The sums of a picture's cells; 0 of those that are not inside. */
static void sum_cells(int32_t *sums, const grid *g, const tm_family *f, const tm_posed *p)
{
    const int64_t left = (p->width - f->width) / 2 + g->x, top = (p->height - f->height) / 2 + g->y;

    memset(sums, 0, (size_t)g->columns * (size_t)g->rows * sizeof *sums);
    for (int y = 0; y < g->rows * g->side; y++) {
        const uint8_t *pixel = p->samples + (top + y) * p->width + left;
        int32_t *row = sums + y / g->side * g->columns;
        for (int x = 0; x < g->columns; x++) {
            for (int i = 0; i < g->side; i++)
                row[x] += *pixel++;
        }
    }
    for (int i = 0; i < g->columns * g->rows; i++)
        sums[i] = g->inside[i] ? sums[i] : 0;
}

/* The cells' share of the picture's variance, from below. */
static double share_of(const int32_t *sums, const grid *g, const tm_posed *p)
{
    const double pixels = (double)g->side * g->side;
    double sum = 0, square = 0, all = 0, all_sq = 0;

    for (int64_t i = 0; i < p->width * p->height; i++) {
        all += p->samples[i];
        all_sq += (double)p->samples[i] * p->samples[i];
    }
    for (int i = 0; i < g->columns * g->rows; i++) {
        sum += sums[i];
        square += (double)sums[i] * sums[i];
    }
    const double part = (square - sum * sum / (double)g->count) / pixels;
    return part / (all_sq - all * all / (double)p->count) * (1 - 1e-9);
}

/* Makes the picture of the cells' rounded means. Returns its distance from them, both less their means
 * and of norm 1; 2 where they are equal. */
static double round_cells(tm_posed *to, const int32_t *sums, const grid *g)
{
    const int pixels = g->side * g->side;
    double sum = 0, square = 0, rounded_sum = 0, rounded_sq = 0, product = 0;

    for (int i = 0; i < g->columns * g->rows; i++) {
        to->samples[i] = (uint8_t)((sums[i] + pixels / 2) / pixels);
        const double sample = sums[i], rounded = to->samples[i];
        sum += sample;
        square += sample * sample;
        rounded_sum += rounded;
        rounded_sq += rounded * rounded;
        product += sample * rounded;
    }
    memcpy(to->mask, g->inside, (size_t)g->columns * (size_t)g->rows);
    to->width = g->columns;
    to->height = g->rows;
    to->count = g->count;
    const double n = (double)g->count;
    const double cosine = (product - sum * rounded_sum / n) /
                          sqrt((square - sum * sum / n) * (rounded_sq - rounded_sum * rounded_sum / n));
    return cosine > 0 ? sqrt(fmax(0, 2 - 2 * cosine) + 1e-9) : 2;
}

/* The least share of some members; -1 if memory ran out. */
static double try_grid(const grid *g, const tm_family *f, const tm_posed *posed, size_t count)
{
    int32_t *sums = malloc((size_t)g->columns * (size_t)g->rows * sizeof *sums);
    double share = 1;

    if (!sums)
        return -1;
    for (size_t i = 0; i < count; i += 1 + count / TRIED) {
        sum_cells(sums, g, f, &posed[i]);
        share = fmin(share, share_of(sums, g, &posed[i]));
    }
    free(sums);
    return share;
}

static tm_status make_family(tm_pose_class *c, const grid *g, const tm_posed *posed, int basis, double rest)
{
    const size_t size = (size_t)g->columns * (size_t)g->rows;
    tm_pose_cells *cells = &c->cells;
    tm_posed *means = calloc(c->count, sizeof *means);
    int32_t *sums = malloc(size * sizeof *sums);
    uint8_t *pictures = malloc(2 * size * c->count);
    tm_status status = means && sums && pictures ? TM_OK : TM_ERR_MEMORY;

    *cells = (tm_pose_cells){.side = g->side, .share = 1};
    for (size_t i = 0; i < c->count && status == TM_OK; i++) {
        means[i].samples = pictures + 2 * size * i;
        means[i].mask = means[i].samples + size;
        sum_cells(sums, g, &c->family, &posed[i]);
        cells->share = fmin(cells->share, share_of(sums, g, &posed[i]));
        cells->error = fmax(cells->error, round_cells(&means[i], sums, g));
    }
    if (status == TM_OK && cells->error < 1)
        status = tm_family_begin(&cells->family, means, c->count);
    if (status == TM_OK)
        status = tm_family_finish(&cells->family, means, basis, rest);
    cells->x = g->x + (g->columns - cells->family.width) / 2 * g->side;
    cells->y = g->y + (g->rows - cells->family.height) / 2 * g->side;
    free(pictures);
    free(sums);
    free(means);
    return status;
}

tm_status tm_pose_cells_make(tm_pose_class *c, const tm_posed *posed, int basis, double rest)
{
    for (int side = MOST_SIDE; side >= LEAST_SIDE; side--) {
        grid g;
        double share = -1;
        tm_status status = TM_ERR_MEMORY;

        if (make_grid(&g, &c->family, side))
            share = g.count < LEAST_CELLS ? 0 : try_grid(&g, &c->family, posed, c->count) / c->share;
        if (share >= 0)
            status = share < least_share(side) ? TM_OK : make_family(c, &g, posed, basis, rest);
        free(g.inside);
        if (status != TM_OK || share >= least_share(side))
            return status;
    }
    return TM_OK;
}
