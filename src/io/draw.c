/* SPDX-License-Identifier: MIT */
/* Matches drawn on a picture: their boxes, with labels and a legend. */
#include <stdlib.h>

#include "format.h"
#include "marks.h"

/* Only so many matches get a label, the first ones. */
enum { LABELLED = 400 };

/* From so many matches on a summary may stand for their labels. */
enum { MANY = 24 };

/* Fills a border of this width along the inside of r's edge. */
static void draw_ring(io_picture *picture, io_rect r, int64_t width, io_rgb color)
{
    const int64_t x = smaller(width, r.x1 - r.x0), y = smaller(width, r.y1 - r.y0);
    if (x <= 0 || y <= 0)
        return;
    io_fill(picture, (io_rect){r.x0, r.y0, r.x1, r.y0 + y}, color);
    io_fill(picture, (io_rect){r.x0, r.y1 - y, r.x1, r.y1}, color);
    io_fill(picture, (io_rect){r.x0, r.y0, r.x0 + x, r.y1}, color);
    io_fill(picture, (io_rect){r.x1 - x, r.y0, r.x1, r.y1}, color);
}

int64_t io_part_of(int64_t i, int64_t length, int64_t wanted)
{
    const int64_t parts = larger(3, (length / wanted - 1) / 2 * 2 + 1);
    return i * length / parts;
}

/* Draws a dashed border; each dash is larger by edge on all sides. */
static void draw_dashes(io_picture *picture, io_rect r, int64_t width, int64_t dash, int64_t edge,
                        io_rgb color)
{
    const int64_t w = r.x1 - r.x0, h = r.y1 - r.y0;
    for (int64_t i = 0, from; (from = io_part_of(i, w, dash)) < w; i += 2) {
        const int64_t x = r.x0 + from, length = io_part_of(i + 1, w, dash) - from;
        io_fill(picture, io_grown(io_placed(x, r.y0, length, width), edge), color);
        io_fill(picture, io_grown(io_placed(x, r.y1 - width, length, width), edge), color);
    }
    for (int64_t i = 0, from; (from = io_part_of(i, h, dash)) < h; i += 2) {
        const int64_t y = r.y0 + from, length = io_part_of(i + 1, h, dash) - from;
        io_fill(picture, io_grown(io_placed(r.x0, y, width, length), edge), color);
        io_fill(picture, io_grown(io_placed(r.x1 - width, y, width, length), edge), color);
    }
}

/* Marks the middle of a match that is large enough not to be hidden by the cross. */
static void draw_cross(io_picture *picture, const io_box *b, const io_pen *p, int64_t edge,
                       io_rgb color)
{
    const int64_t least = smaller(b->w, b->h), arm = smaller(5 * p->width, least / 12);
    if (least < 60 * p->width)
        return;
    /* An odd size has its middle in a pixel, an even one between two: the cross is as odd as the
     * box. */
    const int64_t across = p->width + ((b->w ^ p->width) & 1);
    const int64_t down = p->width + ((b->h ^ p->width) & 1);
    const io_rect middle =
        io_placed(b->x + (b->w - across) / 2, b->y + (b->h - down) / 2, across, down);
    io_fill(picture,
            io_grown((io_rect){middle.x0 - arm, middle.y0, middle.x1 + arm, middle.y1}, edge),
            color);
    io_fill(picture,
            io_grown((io_rect){middle.x0, middle.y0 - arm, middle.x1, middle.y1 + arm}, edge),
            color);
}

/* Those of a nest lie at its outermost box. */
static void draw_labels(io_picture *picture, const io_crowd *crowd, const io_label *labels,
                        size_t labelled, size_t i)
{
    if (i >= labelled && crowd->places[i].first == i)
        return; /* most boxes of many are alone and have none */
    for (size_t k = 0; k < labelled; k++)
        if (labels[k].size && crowd->places[crowd->places[k].first].last == i)
            io_draw_label(picture, &labels[k], &crowd->drawing->boxes[k], &crowd->pen);
}

static void draw_box(io_picture *picture, const io_crowd *crowd, const io_label *labels,
                     size_t labelled, size_t i)
{
    const io_pen *p = &crowd->pen;
    const io_box *b = &crowd->drawing->boxes[i];
    const io_rect box = crowd->places[i].outline, middle = io_grown(box, -p->edge);
    const io_rgb color = io_color_of(b);

    draw_cross(picture, b, p, p->edge, IO_DARK);
    draw_cross(picture, b, p, 0, color);
    /* A label's edge lies under the bright line, not on it. */
    if (!b->weak)
        draw_ring(picture, box, p->line, IO_DARK);
    draw_labels(picture, crowd, labels, labelled, i);
    if (b->weak) {
        draw_dashes(picture, middle, p->width, 3 * p->line, p->edge, IO_DARK);
        draw_dashes(picture, middle, p->width, 3 * p->line, 0, color);
    } else {
        draw_ring(picture, middle, p->width, color);
    }
}

static void draw_turned(io_picture *picture, const io_crowd *crowd, const io_label *labels,
                        size_t labelled, size_t i)
{
    const io_pen *p = &crowd->pen;
    const io_box *b = &crowd->drawing->boxes[i];
    const io_turned box = io_turned_box(picture, &crowd->places[i].corners, p);
    io_draw_turned(picture, &box, p, b->weak, p->edge, IO_DARK);
    draw_labels(picture, crowd, labels, labelled, i);
    io_draw_turned(picture, &box, p, b->weak, 0, io_color_of(b));
}

/* Whether few of many matches have a label. */
static bool is_dense(const io_crowd *crowd, const io_label *labels, size_t labelled)
{
    size_t seen = 0;
    for (size_t i = 0; i < labelled; i++)
        seen += labels[i].size > 0;
    return crowd->drawing->count >= MANY && seen < crowd->drawing->count / 2;
}

/* Where there is a summary to be said, the labels make room for it. */
static bool plan(io_legend *legend, const io_picture *picture, io_crowd *crowd, io_label *labels,
                 size_t labelled, io_error *error)
{
    const char *summary = crowd->drawing->summary;
    if (!io_place_boxes(crowd, picture, error) ||
        !io_plan_legend(legend, picture, crowd, NULL, error))
        return false;
    io_place_labels(labels, labelled, crowd, picture);
    if (!summary || !is_dense(crowd, labels, labelled))
        return true;
    crowd->plate_count = 0;
    if (!io_plan_legend(legend, picture, crowd, summary, error))
        return false;
    io_place_labels(labels, labelled, crowd, picture);
    return true;
}

static void draw_all(io_picture *picture, const io_crowd *crowd, const io_label *labels,
                     size_t labelled)
{
    const io_drawing *drawing = crowd->drawing;
    for (size_t i = drawing->count; i-- > 0;) {
        if (drawing->turned)
            draw_turned(picture, crowd, labels, labelled, i);
        else
            draw_box(picture, crowd, labels, labelled, i);
    }
}

bool io_draw_within(io_picture *picture, const io_drawing *drawing, io_rect bounds, int64_t text,
                    io_error *error)
{
    const size_t labelled = drawing->count < LABELLED ? drawing->count : LABELLED;
    io_label *labels = calloc(labelled + 1, sizeof *labels);
    io_rect *plates = calloc(labelled + 1, sizeof *plates);
    io_place *places = calloc(drawing->count + 1, sizeof *places);
    io_crowd crowd = {.drawing = drawing,
                      .pen = io_pen_for(picture, drawing),
                      .bounds = bounds,
                      .text = text,
                      .places = places,
                      .plates = plates};
    io_legend legend;
    bool good = labels && plates && places ? plan(&legend, picture, &crowd, labels, labelled, error)
                                           : io_fail(error, "not enough memory");
    if (good) {
        draw_all(picture, &crowd, labels, labelled);
        good = io_draw_legend(picture, &legend, error);
    }
    free(places);
    free(plates);
    free(labels);
    return good;
}

bool io_draw_matches(io_picture *picture, const io_drawing *drawing, io_error *error)
{
    return io_draw_within(picture, drawing, io_placed(0, 0, picture->width, picture->height), 0,
                          error);
}
