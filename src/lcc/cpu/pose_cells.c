/* SPDX-License-Identifier: MIT */
/* A class of poses searched by its cells: windows whose corners lie alike in cells of the frame are those
 * of a frame of cells, so there are side * side of these. */
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/pose_cells.h"

/* A frame of cells, which begins side pixels at most left of and above the frame: sums of pixels, as
 * whole means and what is left over. */
typedef struct cells {
    int side;
    int64_t x, y; /* of its first pixel in the frame */
    int64_t width, height, room; /* in cells; room: of a row */
    uint32_t *columns; /* of a row of cells: the sums of each column */
    uint8_t *means, *rests;
} cells;

/* What the callbacks of a search of cells need. */
typedef struct cell_run {
    const tm_family_search *windows;
    const tm_pose_cells *of_class;
    const cells *cells;
} cell_run;

static bool open_cells(cells *c, const tm_image *frame, int side)
{
    const int64_t across = frame->width / side + 2, down = frame->height / side + 2;

    *c = (cells){.side = side, .room = across};
    c->columns = malloc((size_t)(frame->width + 3 * side) * sizeof *c->columns);
    c->means = malloc((size_t)(across * down));
    c->rests = malloc((size_t)(across * down));
    return c->columns && c->means && c->rests;
}

static void close_cells(cells *c)
{
    free(c->columns);
    free(c->means);
    free(c->rests);
}

/* Sums up the columns of a row of cells; pixels outside of the frame are 0. */
static void sum_columns(const cells *c, const tm_image *frame, int64_t row)
{
    memset(c->columns, 0, (size_t)(frame->width + 3 * c->side) * sizeof *c->columns);
    for (int64_t y = c->y + row * c->side; y < c->y + (row + 1) * c->side; y++) {
        if (y < 0 || y >= frame->height)
            continue;
        const uint8_t *from = frame->samples + y * frame->stride;
        uint32_t *to = c->columns - c->x;
        for (int64_t x = 0; x < frame->width; x++)
            to[x] += from[x];
    }
}

/* Makes the frame of cells that begins at c->x and c->y. */
static void make_cells(cells *c, const tm_image *frame)
{
    const uint32_t pixels = (uint32_t)c->side * (uint32_t)c->side;

    c->width = ceil_div(frame->width - c->x, c->side);
    c->height = ceil_div(frame->height - c->y, c->side);
    for (int64_t y = 0; y < c->height; y++) {
        sum_columns(c, frame, y);
        for (int64_t x = 0; x < c->width; x++) {
            uint32_t sum = 0;
            for (int64_t i = x * c->side; i < (x + 1) * c->side; i++)
                sum += c->columns[i];
            c->means[y * c->room + x] = (uint8_t)(sum / pixels);
            c->rests[y * c->room + x] = (uint8_t)(sum % pixels);
        }
    }
}

static tm_image image_of(const cells *c, const uint8_t *samples)
{
    return (tm_image){.samples = samples, .width = c->width, .height = c->height, .stride = (ptrdiff_t)c->room};
}

static float least_of(void *context)
{
    const cell_run *r = context;
    return r->windows->least(r->windows->context);
}

/* The window whose cells passed. */
static void visit(void *context, int thread, const tm_family_window *window)
{
    const cell_run *r = context;
    tm_family_window pixels = *window;

    pixels.samples = NULL;
    pixels.x = r->cells->x + window->x * r->cells->side - r->of_class->x;
    pixels.y = r->cells->y + window->y * r->cells->side - r->of_class->y;
    r->windows->visit(r->windows->context, thread, &pixels);
}

/* Those windows of a row or column whose cells begin at a multiple of side from begin on: the first of
 * them, in cells, and how many there are. */
static int64_t count_windows(int64_t first, int64_t count, int64_t begin, int side, int64_t *from)
{
    *from = -floor_div(begin - first, side);
    return floor_div(first + count - 1 - begin, side) - *from + 1;
}

tm_status tm_pose_search_cells(tm_cpu *cpu, const tm_pose_cells *of_class, const tm_family_search *windows)
{
    const tm_image *frame = windows->frame;
    const int side = of_class->side;
    tm_status status = TM_OK;
    cells c;

    if (!open_cells(&c, frame, side))
        status = TM_ERR_MEMORY;
    for (int i = 0; i < side * side && status == TM_OK; i++) {
        c.x = -(i % side);
        c.y = -(i / side);
        make_cells(&c, frame);
        const tm_image means = image_of(&c, c.means), rests = image_of(&c, c.rests);
        cell_run r = {windows, of_class, &c};
        tm_family_search s = {.family = &of_class->family,
                              .frame = &means,
                              .rests = &rests,
                              .unit = side * side,
                              .context = &r,
                              .least = least_of,
                              .visit = visit};
        s.width = count_windows(windows->x + of_class->x, windows->width, c.x, side, &s.x);
        s.height = count_windows(windows->y + of_class->y, windows->height, c.y, side, &s.y);
        if (s.width > 0 && s.height > 0)
            status = tm_cpu_search_family(cpu, &s);
    }
    close_cells(&c);
    return status;
}
