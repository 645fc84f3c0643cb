/* SPDX-License-Identifier: MIT */
/* Labels of matches, and where they lie. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "marks.h"

enum { FEW = 8 };

static int64_t pad_x(int64_t size)
{
    return ceil_div(2 * size, 5);
}

static int64_t pad_y(int64_t size)
{
    return ceil_div(size, 4);
}

static int64_t plate_width(const char *text, int64_t size)
{
    return io_text_width(text, size) + 2 * pad_x(size);
}

/* The smallest letters that a label may have. */
static int64_t least_size(const io_picture *picture)
{
    return larger(IO_SMALLEST_TEXT, io_text_size_for(picture) / 2);
}

/* The largest size at which the text is no wider than the box; where there is none, the label
 * stands aside and need not be so small. Where there are many labels, all are small. */
static int64_t size_for(const char *text, const io_picture *picture, const io_crowd *crowd,
                        size_t own)
{
    const io_pen *p = &crowd->pen;
    const io_box *b = &crowd->drawing->boxes[own];
    const io_rect box = io_grown(io_outline(picture, crowd->drawing, own, p), -p->edge);
    const int64_t most = io_text_size_for(picture), least = least_size(picture);
    const double of_match = 0.35 * (double)smaller(b->w, b->h);
    const int64_t wanted = clamp((int64_t)sqrt((double)most * of_match), least, most);
    int64_t size = wanted;
    if (crowd->text)
        return crowd->text;
    if (crowd->drawing->count > FEW)
        return least;
    while (size > least && plate_width(text, size) > box.x1 - box.x0)
        size--;
    return plate_width(text, size) <= box.x1 - box.x0 ? size : wanted;
}

/* Candidates for a label's position: around the box, touching its line. */
enum { CANDIDATES = 12 };

/* from, or less where a span of that size would leave the bounds. */
static int64_t fitted(int64_t from, int64_t size, int64_t low, int64_t high)
{
    return larger(low, smaller(from, high - size));
}

static void list_candidates(io_rect candidates[CANDIDATES], io_rect box, io_rect bounds, int64_t w, int64_t h,
                        const io_pen *p)
{
    const io_rect b = io_grown(box, -p->edge), in = io_grown(bounds, -p->edge);
    const int64_t xs[] = {b.x0, b.x1 - w, (b.x0 + b.x1 - w) / 2};
    const int64_t ys[] = {b.y0, b.y1 - h, (b.y0 + b.y1 - h) / 2};
    for (int i = 0; i < 3; i++) {
        const int64_t x = fitted(xs[i], w, in.x0, in.x1), y = fitted(ys[i], h, in.y0, in.y1);
        candidates[4 * i] = io_placed(x, b.y0 - h, w, h);
        candidates[4 * i + 1] = io_placed(x, b.y1, w, h);
        candidates[4 * i + 2] = io_placed(b.x1, y, w, h);
        candidates[4 * i + 3] = io_placed(b.x0 - w, y, w, h);
    }
}

/* In the corner of a nest's boxes, where one label may lie below the other. */
static io_rect corner_of(io_rect box, io_rect bounds, int64_t w, int64_t h, int64_t level,
                         const io_pen *p)
{
    const int64_t line = p->edge + p->width, y = box.y0 + line + level * (h + p->edge);
    return io_placed(fitted(box.x0 + line, w, bounds.x0, bounds.x1),
                     fitted(y, h, bounds.y0, bounds.y1), w, h);
}

/* Moves the first four candidates along the outline of a turned box to the corner that is nearest
 * to them, as the outline's own corners are far from the box. */
static void approach(io_rect candidates[CANDIDATES], const io_corners *corners, io_rect bounds)
{
    const double (*c)[2] = corners->at;
    int ends[4] = {0, 0, 0, 0}; /* the uppermost, the lowest, the rightmost, the leftmost */

    for (int i = 1; i < 4; i++) {
        ends[0] = c[i][1] < c[ends[0]][1] ? i : ends[0];
        ends[1] = c[i][1] > c[ends[1]][1] ? i : ends[1];
        ends[2] = c[i][0] > c[ends[2]][0] ? i : ends[2];
        ends[3] = c[i][0] < c[ends[3]][0] ? i : ends[3];
    }
    for (int i = 0; i < 4; i++) {
        io_rect *r = &candidates[i];
        const int64_t w = r->x1 - r->x0, h = r->y1 - r->y0;
        const int64_t x = (int64_t)c[ends[i]][0] - w / 2, y = (int64_t)c[ends[i]][1] - h / 2;
        *r = i < 2 ? io_placed(fitted(x, w, bounds.x0, bounds.x1), r->y0, w, h)
                   : io_placed(r->x0, fitted(y, h, bounds.y0, bounds.y1), w, h);
    }
}

/* Inside the box a label hides some of the match: that is allowed only where the match is large, or
 * alone. */
static bool may_lie_inside(const io_crowd *crowd, const io_picture *picture, const io_box *b,
                           io_rect plate)
{
    const io_rect seen = io_clipped(io_match_rect(b), picture);
    const double area = (double)(seen.x1 - seen.x0) * (double)(seen.y1 - seen.y0);
    return crowd->drawing->count == 1 ||
           area > 8.0 * (double)(plate.x1 - plate.x0) * (double)(plate.y1 - plate.y0);
}

static bool find_position(io_rect *found, const io_picture *picture, const io_crowd *crowd, size_t own,
                       int64_t w, int64_t h)
{
    const io_box *b = &crowd->drawing->boxes[own];
    const io_pen *p = &crowd->pen;
    io_rect candidates[CANDIDATES];
    const io_place *place = &crowd->places[own], *nest = &crowd->places[place->first];
    list_candidates(candidates, io_clipped(nest->outer, picture), crowd->bounds, w, h, p);
    if (crowd->drawing->turned)
        approach(candidates, &crowd->places[nest->last].corners, crowd->bounds);
    for (int i = 0; i < CANDIDATES; i++) {
        *found = candidates[i];
        if (io_holds(crowd->bounds, *found) && !io_meet(*found, io_match_rect(b)) &&
            io_is_free(crowd, io_grown(*found, p->edge), place->first))
            return true;
    }
    *found = corner_of(io_clipped(nest->inner, picture), crowd->bounds, w, h, place->level, p);
    return io_holds(crowd->bounds, *found) && may_lie_inside(crowd, picture, b, *found) &&
           io_is_free(crowd, *found, place->first);
}

static bool place_label(io_label *label, io_crowd *crowd, size_t own, const io_picture *picture,
                        int64_t size)
{
    const int64_t w = plate_width(label->text, size), h = size + 2 * pad_y(size);
    if (!find_position(&label->plate, picture, crowd, own, w, h))
        return false;
    label->size = size;
    crowd->plates[crowd->plate_count++] = label->plate;
    return true;
}

void io_place_labels(io_label *labels, size_t count, io_crowd *crowd, const io_picture *picture)
{
    const bool numbered = crowd->drawing->name_count > IO_COLORS;
    for (size_t i = 0; i < count; i++) {
        const io_box *b = &crowd->drawing->boxes[i];
        io_label *label = &labels[i];
        label->size = 0;
        if (numbered)
            snprintf(label->text, sizeof label->text, "%d: %s", b->color + 1, b->label);
        else
            snprintf(label->text, sizeof label->text, "%s", b->label);
        if (*b->label &&
            !place_label(label, crowd, i, picture, size_for(label->text, picture, crowd, i)))
            place_label(label, crowd, i, picture, least_size(picture));
    }
}

void io_draw_label(io_picture *picture, const io_label *label, const io_box *box, const io_pen *p)
{
    const io_rgb color = io_color_of(box);
    const int64_t x = label->plate.x0 + pad_x(label->size),
                  y = label->plate.y0 + pad_y(label->size);
    io_fill(picture, io_grown(label->plate, p->edge), IO_DARK);
    if (!box->weak)
        io_fill(picture, label->plate, color);
    io_draw_text(picture, x, y, label->size, box->weak ? color : IO_DARK, label->text);
}
