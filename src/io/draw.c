/* SPDX-License-Identifier: MIT */
#include "draw.h"
#include "font.h"
#include "format.h"
#include "integers.h"

#include <string.h>

typedef struct rect {
    int64_t x0, y0, x1, y1; /* x1 and y1 are outside */
} rect;

/* A line is width pixels of the bright colour between two edges of the dark one;
 * all sizes follow the picture's. */
typedef struct pen {
    int64_t width, edge, line; /* line: all three together */
    int64_t smallest;          /* inside of a box that can still be seen */
    int64_t text;              /* pixels of one pixel of the font */
} pen;

static const io_rgb dark = {{16, 16, 20}}, white = {{255, 255, 255}};

/* Bright ones that the colour-blind tell apart, most of them of Okabe and Ito:
 * https://jfly.uni-koeln.de/color/ */
static const io_rgb colors[] = {{{255, 214, 10}},  {{86, 180, 233}}, {{255, 120, 60}}, {{70, 220, 160}},
                                {{230, 150, 200}}, {{240, 228, 160}}, {{120, 150, 255}}};

enum { LABELLED = 400 }; /* matches, the first ones */

static pen pen_for(const io_picture *picture)
{
    int64_t side = larger(picture->width, picture->height);
    pen p = {.width = larger(1, (side + 250) / 350),
             .text = larger(side < 400 ? 1 : 2, (side + 250) / 450)};
    p.edge = larger(1, p.width / 2);
    p.line = p.width + 2 * p.edge;
    p.smallest = 7 * p.width;
    return p;
}

static rect grown(rect r, int64_t by)
{
    return (rect){r.x0 - by, r.y0 - by, r.x1 + by, r.y1 + by};
}

static rect clipped(rect r, const io_picture *picture)
{
    return (rect){larger(r.x0, 0), larger(r.y0, 0), smaller(r.x1, picture->width),
                  smaller(r.y1, picture->height)};
}

static bool contains(const io_picture *picture, rect r)
{
    return r.x0 >= 0 && r.y0 >= 0 && r.x1 <= picture->width && r.y1 <= picture->height;
}

static uint8_t *pixel(io_picture *picture, int64_t x, int64_t y)
{
    return picture->samples + (y * picture->width + x) * 3;
}

static void fill(io_picture *picture, rect r, io_rgb color)
{
    r = clipped(r, picture);
    for (int64_t y = r.y0; y < r.y1; y++)
        for (int64_t x = r.x0; x < r.x1; x++)
            memcpy(pixel(picture, x, y), color.c, 3);
}

void io_fill(io_picture *picture, int64_t x, int64_t y, int64_t w, int64_t h, io_rgb color)
{
    fill(picture, (rect){x, y, x + w, y + h}, color);
}

/* A band along the inside of r's edge. */
static void draw_ring(io_picture *picture, rect r, int64_t width, io_rgb color)
{
    int64_t x = smaller(width, r.x1 - r.x0), y = smaller(width, r.y1 - r.y0);
    if (x <= 0 || y <= 0)
        return;
    fill(picture, (rect){r.x0, r.y0, r.x1, r.y0 + y}, color);
    fill(picture, (rect){r.x0, r.y1 - y, r.x1, r.y1}, color);
    fill(picture, (rect){r.x0, r.y0, r.x0 + x, r.y1}, color);
    fill(picture, (rect){r.x1 - x, r.y0, r.x1, r.y1}, color);
}

/* From 0 to length: an odd number of equal parts, drawn and left out by turns, so that
 * the first and the last are drawn and corners are whole. Parts are about wanted long. */
static int64_t part_of(int64_t i, int64_t length, int64_t wanted)
{
    const int64_t parts = larger(1, (length / wanted - 1) / 2 * 2 + 1);
    return i * length / parts;
}

/* The same in dashes. */
static void draw_dashes(io_picture *picture, rect r, int64_t width, int64_t dash, io_rgb color)
{
    const int64_t w = r.x1 - r.x0, h = r.y1 - r.y0;
    for (int64_t i = 0, from; (from = part_of(i, w, dash)) < w; i += 2) {
        const int64_t x0 = r.x0 + from, x1 = r.x0 + part_of(i + 1, w, dash);
        fill(picture, (rect){x0, r.y0, x1, r.y0 + smaller(width, h)}, color);
        fill(picture, (rect){x0, r.y1 - smaller(width, h), x1, r.y1}, color);
    }
    for (int64_t i = 0, from; (from = part_of(i, h, dash)) < h; i += 2) {
        const int64_t y0 = r.y0 + from, y1 = r.y0 + part_of(i + 1, h, dash);
        fill(picture, (rect){r.x0, y0, r.x0 + smaller(width, w), y1}, color);
        fill(picture, (rect){r.x1 - smaller(width, w), y0, r.x1, y1}, color);
    }
}

/* Grows the span of a match by a line on both sides. A match too small to be
 * seen gets room around it, and the box may leave the picture; otherwise the
 * line at the picture's edge moves inside, onto the match. */
static void fit_span(int64_t *low, int64_t *high, const pen *p, int64_t size)
{
    int64_t room = p->smallest - (*high - *low);
    int64_t by = p->line + larger(0, (room + 1) / 2);
    *low -= by;
    *high += by;
    if (room <= 0) {
        *low = larger(*low, 0);
        *high = smaller(*high, size);
    }
}

static rect box_around(const io_picture *picture, rect match, const pen *p)
{
    fit_span(&match.x0, &match.x1, p, picture->width);
    fit_span(&match.y0, &match.y1, p, picture->height);
    return match;
}

typedef struct cross {
    rect centre;               /* as wide and high as the arms are thick */
    int64_t near_x, near_y;    /* from the centre to where the arms begin and end */
    int64_t far_x, far_y;
} cross;

/* A cross in the middle; around a small match, four ticks of the box that point
 * at it and leave it free. */
static cross cross_for(rect match, const pen *p)
{
    int64_t w = match.x1 - match.x0, h = match.y1 - match.y0;
    /* Parity: an odd size has its middle in a pixel, an even one between two. */
    int64_t across = p->width + ((w ^ p->width) & 1), down = p->width + ((h ^ p->width) & 1);
    cross c = {.centre.x0 = match.x0 + (w - across) / 2, .centre.y0 = match.y0 + (h - down) / 2};
    c.centre.x1 = c.centre.x0 + across;
    c.centre.y1 = c.centre.y0 + down;
    if (smaller(w, h) < p->smallest) {
        int64_t gap = p->width + p->edge;
        c.near_x = (w - across) / 2 + gap;
        c.near_y = (h - down) / 2 + gap;
        c.far_x = (larger(w, p->smallest) - across) / 2 + p->edge;
        c.far_y = (larger(h, p->smallest) - down) / 2 + p->edge;
    } else {
        c.near_x = -across;
        c.near_y = -down;
        c.far_x = c.far_y = smaller(4 * p->width, smaller(w, h) / 6);
    }
    return c;
}

static void draw_cross(io_picture *picture, const cross *c, int64_t edge, io_rgb color)
{
    rect o = c->centre;
    if (c->near_y < c->far_y) {
        fill(picture, grown((rect){o.x0, o.y0 - c->far_y, o.x1, o.y0 - c->near_y}, edge), color);
        fill(picture, grown((rect){o.x0, o.y1 + c->near_y, o.x1, o.y1 + c->far_y}, edge), color);
    }
    if (c->near_x < c->far_x) {
        fill(picture, grown((rect){o.x0 - c->far_x, o.y0, o.x0 - c->near_x, o.y1}, edge), color);
        fill(picture, grown((rect){o.x1 + c->near_x, o.y0, o.x1 + c->far_x, o.y1}, edge), color);
    }
}

static float bit(const uint8_t *rows, int64_t x, int64_t y)
{
    bool inside = x >= 0 && y >= 0 && x < IO_GLYPH_WIDTH && y < IO_GLYPH_HEIGHT;
    return inside && (rows[y] >> (IO_GLYPH_WIDTH - 1 - x) & 1) ? 1.0f : 0.0f;
}

/* How much of a pixel of a glyph enlarged scale times is ink: the font's bits
 * interpolated and cut at a level, which rounds their corners. */
static float ink(const uint8_t *rows, int64_t x, int64_t y, int64_t scale)
{
    float u = ((float)x + 0.5f) / (float)scale + 0.5f, v = ((float)y + 0.5f) / (float)scale + 0.5f;
    int64_t left = (int64_t)u - 1, top = (int64_t)v - 1;
    float dx = u - (float)(left + 1), dy = v - (float)(top + 1);
    float level = (1 - dy) * ((1 - dx) * bit(rows, left, top) + dx * bit(rows, left + 1, top)) +
                  dy * ((1 - dx) * bit(rows, left, top + 1) + dx * bit(rows, left + 1, top + 1));
    float alpha = (level - 0.4f) * (float)scale * 1.25f + 0.5f;
    return alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
}

/* The whole glyph lies inside the picture. */
static void draw_glyph(io_picture *picture, char character, int64_t x, int64_t y, int64_t scale)
{
    const uint8_t *rows = io_glyph(character);
    for (int64_t j = 0; j < IO_GLYPH_HEIGHT * scale; j++)
        for (int64_t i = 0; i < IO_GLYPH_WIDTH * scale; i++) {
            uint8_t *to = pixel(picture, x + i, y + j);
            float alpha = ink(rows, i, j, scale);
            for (int c = 0; c < 3; c++)
                to[c] = (uint8_t)((float)to[c] + alpha * (float)(white.c[c] - to[c]) + 0.5f);
        }
}

int64_t io_text_width(const char *text, int64_t scale)
{
    return (int64_t)strlen(text) * IO_GLYPH_ADVANCE * scale;
}

void io_draw_text(io_picture *picture, int64_t x, int64_t y, int64_t scale, const char *text)
{
    for (; *text; text++, x += IO_GLYPH_ADVANCE * scale)
        if (contains(picture, (rect){x, y, x + IO_GLYPH_WIDTH * scale, y + IO_GLYPH_HEIGHT * scale}))
            draw_glyph(picture, *text, x, y, scale);
}

static rect placed(int64_t x, int64_t y, int64_t w, int64_t h)
{
    return (rect){x, y, x + w, y + h};
}

/* Around the box, then in its corner. */
enum { PLACES = 5 };
static void list_places(rect places[PLACES], const io_picture *picture, rect box, int64_t w, int64_t h,
                        const pen *p)
{
    int64_t gap = p->edge;
    int64_t x = larger(0, smaller(box.x0, picture->width - w));
    int64_t y = larger(0, smaller(box.y0, picture->height - h));
    places[0] = placed(x, box.y0 - gap - h, w, h);
    places[1] = placed(x, box.y1 + gap, w, h);
    places[2] = placed(box.x1 + gap, y, w, h);
    places[3] = placed(box.x0 - gap - w, y, w, h);
    x = larger(0, smaller(box.x0 + p->line, picture->width - w));
    y = larger(0, smaller(box.y0 + p->line, picture->height - h));
    places[4] = placed(x, y, w, h);
}

static bool meet(rect a, rect b)
{
    return a.x0 < b.x1 && b.x0 < a.x1 && a.y0 < b.y1 && b.y0 < a.y1;
}

/* What labels are kept off. */
typedef struct crowd {
    const io_box *boxes;
    size_t count;
    rect *plates;
    size_t plate_count;
} crowd;

static bool is_free(const crowd *c, rect place, size_t own, const pen *p)
{
    for (size_t i = 0; i < c->plate_count; i++)
        if (meet(place, c->plates[i]))
            return false;
    for (size_t i = 0; i < c->count; i++) {
        const io_box *b = &c->boxes[i];
        if (i != own && meet(place, grown((rect){b->x, b->y, b->x + b->w, b->y + b->h}, p->line)))
            return false;
    }
    return true;
}

/* The first one always has a place for its label. */
static bool find_place(rect *found, const io_picture *picture, rect box, const crowd *c, size_t own,
                       int64_t w, int64_t h, const pen *p)
{
    rect places[PLACES];
    list_places(places, picture, box, w, h, p);
    for (int i = 0; i < PLACES; i++) {
        *found = places[i];
        if (contains(picture, *found) && (is_free(c, *found, own, p) || own == 0))
            return true;
    }
    return own == 0;
}

static void draw_label(io_picture *picture, crowd *c, size_t own, const pen *p)
{
    const io_box *b = &c->boxes[own];
    int64_t length = (int64_t)strlen(b->label);
    /* In pixels of the font: 2 beside the text and 2 above and below it. */
    int64_t columns = length * IO_GLYPH_ADVANCE + 3, rows = IO_GLYPH_HEIGHT + 4;
    int64_t scale = smaller(p->text, smaller(picture->width / columns, picture->height / rows));
    rect plate, box = box_around(picture, (rect){b->x, b->y, b->x + b->w, b->y + b->h}, p);
    if (length == 0 || scale == 0 ||
        !find_place(&plate, picture, clipped(box, picture), c, own, columns * scale, rows * scale, p))
        return;
    fill(picture, plate, dark);
    io_draw_text(picture, plate.x0 + 2 * scale, plate.y0 + 2 * scale, scale, b->label);
    c->plates[c->plate_count++] = plate;
}

static void draw_box(io_picture *picture, const io_box *b, const pen *p)
{
    rect match = {b->x, b->y, b->x + b->w, b->y + b->h}, box = box_around(picture, match, p);
    io_rgb color = colors[b->color % (int)(sizeof colors / sizeof *colors)];
    cross c = cross_for(match, p);
    draw_ring(picture, box, p->line, dark);
    draw_cross(picture, &c, p->edge, dark);
    if (b->weak)
        draw_dashes(picture, grown(box, -p->edge), p->width, 4 * p->line, color);
    else
        draw_ring(picture, grown(box, -p->edge), p->width, color);
    draw_cross(picture, &c, 0, color);
}

void io_draw_matches(io_picture *picture, const io_box *boxes, size_t count)
{
    rect plates[LABELLED];
    crowd c = {.boxes = boxes, .count = count, .plates = plates};
    pen p = pen_for(picture);

    if (count > 1)
        p.text = larger(1, p.text - 1);
    for (size_t i = count; i-- > 0;)
        draw_box(picture, &boxes[i], &p);
    for (size_t i = 0; i < count && i < LABELLED; i++)
        draw_label(picture, &c, i, &p);
}

void io_draw_match(io_picture *picture, int64_t x, int64_t y, int64_t w, int64_t h,
                   const char *label)
{
    io_box box = {.x = x, .y = y, .w = w, .h = h};
    snprintf(box.label, sizeof box.label, "%s", label);
    io_draw_matches(picture, &box, 1);
}
