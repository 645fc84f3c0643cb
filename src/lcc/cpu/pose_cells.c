/* SPDX-License-Identifier: MIT */
/* A class of poses searched by its cells: windows whose corners lie alike in cells of the frame, but for as
 * much as members are moved, are those of a frame of cells, of which there are (side / places)^2. */
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
    int32_t *members; /* of each thread: those of the class that passed in a window of pixels */
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

/* The windows of pixels in which members passed that are moved alike. */
static void visit(void *context, int thread, const tm_family_window *window)
{
    const cell_run *r = context;
    const tm_family_search *s = r->windows;
    const int places = r->of_class->places, count = r->of_class->family.count / (places * places);
    int32_t *members = r->members + (int64_t)thread * count;
    int next;

    for (int i = 0; i < window->count; i = next) {
        const int place = window->members[i] / count;
        tm_family_window pixels = {.members = members, .bounds = window->bounds + i};
        for (next = i; next < window->count && window->members[next] / count == place; next++)
            members[pixels.count++] = window->members[next] - place * count;
        pixels.x = r->cells->x + window->x * r->cells->side - r->of_class->x + place % places;
        pixels.y = r->cells->y + window->y * r->cells->side - r->of_class->y + place / places;
        if (pixels.x >= s->x && pixels.x < s->x + s->width && pixels.y >= s->y && pixels.y < s->y + s->height)
            s->visit(s->context, thread, &pixels);
    }
}

/* Those windows of a row or column whose cells begin at a multiple of side from begin on: the first of
 * them, in cells, and how many there are. */
static int64_t count_windows(int64_t first, int64_t count, int64_t begin, int side, int64_t *from)
{
    *from = -floor_div(begin - first, side);
    return floor_div(first + count - 1 - begin, side) - *from + 1;
}

/* Searches the windows of one frame of cells. */
static tm_status search_frame(tm_cpu *cpu, cell_run *r)
{
    const tm_pose_cells *of_class = r->of_class;
    const tm_family_search *w = r->windows;
    const cells *c = r->cells;
    const int side = of_class->side, more = of_class->places - 1;
    const tm_image means = image_of(c, c->means), rests = image_of(c, c->rests);
    tm_family_search s = {.family = &of_class->family,
                          .frame = &means,
                          .rests = &rests,
                          .unit = side * side,
                          .context = r,
                          .least = least_of,
                          .visit = visit};

    s.width = count_windows(w->x + of_class->x - more, w->width + more, c->x, side, &s.x);
    s.height = count_windows(w->y + of_class->y - more, w->height + more, c->y, side, &s.y);
    return s.width > 0 && s.height > 0 ? tm_cpu_search_family(cpu, &s) : TM_OK;
}

tm_status tm_pose_search_cells(tm_cpu *cpu, const tm_pose_cells *of_class, const tm_family_search *windows)
{
    const int side = of_class->side, places = of_class->places, frames = side / places;
    const size_t count = (size_t)(of_class->family.count / (places * places));
    cells c;
    cell_run r = {windows, of_class, &c, malloc((size_t)cpu->threads * count * sizeof *r.members)};
    tm_status status = open_cells(&c, windows->frame, side) && r.members ? TM_OK : TM_ERR_MEMORY;

    for (int i = 0; i < frames * frames && status == TM_OK; i++) {
        c.x = -(i % frames * places);
        c.y = -(i / frames * places);
        make_cells(&c, windows->frame);
        status = search_frame(cpu, &r);
    }
    free(r.members);
    close_cells(&c);
    return status;
}
