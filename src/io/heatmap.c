/* SPDX-License-Identifier: MIT */
/* Scores in colour, by themselves or over the frame. Where there are too many to look at, a
 * pixel stands for the best of several positions, so that no peak is lost; a few are
 * enlarged. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "plot.h"
#include "viridis.h"

enum { LARGEST_SIDE = 2000, SMALLEST_SIDE = 480 };

static const io_rgb gray = {{128, 128, 128}};

/* What is shown, in the frame's positions, and how large. */
typedef struct view {
    int64_t x, y, width, height;
    int64_t reduction, enlargement; /* one of them is 1 */
} view;

static view view_of(const io_heatmap *h)
{
    view v = {h->x, h->y, h->width, h->height, 1, 1};
    if (h->under)
        v = (view){0, 0, h->under->width, h->under->height, 1, 1};
    const int64_t side = larger(v.width, v.height);
    v.reduction = ceil_div(side, LARGEST_SIDE);
    v.enlargement = larger(1, SMALLEST_SIDE / side);
    return v;
}

int64_t io_heatmap_reduction(const io_heatmap *h)
{
    return view_of(h).reduction;
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

/* NAN is worse than any other score. */
static bool is_better(const io_heatmap *h, double value, double than)
{
    return !isnan(value) && !(h->least_is_best ? value >= than : value <= than);
}

/* The best score in a square of positions that one pixel stands for. */
static double best_in(const io_heatmap *h, int64_t x, int64_t y, int64_t size)
{
    double best = NAN;
    for (int64_t v = larger(y - h->y, 0); v < smaller(y - h->y + size, h->height); v++)
        for (int64_t u = larger(x - h->x, 0); u < smaller(x - h->x + size, h->width); u++) {
            const double value = value_at(h, u, v);
            best = is_better(h, value, best) ? value : best;
        }
    return best;
}

io_heat io_heatmap_range(const io_heatmap *h)
{
    io_heat range = {.worst = NAN, .best = NAN};
    for (int64_t y = 0; y < h->height; y++)
        for (int64_t x = 0; x < h->width; x++) {
            const double value = value_at(h, x, y);
            if (isnan(value)) {
                range.gaps = true;
                continue;
            }
            if (isnan(range.worst) || is_better(h, range.worst, value))
                range.worst = value;
            if (is_better(h, value, range.best)) {
                range.best = value;
                range.x = h->x + x;
                range.y = h->y + y;
            }
        }
    return range;
}

static io_rgb color_of(double share)
{
    const long i = isnan(share) ? 0 : lrint(255 * share);
    io_rgb color;
    memcpy(color.c, io_viridis[i < 0 ? 0 : i > 255 ? 255 : i], 3);
    return color;
}

static int64_t mean_of(const io_picture *p, int64_t x, int64_t y, int64_t size)
{
    const int64_t right = smaller(x + size, p->width), bottom = smaller(y + size, p->height);
    int64_t sum = 0;
    for (int64_t v = y; v < bottom; v++)
        for (int64_t u = x; u < right; u++)
            sum += p->samples[v * p->width + u];
    return sum / ((right - x) * (bottom - y));
}

/* The hue is the score's and the brightness the frame's, but the best scores are bright
 * everywhere; where there is none, the frame stays gray. */
static io_rgb blend(int64_t under, double share)
{
    const double brightness = 0.4 + 0.75 * (double)under / 255;
    io_rgb color = color_of(share);
    for (int c = 0; c < 3; c++) {
        const double lit = color.c[c] * (brightness + share * share * (1 - brightness));
        color.c[c] = (uint8_t)(isnan(share) ? (double)(under * 2 / 3) : fmin(255, lit));
    }
    return color;
}

static void draw_scores(io_picture *picture, const io_heatmap *h, const view *v,
                        const io_heat *range)
{
    const double span = range->best - range->worst;
    for (int64_t j = 0; j < picture->height; j += v->enlargement)
        for (int64_t i = 0; i < picture->width; i += v->enlargement) {
            const int64_t x = v->x + i / v->enlargement * v->reduction;
            const int64_t y = v->y + j / v->enlargement * v->reduction;
            const double value = best_in(h, x, y, v->reduction);
            const double share = isnan(value) || span != 0 ? (value - range->worst) / span : 1;
            const io_rgb color = h->under ? blend(mean_of(h->under, x, y, v->reduction), share)
                                 : isnan(value) ? gray
                                                : color_of(share);
            io_fill(picture, io_placed(i, j, v->enlargement, v->enlargement), color);
        }
}

/* Turns boxes from the frame's positions into the picture's pixels. A reduced box has all pixels
 * that it meets. */
static void place_marks(io_box *boxes, const io_heatmap *h, const view *v)
{
    for (size_t i = 0; i < h->mark_count; i++) {
        const io_box *b = &h->marks[i];
        const double scale = (double)v->enlargement / (double)v->reduction;
        const int64_t x = (int64_t)floor((double)(b->x - v->x) * scale);
        const int64_t y = (int64_t)floor((double)(b->y - v->y) * scale);
        boxes[i] = *b;
        boxes[i].w =
            larger(v->enlargement, (int64_t)ceil((double)(b->x - v->x + b->w) * scale) - x);
        boxes[i].h =
            larger(v->enlargement, (int64_t)ceil((double)(b->y - v->y + b->h) * scale) - y);
        boxes[i].x = x;
        boxes[i].y = y;
    }
}

static void place_corners(io_corners *corners, const io_heatmap *h, const view *v)
{
    const double scale = (double)v->enlargement / (double)v->reduction;

    for (size_t i = 0; h->turned && i < h->mark_count; i++)
        for (int k = 0; k < 4; k++) { /* 0 is the middle of the first pixel */
            corners[i].at[k][0] = (h->turned[i].at[k][0] + 0.5 - (double)v->x) * scale - 0.5;
            corners[i].at[k][1] = (h->turned[i].at[k][1] + 0.5 - (double)v->y) * scale - 0.5;
        }
}

/* Boxes on the frame stay inside it, as they do in a drawing of the matches. */
static bool draw_plot(io_picture *canvas, io_picture *picture, const io_heatmap *h, const view *v,
                      const io_drawing *marks, io_error *error)
{
    const io_heat range = io_heatmap_range(h);
    io_plot plot = {.picture = picture,
                    .x = v->x,
                    .y = v->y,
                    .pixels = (double)v->enlargement / (double)v->reduction,
                    .worst = range.worst,
                    .best = range.best,
                    .color_of = color_of,
                    .gaps = range.gaps && !h->under,
                    .gap = gray,
                    .caption = h->caption,
                    .paragraphs = h->paragraphs};
    draw_scores(picture, h, v, &range);
    if (!h->under)
        plot.marks = *marks;
    else if (!io_draw_matches(picture, marks, error))
        return false;
    return io_draw_plot(canvas, &plot, error);
}

bool io_write_heatmap(const char *path, const io_heatmap *h, io_error *error)
{
    const view v = view_of(h);
    io_picture canvas = {0}, picture = {.width = ceil_div(v.width, v.reduction) * v.enlargement,
                                        .height = ceil_div(v.height, v.reduction) * v.enlargement,
                                        .channels = 3};
    io_box *boxes = calloc(h->mark_count + 1, sizeof *boxes);
    io_corners *corners = calloc(h->mark_count + 1, sizeof *corners);
    const io_drawing marks = {.boxes = boxes, .count = h->mark_count, .turned = h->turned ? corners : NULL};
    bool written = false;

    picture.samples = malloc((size_t)(picture.width * picture.height) * 3);
    if (boxes && corners && picture.samples) {
        place_marks(boxes, h, &v);
        place_corners(corners, h, &v);
        written = draw_plot(&canvas, &picture, h, &v, &marks, error) &&
                  io_write_picture(path, &canvas, error);
    } else {
        io_fail(error, "not enough memory");
    }
    free(corners);
    free(boxes);
    io_picture_free(&picture);
    io_picture_free(&canvas);
    return written;
}
