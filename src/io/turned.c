/* SPDX-License-Identifier: MIT */
/* Boxes of matches that are turned. */
#include <math.h>

#include "marks.h"

enum { LEFT, TOP, RIGHT, BOTTOM };

/* Shapes are convex, with their points clockwise as seen. */
enum { MOST_POINTS = 4 };

/* From the box's own directions, along its top edge and down from there, to the picture. */
static void place(const io_turned *t, double along, double down, double point[2])
{
    point[0] = t->x + along * t->cosine - down * t->sine;
    point[1] = t->y + along * t->sine + down * t->cosine;
}

/* A side of a shape: ahead * x + down * y + offset is how far a point lies inside of it. */
typedef struct shape_edge {
    double ahead, down, offset;
} shape_edge;

static void find_edges(shape_edge edges[MOST_POINTS], const double (*points)[2], int count, double grown)
{
    for (int i = 0; i < count; i++) {
        const double *a = points[i], *b = points[(i + 1) % count];
        const double length = hypot(b[0] - a[0], b[1] - a[1]);
        const shape_edge e = {(a[1] - b[1]) / length, (b[0] - a[0]) / length, 0};
        edges[i] = (shape_edge){e.ahead, e.down, grown - e.ahead * a[0] - e.down * a[1]};
    }
}

/* Fills the pixels of a row that the shape covers, and a part of those at its edge. */
static void fill_row(io_picture *picture, const shape_edge *edges, int count, int64_t row, io_rgb color)
{
    const double y = (double)row + 0.5;
    double low = 0, high = (double)picture->width;

    for (int i = 0; i < count; i++) {
        const double bound = -(edges[i].down * y + edges[i].offset + 0.5) / edges[i].ahead;
        if (edges[i].ahead > 0)
            low = fmax(low, bound - 0.5);
        else if (edges[i].ahead < 0)
            high = fmin(high, bound + 0.5);
    }
    if (!(low < high))
        return;
    for (int64_t x = (int64_t)low; x < (int64_t)ceil(high); x++) {
        double part = 1;
        for (int i = 0; i < count; i++)
            part = fmin(part, edges[i].ahead * ((double)x + 0.5) + edges[i].down * y +
                                  edges[i].offset + 0.5);
        if (part > 0)
            io_blend(io_pixel(picture, x, row), color, (float)part);
    }
}

static io_rect bounds_of(const double (*points)[2], int count, double grown)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < count; i++)
        for (int k = 0; k < 2; k++) {
            low[k] = fmin(low[k], points[i][k] - grown);
            high[k] = fmax(high[k], points[i][k] + grown);
        }
    return (io_rect){(int64_t)floor(low[0]), (int64_t)floor(low[1]), (int64_t)ceil(high[0]),
                     (int64_t)ceil(high[1])};
}

/* Draws a shape grown on all sides. A sharp corner then reaches further than it grows. */
static void fill(io_picture *picture, const double (*points)[2], int count, double grown,
                 io_rgb color)
{
    const io_rect r = io_clipped(bounds_of(points, count, 3 * grown + 1), picture);
    shape_edge edges[MOST_POINTS];

    find_edges(edges, points, count, grown);
    for (int64_t y = r.y0; y < r.y1; y++)
        fill_row(picture, edges, count, y, color);
}

static void fill_span(io_picture *picture, const io_turned *t, double left, double top,
                      double right, double bottom, double grown, io_rgb color)
{
    double points[MOST_POINTS][2];
    place(t, left, top, points[0]);
    place(t, right, top, points[1]);
    place(t, right, bottom, points[2]);
    place(t, left, bottom, points[3]);
    fill(picture, points, MOST_POINTS, grown, color);
}

static bool is_inside(const io_picture *picture, const double point[2])
{
    return point[0] > 0 && point[1] > 0 && point[0] < (double)picture->width &&
           point[1] < (double)picture->height;
}

/* Lines lie outside the match. Where that is also outside the picture they move inside, onto it. A
 * match too small to be seen gets room around it. */
static void set_sides(io_turned *t, const io_picture *picture, const io_pen *p)
{
    static const int to[4][2] = {{-1, 0}, {0, -1}, {1, 0}, {0, 1}};

    for (int i = 0; i < 4; i++) {
        const double half = (i == LEFT || i == RIGHT ? t->width : t->height) / 2;
        const double far = half + (double)p->line;
        double middle[2];
        place(t, far * to[i][0], far * to[i][1], middle);
        t->sides[i] = half < (double)p->smallest / 2 ? (double)p->smallest / 2
                      : is_inside(picture, middle)   ? half
                                                     : half - (double)p->line;
    }
}

/* A triangle that stands on the top edge; where it would leave the picture, below it. */
static void set_tip(io_turned *t, const io_picture *picture, const io_pen *p)
{
    const double size = 2.0 * (double)p->width + 3;
    double base = -t->sides[TOP] - (double)(p->edge + p->width), point[2];

    place(t, 0, base - size, point);
    if (!is_inside(picture, point))
        base = size - t->sides[TOP];
    place(t, -size, base, t->tip[0]);
    place(t, 0, base - size, t->tip[1]);
    place(t, size, base, t->tip[2]);
}

io_turned io_turned_box(const io_picture *picture, const io_corners *corners, const io_pen *p)
{
    const double (*c)[2] = corners->at;
    const double dx = c[1][0] - c[0][0], dy = c[1][1] - c[0][1];
    io_turned t = {.x = (c[0][0] + c[2][0] + 1) / 2,
                   .y = (c[0][1] + c[2][1] + 1) / 2,
                   .width = hypot(dx, dy),
                   .height = hypot(c[3][0] - c[0][0], c[3][1] - c[0][1])};

    t.cosine = t.width > 0 ? dx / t.width : 1; /* without a width it points to the right */
    t.sine = t.width > 0 ? dy / t.width : 0;
    set_sides(&t, picture, p);
    set_tip(&t, picture, p);
    return t;
}

io_rect io_turned_bounds(const io_turned *t, const io_pen *p)
{
    const double line = (double)p->line;
    double corners[4][2];
    place(t, -t->sides[LEFT] - line, -t->sides[TOP] - line, corners[0]);
    place(t, t->sides[RIGHT] + line, -t->sides[TOP] - line, corners[1]);
    place(t, t->sides[RIGHT] + line, t->sides[BOTTOM] + line, corners[2]);
    place(t, -t->sides[LEFT] - line, t->sides[BOTTOM] + line, corners[3]);
    const io_rect lines = bounds_of(corners, 4, 0);
    const io_rect tip = bounds_of(t->tip, 3, (double)p->edge);
    return (io_rect){smaller(lines.x0, tip.x0), smaller(lines.y0, tip.y0),
                     larger(lines.x1, tip.x1), larger(lines.y1, tip.y1)};
}

io_corners io_turned_around(const io_turned *t, const io_pen *p, int64_t by)
{
    const double x = fmax(t->width, (double)p->smallest) / 2 + (double)by;
    const double y = fmax(t->height, (double)p->smallest) / 2 + (double)by;
    io_corners corners;

    place(t, -x, -y, corners.at[0]);
    place(t, x, -y, corners.at[1]);
    place(t, x, y, corners.at[2]);
    place(t, -x, y, corners.at[3]);
    for (int i = 0; i < 4; i++) { /* the middle of a pixel is a whole number */
        corners.at[i][0] -= 0.5;
        corners.at[i][1] -= 0.5;
    }
    return corners;
}

/* Marks the middle of a match that is large enough not to be hidden by the cross. */
static void draw_cross(io_picture *picture, const io_turned *t, const io_pen *p, double grown,
                       io_rgb color)
{
    const double least = fmin(t->width, t->height), half = (double)p->width / 2;
    const double arm = half + fmin(5 * (double)p->width, least / 12);
    if (least < 60 * (double)p->width)
        return;
    fill_span(picture, t, -arm, -half, arm, half, grown, color);
    fill_span(picture, t, -half, -arm, half, arm, grown, color);
}

static void draw_part(io_picture *picture, const io_turned *t, bool upright, const double across[2],
                      double from, double to, double grown, io_rgb color)
{
    if (upright)
        fill_span(picture, t, across[0], from, across[1], to, grown, color);
    else
        fill_span(picture, t, from, across[0], to, across[1], grown, color);
}

/* A line from one end of a side to the other, or its dashes. across: what it spans the other way. */
static void draw_side(io_picture *picture, const io_turned *t, bool upright, const double across[2],
                      const double ends[2], int64_t dash, double grown, io_rgb color)
{
    const int64_t length = (int64_t)ceil(ends[1] - ends[0]);

    if (dash == 0)
        draw_part(picture, t, upright, across, ends[0], ends[1], grown, color);
    for (int64_t i = 0, from; dash && (from = io_part_of(i, length, dash)) < length; i += 2) {
        const double to = ends[0] + (double)io_part_of(i + 1, length, dash);
        draw_part(picture, t, upright, across, ends[0] + (double)from, fmin(to, ends[1]), grown,
                  color);
    }
}

void io_draw_turned(io_picture *picture, const io_turned *t, const io_pen *p, bool weak,
                    int64_t edge, io_rgb color)
{
    const double grown = (double)edge, near = (double)p->edge, far = near + (double)p->width;
    const double *s = t->sides;
    const double lines[4][2] = {{-s[LEFT] - far, -s[LEFT] - near},
                                {-s[TOP] - far, -s[TOP] - near},
                                {s[RIGHT] + near, s[RIGHT] + far},
                                {s[BOTTOM] + near, s[BOTTOM] + far}};
    const double across[2] = {lines[LEFT][0], lines[RIGHT][1]};
    const double down[2] = {lines[TOP][0], lines[BOTTOM][1]};

    draw_cross(picture, t, p, grown, color);
    for (int i = 0; i < 4; i++) {
        const bool upright = i == LEFT || i == RIGHT;
        draw_side(picture, t, upright, lines[i], upright ? down : across, weak ? 3 * p->line : 0,
                  grown, color);
    }
    fill(picture, t->tip, 3, grown, color);
}
