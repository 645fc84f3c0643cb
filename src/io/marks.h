/* SPDX-License-Identifier: MIT */
/* The parts of a drawing of matches. */
#ifndef TMATCH_IO_MARKS_H
#define TMATCH_IO_MARKS_H

#include "draw.h"

/* A line is width pixels of the bright colour between two edges of the dark one. */
typedef struct io_pen {
    int64_t width, edge, line; /* line: all three together */
    int64_t smallest;          /* inside of a box that can still be seen */
} io_pen;

/* After the last the colours come again, and labels and legend have numbers. */
enum { IO_COLORS = 10 };
io_rgb io_color_of(const io_box *box);

/* The same for all matches of a drawing. */
io_pen io_pen_for(const io_picture *picture, const io_drawing *drawing);

static inline io_rect io_match_rect(const io_box *box)
{
    return io_placed(box->x, box->y, box->w, box->h);
}

/* The outside of a match's box. Sides that the match hangs over lie outside the picture,
 * as long as one can be seen. */
io_rect io_box_around(const io_picture *picture, const io_box *box, const io_pen *pen);

/* The side that sizes follow: the longer one, unless the picture is a strip. */
static inline int64_t io_extent(const io_picture *picture)
{
    return smaller(larger(picture->width, picture->height),
                   4 * smaller(picture->width, picture->height));
}

/* The height of letters that can be read in a picture of that size. */
int64_t io_text_size_for(const io_picture *picture);

/* What is not to be hidden. */
typedef struct io_crowd {
    const io_drawing *drawing;
    io_pen pen;
    io_rect bounds;  /* labels stay inside */
    int64_t text;    /* their size; 0: it follows picture and match */
    io_rect *plates; /* labels, and the legend */
    size_t plate_count;
} io_crowd;

/* except: the index of a box that does not count, or SIZE_MAX. */
bool io_is_free(const io_crowd *crowd, io_rect rect, size_t except);

/* io_draw_matches, with the labels inside bounds and of a size, or 0 for one that follows picture
 * and matches. */
bool io_draw_within(io_picture *picture, const io_drawing *drawing, io_rect bounds, int64_t text,
                    io_error *error);

/* A label: nothing where size is 0. */
typedef struct io_label {
    io_rect plate;
    int64_t size;
    char text[56];
} io_label;

/* Finds positions for the labels of the first boxes, and adds them to the crowd's plates. */
void io_place_labels(io_label *labels, size_t count, io_crowd *crowd, const io_picture *picture);
void io_draw_label(io_picture *picture, const io_label *label, const io_box *box,
                   const io_pen *pen);

/* The legend: where it lies, before the rest is drawn; and the drawing of it after that,
 * for which the picture grows where it is not to lie inside. Both are false where memory
 * ran out. */
enum { IO_LEGEND_MOST = 24 }; /* templates, the first ones */

typedef struct io_legend_entry {
    io_rgb color;
    bool swatch;
    char text[80];
} io_legend_entry;

typedef struct io_legend {
    io_legend_entry entries[IO_LEGEND_MOST + 1];
    int count;    /* 0: there is no legend */
    int64_t size; /* of the text */
    bool inside;
    io_rect rect;
} io_legend;

bool io_plan_legend(io_legend *legend, const io_picture *picture, io_crowd *crowd, io_error *error);
bool io_draw_legend(io_picture *picture, const io_legend *legend, io_error *error);

#endif
