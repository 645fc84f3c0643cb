/* SPDX-License-Identifier: MIT */
#include "plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "marks.h"

enum { LINE_SIZE = 256, SHORTEST_LINE = 44 };

static const io_rgb faint = {{150, 150, 160}};

/* Where things are on the canvas. s: the size of the text, which all sizes follow. */
typedef struct plot_layout {
    int64_t s, left, top, right, bottom; /* of the picture, without its frame */
    int64_t bar_bottom;
    io_ticks across, down, scores;
    int64_t width, height;
} plot_layout;

/* How much of the text fits in a line: whole words if one fits, else letters, at least one. */
static size_t line_length(const char *text, int64_t size, int64_t width)
{
    char line[LINE_SIZE];
    size_t fits = 0, words = 0;
    for (size_t i = 1; i < sizeof line && text[i - 1]; i++) {
        memcpy(line, text, i);
        line[i] = '\0';
        if (io_text_width(line, size) > width)
            break;
        fits = i;
        if (text[i] == ' ' || text[i] == '\0')
            words = i;
    }
    return words ? words : fits ? fits : 1;
}

/* Draws a paragraph unless canvas is NULL, and returns its height. */
static int64_t draw_paragraph(io_picture *canvas, int64_t x, int64_t y, int64_t size, int64_t width,
                              io_rgb color, const char *text)
{
    const int64_t from = y;
    while (*text) {
        char line[LINE_SIZE];
        const size_t length = line_length(text, size, width);
        memcpy(line, text, length);
        line[length] = '\0';
        if (canvas)
            io_draw_text(canvas, x, y, size, color, line);
        y += 2 * size;
        text += length + strspn(text + length, " ");
    }
    return y - from;
}

static int64_t draw_caption(io_picture *canvas, const io_plot *plot, const plot_layout *l)
{
    int64_t y = l->s;
    for (size_t i = 0; i < plot->paragraphs; i++)
        y += draw_paragraph(canvas, l->s, y, l->s, l->width - 2 * l->s, i ? faint : IO_WHITE,
                            plot->caption[i]);
    return y;
}

static int64_t widest(const io_ticks *t, int64_t size)
{
    char text[IO_TICK_SIZE];
    int64_t width = 0;
    for (int64_t i = 0; i < t->count; i++) {
        io_tick_text(text, t, i);
        width = larger(width, io_text_width(text, size));
    }
    return width;
}

/* The numbers along an axis. Where there is no room for a second one, there is one. */
static io_ticks ticks_of(int64_t from, int64_t positions, double pixels, int64_t room)
{
    const int64_t most = clamp((int64_t)((double)positions * pixels) / room, 2, 10);
    io_ticks t = io_ticks_between((double)from, (double)(from + positions - 1), (int)most);
    if (t.count > 1 && (io_tick(&t, 1) - io_tick(&t, 0)) * pixels < (double)room / 2)
        t.count = 1;
    return t;
}

static plot_layout lay_out(const io_plot *plot)
{
    const io_picture *p = plot->picture;
    plot_layout l = {.s = clamp(larger(p->width, p->height) / 90, 10, 22)};
    const int64_t s = l.s, bar = larger(p->height, 14 * s);
    const double low = fmin(plot->worst, plot->best), high = fmax(plot->worst, plot->best);

    const int64_t across = llround((double)p->width / plot->pixels);
    const int64_t down = llround((double)p->height / plot->pixels);
    l.across = ticks_of(plot->x, across, plot->pixels, 8 * s);
    l.down = ticks_of(plot->y, down, plot->pixels, 5 * s);
    l.scores = io_ticks_between(low, high, (int)clamp(bar / (5 * s), 3, 8));
    l.left = s + widest(&l.down, s) + s + 2;
    l.right = l.left + p->width;
    const int64_t numbers = larger(widest(&l.scores, s), io_text_width("-1.234e9", s));
    l.width = larger(l.right + 2 * s + 3 * s / 2 + s + numbers + s,
                     io_text_width(" ", s) * (SHORTEST_LINE * 6 / 5));
    l.top = draw_caption(NULL, plot, &l) + s;
    l.bottom = l.top + p->height;
    l.bar_bottom = l.top + bar - (plot->gaps ? 3 * s : 0);
    l.height = larger(l.bottom + 4 * s, l.top + bar + s);
    return l;
}

static void draw_positions(io_picture *canvas, const io_plot *plot, const plot_layout *l)
{
    const int64_t s = l->s, tick = s / 2, thick = larger(1, s / 10);
    char text[IO_TICK_SIZE];

    for (int64_t i = 0; i < l->across.count; i++) {
        const double at = (io_tick(&l->across, i) - (double)plot->x + 0.5) * plot->pixels;
        const int64_t x = l->left + (int64_t)at;
        io_tick_text(text, &l->across, i);
        const int64_t width = io_text_width(text, s);
        io_fill(canvas, io_placed(x - thick / 2, l->bottom, thick, tick), faint);
        io_draw_text(canvas, x - width / 2, l->bottom + s, s, faint, text);
    }
    for (int64_t i = 0; i < l->down.count; i++) {
        const double at = (io_tick(&l->down, i) - (double)plot->y + 0.5) * plot->pixels;
        const int64_t y = l->top + (int64_t)at;
        io_tick_text(text, &l->down, i);
        io_fill(canvas, io_placed(l->left - tick, y - thick / 2, tick, thick), faint);
        io_draw_text(canvas, l->left - s - io_text_width(text, s), y - s / 2, s, faint, text);
    }
}

/* The best colour is at the top. */
static void draw_scale(io_picture *canvas, const io_plot *plot, const plot_layout *l)
{
    const int64_t s = l->s, x = l->right + 2 * s, bar = 3 * s / 2, height = l->bar_bottom - l->top;
    const double span = plot->best - plot->worst;
    char text[IO_TICK_SIZE];

    if (plot->gaps) {
        io_fill(canvas, io_placed(x, l->bar_bottom + 2 * s, bar, s), plot->gap);
        io_draw_text(canvas, x + bar + s, l->bar_bottom + 2 * s, s, faint, "no score");
    }
    if (isnan(span))
        return;
    for (int64_t i = 0; i < height; i++)
        io_fill(canvas, io_placed(x, l->top + i, bar, 1),
                plot->color_of(span == 0 ? 1 : (double)(height - 1 - i) / (double)(height - 1)));
    if (span == 0) {
        snprintf(text, sizeof text, "%.4g", plot->best);
        io_draw_text(canvas, x + bar + s, l->top, s, IO_WHITE, text);
    }
    for (int64_t i = 0; i < l->scores.count; i++) {
        const double share = (plot->best - io_tick(&l->scores, i)) / span;
        const int64_t y = l->top + lround(share * (double)(height - 1));
        io_tick_text(text, &l->scores, i);
        io_fill(canvas, io_placed(x + bar, y, s / 2, larger(1, s / 10)), IO_WHITE);
        io_draw_text(canvas, x + bar + s, y - s / 2, s, IO_WHITE, text);
    }
}

static void paste(io_picture *canvas, const plot_layout *l, const io_picture *picture)
{
    for (int64_t y = 0; y < picture->height; y++)
        memcpy(io_pixel(canvas, l->left, l->top + y), picture->samples + y * picture->width * 3,
               (size_t)picture->width * 3);
}

static bool draw_marks(io_picture *canvas, const io_plot *plot, const plot_layout *l, io_error *error)
{
    const size_t count = plot->marks.count;
    io_drawing marks = plot->marks;
    io_box *boxes = calloc(count + 1, sizeof *boxes);

    if (!boxes)
        return io_fail(error, "not enough memory");
    for (size_t i = 0; i < count; i++) {
        boxes[i] = plot->marks.boxes[i];
        boxes[i].x += l->left;
        boxes[i].y += l->top;
    }
    marks.boxes = boxes;
    const io_rect bounds = {l->left, l->top, l->right, l->bottom};
    const bool drawn =
        io_draw_within(canvas, &marks, bounds, larger(IO_SMALLEST_TEXT, l->s * 3 / 4), error);
    free(boxes);
    return drawn;
}

bool io_draw_plot(io_picture *canvas, const io_plot *plot, io_error *error)
{
    const plot_layout l = lay_out(plot);

    *canvas = (io_picture){.width = l.width, .height = l.height, .channels = 3};
    canvas->samples = malloc((size_t)(l.width * l.height) * 3);
    if (!canvas->samples)
        return io_fail(error, "not enough memory");
    io_fill(canvas, io_placed(0, 0, l.width, l.height), IO_DARK);
    draw_caption(canvas, plot, &l);
    paste(canvas, &l, plot->picture);
    draw_positions(canvas, plot, &l);
    draw_scale(canvas, plot, &l);
    return draw_marks(canvas, plot, &l, error);
}
