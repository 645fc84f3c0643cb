/* SPDX-License-Identifier: MIT */
/* Matches of several templates at the same place, whose boxes would hide each other: they lie one
 * around the other. */
#include <math.h>
#include <stdlib.h>

#include "format.h"
#include "marks.h"

/* Only so many matches are compared with each other, the first ones. */
enum { COMPARED = 4000 };

typedef struct ranked {
    int64_t area;
    size_t index;
} ranked;

/* The smallest first: it lies in the middle. */
static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    return x->area != y->area ? (x->area > y->area ? 1 : -1) : (x->index > y->index ? 1 : -1);
}

/* From a line to the next one around it; they share an edge. */
static int64_t step_of(const io_pen *p)
{
    return p->width + p->edge;
}

static bool is_near(const io_place *a, const io_place *b, bool turned, int64_t step)
{
    for (int i = 0; i < 4 && turned; i++)
        for (int k = 0; k < 2; k++)
            if (!(fabs(a->corners.at[i][k] - b->corners.at[i][k]) < (double)step))
                return false;
    return turned || (llabs(a->outline.x0 - b->outline.x0) < step &&
                      llabs(a->outline.y0 - b->outline.y0) < step &&
                      llabs(a->outline.x1 - b->outline.x1) < step &&
                      llabs(a->outline.y1 - b->outline.y1) < step);
}

/* Around the other box, but at the picture's edge, where there is no room, inside of it. */
static io_rect around(io_rect own, io_rect other, int64_t step, const io_picture *picture)
{
    const int64_t right = picture->width - own.x1, below = picture->height - own.y1;
    return (io_rect){other.x0 + (own.x0 >= 0 && own.x0 < step ? step : -step),
                     other.y0 + (own.y0 >= 0 && own.y0 < step ? step : -step),
                     other.x1 - (right >= 0 && right < step ? step : -step),
                     other.y1 - (below >= 0 && below < step ? step : -step)};
}

static void move_around(io_place *place, const io_place *other, io_rect own, const io_crowd *crowd,
                        const io_picture *picture)
{
    const io_pen *p = &crowd->pen;
    if (crowd->drawing->turned) {
        const io_turned inner = io_turned_box(picture, &other->corners, p);
        place->corners = io_turned_around(&inner, p, step_of(p));
        const io_turned outer = io_turned_box(picture, &place->corners, p);
        place->outline = io_turned_bounds(&outer, p);
    } else {
        place->outline = around(own, other->outline, step_of(p), picture);
    }
    place->taken = place->outline;
    place->first = other->first;
    place->level++;
}

/* Moves a box around the smaller ones that it would hide or be hidden by. */
static void nest(io_crowd *crowd, const io_picture *picture, const ranked *smaller, size_t count,
                 size_t i)
{
    const io_drawing *drawing = crowd->drawing;
    io_place *place = &crowd->places[i];
    const io_rect own = place->outline;

    for (size_t m = 0; m < count && place->level < IO_COLORS - 1; m++) {
        const size_t k = smaller[m].index;
        if ((drawing->boxes[i].color - drawing->boxes[k].color) % IO_COLORS != 0 &&
            is_near(place, &crowd->places[k], drawing->turned, step_of(&crowd->pen)))
            move_around(place, &crowd->places[k], own, crowd, picture);
    }
    io_place *first = &crowd->places[place->first];
    first->last = i;
    first->outer = io_joined(first->outer, place->outline);
    first->inner = io_shared(first->inner, place->outline);
}

bool io_place_boxes(io_crowd *crowd, const io_picture *picture, io_error *error)
{
    const io_drawing *drawing = crowd->drawing;
    const size_t compared = drawing->count < COMPARED ? drawing->count : COMPARED;
    ranked *order = calloc(compared + 1, sizeof *order);
    if (!order)
        return io_fail(error, "not enough memory");
    for (size_t i = 0; i < drawing->count; i++) {
        const io_rect outline = io_outline(picture, drawing, i, &crowd->pen);
        crowd->places[i] = (io_place){
            .outline = outline,
            .taken = io_grown(io_match_rect(&drawing->boxes[i]), crowd->pen.line),
            .first = i,
            .last = i,
            .outer = outline,
            .inner = outline};
        if (drawing->turned)
            crowd->places[i].corners = drawing->turned[i];
        if (i < compared)
            order[i] = (ranked){drawing->boxes[i].w * drawing->boxes[i].h, i};
    }
    qsort(order, compared, sizeof *order, compare);
    for (size_t n = 0; n < compared; n++)
        nest(crowd, picture, order, n, order[n].index);
    free(order);
    return true;
}
