/* SPDX-License-Identifier: MIT */
/* The parts of a drawing of matches: what marks.c has for all of them, and labels and the legend. */
#ifndef TMATCH_IO_MARKS_H
#define TMATCH_IO_MARKS_H

#include "draw.h"

/* A line is width pixels of the bright colour between two edges of the dark one. */
typedef struct io_pen {
    int64_t width, edge, line; /* line: all three together */
    int64_t smallest;          /* the smallest inside of a box that can still be seen */
} io_pen;

/* With more templates the colours come again, and labels and legend have numbers. */
enum { IO_COLORS = 10 };
io_rgb io_color_of(const io_box *box);

/* The pen for all matches of a drawing. */
io_pen io_pen_for(const io_picture *picture, const io_drawing *drawing);

static inline io_rect io_match_rect(const io_box *box)
{
    return io_placed(box->x, box->y, box->w, box->h);
}

/* The outside of a match's box. Sides that the match hangs over lie outside the picture,
 * as long as one can be seen. */
io_rect io_box_around(const io_picture *picture, const io_box *box, const io_pen *pen);

/* The same for box i of a drawing, which may be turned: what its lines and its mark lie in. */
io_rect io_outline(const io_picture *picture, const io_drawing *drawing, size_t i,
                   const io_pen *pen);

/* A turned box in the picture, whose pixels have whole numbers at their edges. */
typedef struct io_turned {
    double x, y;            /* the match's middle */
    double cosine, sine;    /* where its top edge points to, from left to right */
    double width, height;   /* of the match */
    double sides[4];        /* how far from the middle the lines begin: left, top, right, bottom */
    double tip[3][2];       /* the mark at the top edge */
} io_turned;

io_turned io_turned_box(const io_picture *picture, const io_corners *corners, const io_pen *pen);
io_rect io_turned_bounds(const io_turned *box, const io_pen *pen);

/* The corners of a box that is larger by so much on all sides. */
io_corners io_turned_around(const io_turned *box, const io_pen *pen, int64_t by);

/* Draws the lines, each grown by edge on all sides, with the mark and the middle's cross. */
void io_draw_turned(io_picture *picture, const io_turned *box, const io_pen *pen, bool weak,
                    int64_t edge, io_rgb color);

/* Where dash or gap i of a side begins. Their number is odd, so that the first and the last are
 * dashes and corners are whole; each is about wanted long. */
int64_t io_part_of(int64_t i, int64_t length, int64_t wanted);

/* The length that sizes of lines and letters follow: the longer side, unless the picture is long
 * and narrow. */
static inline int64_t io_extent(const io_picture *picture)
{
    return smaller(larger(picture->width, picture->height),
                   4 * smaller(picture->width, picture->height));
}

/* The height of letters that can be read in a picture of that size. */
int64_t io_text_size_for(const io_picture *picture);

/* Where a box lies. Boxes that would hide each other are a nest, one around the other. */
typedef struct io_place {
    io_rect outline;
    io_corners corners; /* of a turned one */
    io_rect taken;      /* what labels of others must not hide */
    size_t first;       /* the index of the nest's middle box, which may be this one */
    int64_t level;      /* how many boxes it was moved around */
    /* of the whole nest, in its middle box's place: */
    size_t last; /* the index of the outermost box */
    io_rect outer, inner;
} io_place;

/* What labels and legend must not hide. */
typedef struct io_crowd {
    const io_drawing *drawing;
    io_pen pen;
    io_place *places; /* of the drawing's boxes */
    io_rect bounds;  /* what labels stay inside of */
    int64_t text;    /* their size; 0: it follows picture and match */
    io_rect *plates; /* the labels and the legend so far */
    size_t plate_count;
} io_crowd;

/* Sets the crowd's places. False where memory ran out. */
bool io_place_boxes(io_crowd *crowd, const io_picture *picture, io_error *error);

/* Whether a rectangle hides nothing. except: the first of a nest that does not count, or SIZE_MAX. */
bool io_is_free(const io_crowd *crowd, io_rect rect, size_t except);

/* As io_draw_matches, but with the labels inside bounds. text: their size, or 0 for one that
 * follows picture and matches. */
bool io_draw_within(io_picture *picture, const io_drawing *drawing, io_rect bounds, int64_t text,
                    io_error *error);

/* A label; where size is 0 there is none. */
typedef struct io_label {
    io_rect plate;
    int64_t size;
    char text[56];
} io_label;

/* Finds positions for the labels of the first boxes, and adds them to the crowd's plates. */
void io_place_labels(io_label *labels, size_t count, io_crowd *crowd, const io_picture *picture);
void io_draw_label(io_picture *picture, const io_label *label, const io_box *box,
                   const io_pen *pen);

/* io_plan_legend finds a position for the legend before the matches are drawn; io_draw_legend draws
 * it after them, and grows the picture where it has no position inside. Both are false where memory
 * ran out. summary: its last line, or NULL. */
enum { IO_LEGEND_MOST = 24 }; /* how many templates have an entry, the first ones */

typedef struct io_legend_entry {
    io_rgb color;
    bool swatch;
    char text[80];
} io_legend_entry;

typedef struct io_legend {
    io_legend_entry entries[IO_LEGEND_MOST + 2];
    int count;    /* 0: there is no legend */
    int64_t size; /* of the text */
    bool inside;
    io_rect rect;
    int64_t width; /* of its rows, inside; 0: each entry has its own */
} io_legend;

bool io_plan_legend(io_legend *legend, const io_picture *picture, io_crowd *crowd,
                    const char *summary, io_error *error);
bool io_draw_legend(io_picture *picture, const io_legend *legend, io_error *error);

#endif
