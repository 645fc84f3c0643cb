/* SPDX-License-Identifier: MIT */
/* A class of poses searched by its cells: windows whose corners lie alike in cells of the frame, but for as
 * much as members are moved, are those of a frame of cells, of which there are (side / places)^2. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "lcc/cpu/pose_cells.h"
#include "lcc/threads.h"

/* What the callbacks of a search of cells need. */
typedef struct cell_run {
    const tm_family_search *windows;
    const tm_pose_cells *of_class;
    const tm_cell_frame *cells;
    int32_t *members; /* of each thread: those of the class that passed in a window of pixels */
} cell_run;

static void free_frames(tm_cell_frames *frames, int side)
{
    const int count = frames->of_side[side].places ? side / frames->of_side[side].places : 0;
    for (int i = 0; i < count * count && frames->of_side[side].frames; i++)
        free(frames->of_side[side].frames[i].means);
    free(frames->of_side[side].frames);
    frames->of_side[side].frames = NULL;
    frames->of_side[side].places = 0;
}

void tm_cell_frames_free(tm_cell_frames *frames)
{
    for (int side = 0; side < TM_CELL_SIDES; side++)
        free_frames(frames, side);
}

/* Sums up the columns of a row of cells, which have room for 3 * side more than the frame has; pixels outside of the
 * frame are 0. */
static void sum_columns(uint32_t *columns, const tm_cell_frame *c, const tm_image *frame, int side, int64_t row)
{
    memset(columns, 0, (size_t)(frame->width + 3 * side) * sizeof *columns);
    for (int64_t y = c->y + row * side; y < c->y + (row + 1) * side; y++) {
        if (y < 0 || y >= frame->height)
            continue;
        const uint8_t *from = frame->samples + y * frame->stride;
        uint32_t *to = columns - c->x;
        for (int64_t x = 0; x < frame->width; x++)
            to[x] += from[x];
    }
}

/* Makes room for the frame of cells that begins at c->x and c->y. False if memory ran out. */
static bool make_room(tm_cell_frame *c, const tm_image *frame, int side)
{
    const int64_t room = frame->width / side + 2, down = frame->height / side + 2;

    c->means = malloc((size_t)(2 * room * down));
    c->rests = c->means ? c->means + room * down : NULL;
    c->pitch = room;
    c->width = ceil_div(frame->width - c->x, side);
    c->height = ceil_div(frame->height - c->y, side);
    return c->means;
}

static void make_cells(const tm_cell_frame *c, const tm_image *frame, int side, uint32_t *columns)
{
    const uint32_t pixels = (uint32_t)side * (uint32_t)side;

    for (int64_t y = 0; y < c->height; y++) {
        sum_columns(columns, c, frame, side, y);
        for (int64_t x = 0; x < c->width; x++) {
            uint32_t sum = 0;
            for (int64_t i = x * side; i < (x + 1) * side; i++)
                sum += columns[i];
            c->means[y * c->pitch + x] = (uint8_t)(sum / pixels);
            c->rests[y * c->pitch + x] = (uint8_t)(sum % pixels);
        }
    }
}

tm_cell_frame *tm_cell_frames_room(tm_cell_frames *frames, const tm_image *frame, int side, int places, bool *there)
{
    const int across = side / places;
    bool good;

    *there = frames->of_side[side].places == places;
    if (*there)
        return frames->of_side[side].frames;
    free_frames(frames, side);
    tm_cell_frame *list = calloc((size_t)(across * across), sizeof *list);
    good = list;
    frames->of_side[side].frames = list;
    frames->of_side[side].places = places;
    for (int i = 0; i < across * across && good; i++) {
        list[i].x = -(i % across * places);
        list[i].y = -(i / across * places);
        good = make_room(&list[i], frame, side);
    }
    if (!good)
        free_frames(frames, side);
    return good ? list : NULL;
}

const tm_cell_frame *tm_cell_frames_of(tm_cell_frames *frames, const tm_image *frame, int side, int places, int threads)
{
    const int count = side / places * (side / places), team = tm_team_size((int)smaller(threads, count));
    const size_t room = (size_t)(frame->width + 3 * side);
    bool there;

    tm_cell_frame *list = tm_cell_frames_room(frames, frame, side, places, &there);
    if (there || !list)
        return list;
    uint32_t *columns = malloc((size_t)team * room * sizeof *columns);
#pragma omp parallel for num_threads(team) if (team > 1)
    for (int i = 0; i < (columns ? count : 0); i++)
        make_cells(&list[i], frame, side, columns + (size_t)omp_get_thread_num() * room);
    if (!columns)
        free_frames(frames, side);
    const bool good = columns;
    free(columns);
    return good ? list : NULL;
}

static tm_image image_of(const tm_cell_frame *c, const uint8_t *samples)
{
    return (tm_image){.samples = samples, .width = c->width, .height = c->height, .stride = (ptrdiff_t)c->pitch};
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
        pixels.x = r->cells->x + window->x * r->of_class->side - r->of_class->x + place % places;
        pixels.y = r->cells->y + window->y * r->of_class->side - r->of_class->y + place / places;
        if (pixels.x >= s->x && pixels.x < s->x + s->width && pixels.y >= s->y && pixels.y < s->y + s->height)
            s->visit(s->context, thread, &pixels);
    }
}

static void advance(void *context, double share)
{
    const cell_run *r = context;
    const int across = r->of_class->side / r->of_class->places;
    r->windows->advance(r->windows->context, share / (across * across));
}

/* Those windows of a row or column whose cells begin at a multiple of side from begin on: the first of
 * them, in cells, and how many there are. */
static int64_t count_windows(int64_t first, int64_t count, int64_t begin, int side, int64_t *from)
{
    *from = -floor_div(begin - first, side);
    return floor_div(first + count - 1 - begin, side) - *from + 1;
}

void tm_cell_frame_search(tm_family_search *s, tm_image images[2], const tm_cell_frame *c, int side,
                          const tm_family_search *windows)
{
    images[0] = image_of(c, c->means);
    images[1] = image_of(c, c->rests);
    s->frame = &images[0];
    s->rests = &images[1];
    s->unit = side * side;
    s->width = count_windows(windows->x, windows->width, c->x, side, &s->x);
    s->height = count_windows(windows->y, windows->height, c->y, side, &s->y);
}

/* Searches the windows of one frame of cells. */
static tm_status search_frame(tm_cpu *cpu, cell_run *r)
{
    const tm_pose_cells *of_class = r->of_class;
    const int more = of_class->places - 1;
    tm_family_search s = {.family = &of_class->family,
                          .context = r,
                          .least = least_of,
                          .visit = visit,
                          .advance = r->windows->advance ? advance : NULL};
    tm_family_search windows = *r->windows;
    tm_image images[2];

    windows.x += of_class->x - more;
    windows.y += of_class->y - more;
    windows.width += more;
    windows.height += more;
    tm_cell_frame_search(&s, images, r->cells, of_class->side, &windows);
    return s.width > 0 && s.height > 0 ? tm_cpu_search_family(cpu, &s) : TM_OK;
}

tm_status tm_pose_search_cells(tm_cpu *cpu, tm_cell_frames *frames, const tm_pose_cells *of_class,
                               const tm_family_search *windows)
{
    const int places = of_class->places, across = of_class->side / places;
    const size_t count = (size_t)(of_class->family.count / (places * places));
    const tm_cell_frame *list = tm_cell_frames_of(frames, windows->frame, of_class->side, places, cpu->threads);
    cell_run r = {windows, of_class, list, malloc((size_t)cpu->threads * count * sizeof *r.members)};
    tm_status status = list && r.members ? TM_OK : TM_ERR_MEMORY;

    for (int i = 0; i < across * across && status == TM_OK; i++) {
        r.cells = &list[i];
        status = search_frame(cpu, &r);
    }
    free(r.members);
    return status;
}
