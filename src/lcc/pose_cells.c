/* SPDX-License-Identifier: MIT */
#include "lcc/pose_cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"

enum {
    LEAST_CELLS = 100, /* fewer are too easily like any window */
    TRIED = 16,     /* members that the size of cells is chosen by */
    MOST_MEMBERS = 65536, /* of the cells' family, with the places that they are moved to */
};

/* Columns and rows of cells, and of the square of places that members are moved to: its windows are made
 * only once, but the farther members are moved, the more of them have to be told apart by the basis, and
 * the fewer cells are in the core at each place. */
static const struct {
    int side, places;
} sizes[] = {{8, 4}, {6, 3}, {4, 4}, {3, 3}, {2, 2}};
enum { SIZES = sizeof sizes / sizeof *sizes };

/* The share of the core's variance that cells of a level have at least: those that have less say too little of the
 * whole where no high score is asked for. */
static const double least_shares[TM_POSE_LEVELS] = {0.35, 0.6};

/* A grid of cells in the class's box, in its middle, where members are not moved. */
typedef struct grid {
    int side, places, columns, rows, x, y;
    int64_t count;    /* of cells that are wholly in the core wherever members are moved to */
    uint8_t *inside;  /* which */
    uint16_t *sums_down; /* room for a row of cells, and places - 1: the sums of each column of pixels */
} grid;

/* Whether all pixels are in the core over which the cell lies as members are moved. */
static bool is_inside(const grid *g, const tm_family *f, const uint8_t *core, int column, int row)
{
    const int left = g->x + column * g->side, top = g->y + row * g->side;

    for (int y = top - (g->places - 1); y < top + g->side; y++) {
        for (int x = left - (g->places - 1); x < left + g->side; x++) {
            if (!core[y * f->width + x])
                return false;
        }
    }
    return true;
}

/* False if memory ran out. */
static bool make_grid(grid *g, const tm_family *f, int side, int places)
{
    const int width = (int)larger(0, f->width - (places - 1)), height = (int)larger(0, f->height - (places - 1));

    *g = (grid){.side = side, .places = places, .columns = width / side, .rows = height / side};
    g->x = places - 1 + width % side / 2;
    g->y = places - 1 + height % side / 2;
    uint8_t *core = calloc((size_t)f->width * (size_t)f->height, 1);
    g->inside = malloc((size_t)g->columns * (size_t)g->rows + 1);
    g->sums_down = malloc((size_t)(f->width + 1) * sizeof *g->sums_down);
    const bool good = core && g->inside && g->sums_down;
    for (int i = 0; i < f->run_count && good; i++)
        memset(core + f->runs[i].y * f->width + f->runs[i].x, 1, (size_t)(f->runs[i].end - f->runs[i].x));
    for (int i = 0; i < g->columns * g->rows && good; i++)
        g->count += g->inside[i] = is_inside(g, f, core, i % g->columns, i / g->columns);
    free(core);
    return good;
}

static void free_grid(grid *g)
{
    free(g->inside);
    free(g->sums_down);
}

/* The sums of the cells of a picture that is moved down by so much, and right by 0 to places - 1, one after the
 * other; 0 of those that are not inside. */
static void sum_cells(int32_t *sums, const grid *g, const tm_family *f, const tm_posed *p, int down)
{
    const int more = g->places - 1, across = g->columns * g->side, size = g->columns * g->rows;
    const int64_t left = (p->width - f->width) / 2 + g->x - more, top = (p->height - f->height) / 2 + g->y - down;

    for (int row = 0; row < g->rows; row++) {
        const uint8_t *inside = g->inside + row * g->columns;
        memset(g->sums_down, 0, (size_t)(across + more) * sizeof *g->sums_down);
        for (int y = row * g->side; y < (row + 1) * g->side; y++) {
            const uint8_t *pixels = p->samples + (top + y) * p->width + left;
            for (int x = 0; x < across + more; x++)
                g->sums_down[x] = (uint16_t)(g->sums_down[x] + pixels[x]);
        }
        for (int right = 0; right < g->places; right++) {
            const uint16_t *columns = g->sums_down + more - right;
            int32_t *to = sums + right * size + row * g->columns;
            for (int i = 0; i < g->columns; i++) {
                int32_t sum = 0;
                for (int x = i * g->side; x < (i + 1) * g->side; x++)
                    sum += columns[x];
                to[i] = inside[i] ? sum : 0;
            }
        }
    }
}

/* The cells' share of a picture's variance times its pixels, from below. */
static double share_of(const int32_t *sums, const grid *g, double energy)
{
    const double pixels = (double)g->side * g->side;
    double sum = 0, square = 0;

    for (int i = 0; i < g->columns * g->rows; i++) {
        sum += sums[i];
        square += (double)sums[i] * sums[i];
    }
    return (square - sum * sum / (double)g->count) / pixels / energy * (1 - 1e-9);
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
    to->mask = g->inside;
    to->width = g->columns;
    to->height = g->rows;
    to->count = g->count;
    const double n = (double)g->count;
    const double cosine = (product - sum * rounded_sum / n) /
                          sqrt((square - sum * sum / n) * (rounded_sq - rounded_sum * rounded_sum / n));
    return cosine > 0 ? sqrt(fmax(0, 2 - 2 * cosine) + 1e-9) : 2;
}

/* The least share of some members, each moved to another place; -1 if memory ran out. */
static double try_grid(const grid *g, const tm_family *f, const tm_posed *posed, size_t count)
{
    const int size = g->columns * g->rows;
    int32_t *sums = malloc((size_t)size * (size_t)g->places * sizeof *sums);
    double share = 1;
    int place = 0;

    if (!sums)
        return -1;
    for (size_t i = 0; i < count; i += 1 + count / TRIED, place++) {
        sum_cells(sums, g, f, &posed[i], place / g->places % g->places);
        share = fmin(share, share_of(sums + place % g->places * size, g, tm_family_energy(&posed[i])));
    }
    free(sums);
    return share;
}

static tm_status make_family(tm_pose_cells *cells, const tm_pose_class *c, const grid *g, const tm_posed *posed,
                             int basis, double rest)
{
    const size_t size = (size_t)g->columns * (size_t)g->rows, places = (size_t)g->places;
    const size_t count = places * places * c->count;
    tm_posed *means = calloc(count, sizeof *means);
    int32_t *sums = malloc(size * places * sizeof *sums);
    uint8_t *pictures = malloc(size * count);
    tm_status status = means && sums && pictures ? TM_OK : TM_ERR_MEMORY;

    *cells = (tm_pose_cells){.side = g->side, .places = g->places, .share = 1};
    for (size_t i = 0; i < c->count && status == TM_OK; i++) {
        const double energy = tm_family_energy(&posed[i]);
        for (size_t place = 0; place < places * places; place++) {
            const int32_t *here = sums + place % places * size;
            tm_posed *moved = &means[place * c->count + i];
            if (place % places == 0)
                sum_cells(sums, g, &c->family, &posed[i], (int)(place / places));
            moved->samples = pictures + size * (place * c->count + i);
            cells->share = fmin(cells->share, share_of(here, g, energy));
            cells->error = fmax(cells->error, round_cells(moved, here, g));
        }
    }
    if (status == TM_OK && cells->error < 1)
        status = tm_family_begin(&cells->family, means, count);
    if (status == TM_OK)
        status = tm_family_finish(&cells->family, means, basis, rest);
    cells->x = g->x + (g->columns - cells->family.width) / 2 * g->side;
    cells->y = g->y + (g->rows - cells->family.height) / 2 * g->side;
    free(pictures);
    free(sums);
    free(means);
    return status;
}

/* Makes the next level of cells of this size if they have enough for it; if they have enough for the one after it
 * too, they serve for both. */
static tm_status try_size(tm_pose_class *c, const tm_posed *posed, int size, int *level, int basis, double rest)
{
    const int side = sizes[size].side, most = sizes[size].places * sizes[size].places;
    const int places = c->count > (size_t)(MOST_MEMBERS / most) ? 1 : sizes[size].places;
    double share = -1;
    tm_status status = TM_OK;
    grid g;

    if (make_grid(&g, &c->family, side, places))
        share = g.count < LEAST_CELLS ? 0 : try_grid(&g, &c->family, posed, c->count) / c->share;
    if (share < 0)
        status = TM_ERR_MEMORY;
    else if (share >= least_shares[*level])
        status = make_family(&c->cells[*level], c, &g, posed, basis, rest);
    while (*level < TM_POSE_LEVELS && share >= least_shares[*level])
        ++*level;
    free_grid(&g);
    return status;
}

tm_status tm_pose_cells_make(tm_pose_class *c, const tm_posed *posed, int basis, double rest)
{
    tm_status status = TM_OK;
    int level = 0;

    for (int i = 0; i < SIZES && level < TM_POSE_LEVELS && status == TM_OK; i++)
        status = try_size(c, posed, i, &level, basis, rest);
    return status;
}
