/* SPDX-License-Identifier: MIT */
#include "match/turned_box.h"

#include <stdlib.h>

#include "integers.h"
#include "lcc/metrics.h"
#include "match/suppress.h"

enum { FIRST_SIZE = 64 };

static int64_t rounded(tm_int128 value)
{
    return (int64_t)((value + (1 << (TM_SINE_BITS - 1))) >> TM_SINE_BITS);
}

tm_turned_box tm_turned_box_make(int64_t width, int64_t height, tm_turn turn, int64_t x, int64_t y)
{
    const tm_int128 c = (tm_int128)tm_cosine(turn.angle) * turn.scale;
    const tm_int128 s = (tm_int128)tm_sine(turn.angle) * turn.scale;
    tm_turned_box box;

    for (int i = 0; i < 4; i++) {
        const int64_t right = i == 1 || i == 2 ? width : -width, down = i >= 2 ? height : -height;
        box.corners[i][0] = x * (TM_BOX_PIXEL / 2) + rounded(right * c + down * s);
        box.corners[i][1] = y * (TM_BOX_PIXEL / 2) + rounded(down * c - right * s);
    }
    return box;
}

static void range_of(const tm_turned_box *box, int axis, int64_t range[2])
{
    range[0] = range[1] = box->corners[0][axis];
    for (int i = 1; i < 4; i++) {
        range[0] = smaller(range[0], box->corners[i][axis]);
        range[1] = larger(range[1], box->corners[i][axis]);
    }
}

void tm_turned_box_bounds(const tm_turned_box *box, int64_t *x, int64_t *y, int64_t *width,
                          int64_t *height)
{
    int64_t *from[2] = {x, y}, *size[2] = {width, height}, range[2];

    for (int axis = 0; axis < 2; axis++) {
        range_of(box, axis, range);
        *from[axis] = floor_div(range[0] + TM_BOX_PIXEL / 2, TM_BOX_PIXEL);
        *size[axis] = -floor_div(-(range[1] + TM_BOX_PIXEL / 2), TM_BOX_PIXEL) - *from[axis];
    }
}

static bool is_upright(const tm_turned_box *box)
{
    return box->corners[0][0] == box->corners[1][0] || box->corners[0][1] == box->corners[1][1];
}

/* Square pixels; exact where they are whole and fewer than 2^41. */
static double area_of(tm_int128 width, tm_int128 height)
{
    return (double)(width * height) / ((double)TM_BOX_PIXEL * (double)TM_BOX_PIXEL);
}

static double upright_area(const tm_turned_box *box)
{
    int64_t x[2], y[2];
    range_of(box, 0, x);
    range_of(box, 1, y);
    return area_of(x[1] - x[0], y[1] - y[0]);
}

static double upright_intersection(const tm_turned_box *a, const tm_turned_box *b)
{
    int64_t sides[2];

    for (int axis = 0; axis < 2; axis++) {
        int64_t one[2], other[2];
        range_of(a, axis, one);
        range_of(b, axis, other);
        sides[axis] = larger(0, smaller(one[1], other[1]) - larger(one[0], other[0]));
    }
    return area_of(sides[0], sides[1]);
}

typedef struct point {
    double x, y;
} point;

/* A convex polygon in pixels. A box that another one cuts has 8 corners at most. */
typedef struct polygon {
    point corners[8];
    int count;
} polygon;

static polygon polygon_of(const tm_turned_box *box, const int64_t origin[2])
{
    polygon p = {.count = 4};
    for (int i = 0; i < 4; i++)
        p.corners[i] = (point){(double)(box->corners[i][0] - origin[0]) / (double)TM_BOX_PIXEL,
                               (double)(box->corners[i][1] - origin[1]) / (double)TM_BOX_PIXEL};
    return p;
}

static double polygon_area(const polygon *p)
{
    double twice = 0;
    for (int i = 1; i + 1 < p->count; i++) {
        const point o = p->corners[0], a = p->corners[i], b = p->corners[i + 1];
        twice += (a.x - o.x) * (b.y - o.y) - (a.y - o.y) * (b.x - o.x);
    }
    return twice / 2;
}

/* How far the point lies on the inner side of the line from a to b, times its length. */
static double side_of(point a, point b, point p)
{
    return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x);
}

static void add(polygon *p, point corner)
{
    if (p->count < 8)
        p->corners[p->count++] = corner;
}

/* What lies on the inner side of a line: Sutherland and Hodgman, Reentrant Polygon Clipping,
 * Communications of the ACM 17 (1974). */
static polygon clip(const polygon *p, point a, point b)
{
    polygon inner = {.count = 0};

    for (int i = 0; i < p->count; i++) {
        const point from = p->corners[i], to = p->corners[(i + 1) % p->count];
        const double d = side_of(a, b, from), e = side_of(a, b, to);
        if (d >= 0)
            add(&inner, from);
        if ((d >= 0) != (e >= 0)) {
            const double t = d / (d - e);
            add(&inner, (point){from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)});
        }
    }
    return inner;
}

/* Coordinates from a corner on, so that roundings do not depend on where the boxes lie. */
static bool turned_overlap(const tm_turned_box *a, const tm_turned_box *b, double overlap)
{
    const polygon one = polygon_of(a, a->corners[0]), other = polygon_of(b, a->corners[0]);
    polygon common = one;

    for (int i = 0; i < 4; i++)
        common = clip(&common, other.corners[i], other.corners[(i + 1) % 4]);
    const double intersection = polygon_area(&common);
    return intersection > overlap * (polygon_area(&one) + polygon_area(&other) - intersection);
}

bool tm_turned_box_overlaps(const tm_turned_box *a, const tm_turned_box *b, double overlap)
{
    if (!is_upright(a) || !is_upright(b))
        return turned_overlap(a, b, overlap);
    const double intersection = upright_intersection(a, b);
    return intersection > overlap * (upright_area(a) + upright_area(b) - intersection);
}

struct tm_turned_entry {
    tm_turned_box box;
    int64_t x, y; /* its cell */
    size_t next;  /* in the chain; SIZE_MAX: none */
};

void tm_turned_taken_init(tm_turned_taken *t, int64_t reach, double overlap)
{
    *t = (tm_turned_taken){.overlap = overlap, .cell = 2 * reach + 1};
}

void tm_turned_taken_free(tm_turned_taken *t)
{
    free(t->entries);
    free(t->heads);
}

static void cell_of(const tm_turned_taken *t, const tm_turned_box *box, int64_t *x, int64_t *y)
{
    *x = floor_div((box->corners[0][0] + box->corners[2][0]) / 2, t->cell);
    *y = floor_div((box->corners[0][1] + box->corners[2][1]) / 2, t->cell);
}

static bool cell_covers(const tm_turned_taken *t, int64_t x, int64_t y, const tm_turned_box *box)
{
    for (size_t i = t->heads[tm_cell_slot(x, y, t->size)]; i != SIZE_MAX; i = t->entries[i].next) {
        const struct tm_turned_entry *e = &t->entries[i];
        if (e->x == x && e->y == y && tm_turned_box_overlaps(&e->box, box, t->overlap))
            return true;
    }
    return false;
}

bool tm_turned_taken_covers(const tm_turned_taken *t, const tm_turned_box *box)
{
    int64_t x, y;

    if (!t->count)
        return false;
    cell_of(t, box, &x, &y);
    for (int64_t v = y - 1; v <= y + 1; v++) {
        for (int64_t u = x - 1; u <= x + 1; u++) {
            if (cell_covers(t, u, v, box))
                return true;
        }
    }
    return false;
}

static void put(tm_turned_taken *t, size_t i)
{
    struct tm_turned_entry *e = &t->entries[i];
    size_t *head = &t->heads[tm_cell_slot(e->x, e->y, t->size)];
    e->next = *head;
    *head = i;
}

static bool grow(tm_turned_taken *t)
{
    const size_t room = t->room ? 2 * t->room : FIRST_SIZE;
    struct tm_turned_entry *entries = realloc(t->entries, room * sizeof *entries);
    if (!entries)
        return false;
    t->entries = entries;
    t->room = room;
    size_t *heads = realloc(t->heads, 2 * room * sizeof *heads);
    if (!heads)
        return false;
    t->heads = heads;
    t->size = 2 * room;
    for (size_t i = 0; i < t->size; i++)
        heads[i] = SIZE_MAX;
    for (size_t i = 0; i < t->count; i++)
        put(t, i);
    return true;
}

bool tm_turned_taken_add(tm_turned_taken *t, const tm_turned_box *box)
{
    if (t->count == t->room && !grow(t))
        return false;
    struct tm_turned_entry *e = &t->entries[t->count];
    e->box = *box;
    cell_of(t, box, &e->x, &e->y);
    put(t, t->count++);
    return true;
}
