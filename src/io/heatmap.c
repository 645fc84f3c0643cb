/* SPDX-License-Identifier: MIT */
/* A score map in colour. Maps that are too large to look at are drawn with a pixel
 * for the best of several positions, so that no peak is lost; small ones enlarged. */
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "font.h"
#include "format.h"
#include "integers.h"
#include "viridis.h"

enum { LARGEST_SIDE = 2000, SMALLEST_SIDE = 480, TICKS = 5 };

static const io_rgb gray = {{128, 128, 128}};

int64_t io_heatmap_reduction(const io_heatmap *h)
{
    return ceil_div(larger(h->width, h->height), LARGEST_SIDE);
}

/* A skipped position has the worst value of its type: NAN here. */
static double value_at(const io_heatmap *h, int64_t x, int64_t y)
{
    const int64_t i = y * h->width + x;
    if (h->integers) {
        const int64_t value = ((const int64_t *)h->values)[i];
        return value == INT64_MIN || value == INT64_MAX ? NAN : (double)value;
    }
    const float value = ((const float *)h->values)[i];
    return fabsf(value) == FLT_MAX ? NAN : (double)value;
}

static double best_of_block(const io_heatmap *h, int64_t x, int64_t y, int64_t size)
{
    double best = NAN;
    for (int64_t v = y; v < smaller(y + size, h->height); v++) {
        for (int64_t u = x; u < smaller(x + size, h->width); u++) {
            const double value = value_at(h, u, v);
            if (!isnan(value) && !(h->least_is_best ? value >= best : value <= best))
                best = value;
        }
    }
    return best;
}

static void find_range(const io_heatmap *h, double *worst, double *best)
{
    *worst = *best = NAN;
    for (int64_t y = 0; y < h->height; y++) {
        for (int64_t x = 0; x < h->width; x++) {
            const double value = value_at(h, x, y);
            if (isnan(value))
                continue;
            if (!(h->least_is_best ? value >= *best : value <= *best))
                *best = value;
            if (!(h->least_is_best ? value <= *worst : value >= *worst))
                *worst = value;
        }
    }
}

static io_rgb color_of(double share)
{
    const long i = lrint(255 * share);
    io_rgb color;
    memcpy(color.c, io_viridis[i < 0 ? 0 : i > 255 ? 255 : i], 3);
    return color;
}

static bool make_picture(io_picture *picture, int64_t width, int64_t height)
{
    *picture = (io_picture){.width = width, .height = height, .channels = 3};
    picture->samples = malloc((size_t)(width * height) * 3);
    return picture->samples != NULL;
}

static bool draw_marks(io_picture *picture, const io_heatmap *h, int64_t reduction,
                       int64_t enlargement)
{
    io_box *boxes = calloc(h->mark_count + 1, sizeof *boxes);
    if (!boxes)
        return false;
    for (size_t i = 0; i < h->mark_count; i++) {
        boxes[i] = h->marks[i];
        boxes[i].x = h->marks[i].x / reduction * enlargement;
        boxes[i].y = h->marks[i].y / reduction * enlargement;
        boxes[i].w = boxes[i].h = enlargement;
    }
    io_error e; io_draw_matches(picture, &(io_drawing){.boxes = boxes, .count = h->mark_count}, &e);
    free(boxes);
    return true;
}

/* With its marks. False if memory ran out. */
static bool draw_map(io_picture *picture, const io_heatmap *h, int64_t reduction,
                     int64_t enlargement, double worst, double best)
{
    const int64_t across = ceil_div(h->width, reduction);
    const int64_t down = ceil_div(h->height, reduction);

    for (int64_t y = 0; y < down; y++) {
        for (int64_t x = 0; x < across; x++) {
            const double value = best_of_block(h, x * reduction, y * reduction, reduction);
            const io_rgb color = isnan(value)    ? gray
                                 : best == worst ? color_of(1)
                                                 : color_of((value - worst) / (best - worst));
            io_fill(picture, io_placed(x * enlargement, y * enlargement, enlargement, enlargement), color);
        }
    }
    return draw_marks(picture, h, reduction, enlargement);
}

/* A bar with the best colour at the top, ticks with numbers, and the scale. */
static void draw_legend(io_picture *canvas, int64_t x, const io_heatmap *h, int64_t reduction,
                        int64_t text, double worst, double best)
{
    const int64_t line = (IO_GLYPH_HEIGHT + 3) * text, bar = 12 * text;
    const int64_t top = 2 * line, bottom = canvas->height - 2 * line;
    char number[32];

    io_draw_text(canvas, x, line / 2, 7 * text, IO_WHITE, h->name);
    for (int64_t y = top; y < bottom; y++)
        io_fill(canvas, io_placed(x, y, bar, 1), color_of((double)(bottom - 1 - y) / (double)(bottom - 1 - top)));
    for (int i = 0; i < TICKS && best != worst; i++) {
        const int64_t y = top + (bottom - 1 - top) * i / (TICKS - 1);
        snprintf(number, sizeof number, "%.3g", best + (worst - best) * i / (TICKS - 1));
        io_fill(canvas, io_placed(x + bar, y, 2 * text, text), IO_WHITE);
        io_draw_text(canvas, x + bar + 6 * text, y - IO_GLYPH_HEIGHT * text / 2, 7 * text, IO_WHITE, number);
    }
    if (best == worst) {
        snprintf(number, sizeof number, "%.3g", best);
        io_draw_text(canvas, x + bar + 6 * text, top - IO_GLYPH_HEIGHT * text / 2, 7 * text, IO_WHITE, number);
    }
    if (reduction > 1) {
        snprintf(number, sizeof number, "1:%" PRId64, reduction);
        io_draw_text(canvas, x, canvas->height - line, 7 * text, IO_WHITE, number);
    }
}

static void paste(io_picture *canvas, const io_picture *picture)
{
    for (int64_t y = 0; y < picture->height; y++)
        memcpy(canvas->samples + y * canvas->width * 3, picture->samples + y * picture->width * 3,
               (size_t)picture->width * 3);
}

bool io_write_heatmap(const char *path, const io_heatmap *h, io_error *error)
{
    const int64_t side = larger(h->width, h->height), reduction = io_heatmap_reduction(h);
    const int64_t enlargement = larger(1, SMALLEST_SIDE / side);
    const int64_t width = ceil_div(h->width, reduction) * enlargement;
    const int64_t height = ceil_div(h->height, reduction) * enlargement;
    const int64_t text = larger(width, height) < 1000 ? 2 : 3;
    const int64_t numbers = 12 * text + 6 * text + io_text_width("-1.23e+12", 7 * text);
    const int64_t gap = 4 * text, legend = larger(numbers, io_text_width(h->name, 7 * text));
    io_picture picture, canvas = {0};
    double worst, best;
    bool written = false;

    find_range(h, &worst, &best);
    if (make_picture(&picture, width, height) &&
        make_picture(&canvas, width + gap + legend + gap, larger(height, 80 * text)) &&
        draw_map(&picture, h, reduction, enlargement, worst, best)) {
        io_fill(&canvas, io_placed(0, 0, canvas.width, canvas.height), IO_DARK);
        paste(&canvas, &picture);
        draw_legend(&canvas, width + gap, h, reduction, text, worst, best);
        written = io_write_picture(path, &canvas, error);
    } else {
        io_fail(error, "not enough memory");
    }
    io_picture_free(&picture);
    io_picture_free(&canvas);
    return written;
}
