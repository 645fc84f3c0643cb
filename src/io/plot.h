/* SPDX-License-Identifier: MIT */
/* A picture with a caption above it, positions beside and below, and a scale of colours. */
#ifndef TMATCH_IO_PLOT_H
#define TMATCH_IO_PLOT_H

#include "draw.h"

/* Round numbers along an axis: mantissa, which is 1, 2 or 5, times 10^exponent, times from, from +
 * 1 and so on. */
typedef struct io_ticks {
    int64_t from, count;
    int mantissa, exponent;
} io_ticks;

/* As many as fit from low to high, but no more than most, which is 2 or more. None where low is
 * high, or not finite. */
io_ticks io_ticks_between(double low, double high, int most);
double io_tick(const io_ticks *ticks, int64_t i);
enum { IO_TICK_SIZE = 32 };
void io_tick_text(char text[IO_TICK_SIZE], const io_ticks *ticks, int64_t i);

typedef struct io_plot {
    const io_picture *picture;        /* RGB */
    int64_t x, y;                     /* the position in its upper left corner */
    double pixels;                    /* how many pixels wide a position is */
    double worst, best;               /* the ends of the scale; NAN: there is none */
    io_rgb (*color_of)(double share); /* share: from 0, the worst, to 1, the best */
    bool gaps;                        /* some positions have no score, and have the color of gaps: */
    io_rgb gap;
    const char *const *caption; /* paragraphs */
    size_t paragraphs;
    io_drawing marks; /* in the picture's pixels; not cut where they hang over its edge */
} io_plot;

/* Makes the canvas, to be freed. False where memory ran out. */
bool io_draw_plot(io_picture *canvas, const io_plot *plot, io_error *error);

#endif
