/* SPDX-License-Identifier: MIT */
/* The legend of a drawing: which colour stands for which template. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "marks.h"

/* A longer name loses its middle. So many positions are tried along each edge. */
enum { LETTERS = 48, PLACES = 15 };

static void shorten(char *to, size_t size, const char *name)
{
    const size_t length = strlen(name), tail = LETTERS / 2 + 6;
    if (length <= LETTERS)
        snprintf(to, size, "%s", name);
    else
        snprintf(to, size, "%.*s...%s", (int)(LETTERS - 3 - tail), name, name + length - tail);
}

static void add_entry(io_legend *l, const io_drawing *drawing, size_t i)
{
    io_legend_entry *e = &l->entries[l->count++];
    char name[LETTERS + 1];

    *e = (io_legend_entry){.color = io_color_of(&(io_box){.color = (int)i}), .swatch = true};
    shorten(name, sizeof name, drawing->names[i]);
    if (drawing->name_count > IO_COLORS)
        snprintf(e->text, sizeof e->text, "%zu: %s", i + 1, name);
    else
        snprintf(e->text, sizeof e->text, "%s", name);
}

static char *add_line(io_legend *l)
{
    io_legend_entry *e = &l->entries[l->count++];
    *e = (io_legend_entry){.color = IO_WHITE};
    return e->text;
}

/* Lists the templates that have matches. */
static bool list_entries(io_legend *l, const io_drawing *drawing)
{
    bool *seen = calloc(drawing->name_count + 1, sizeof *seen);
    size_t more = 0;

    for (size_t i = 0; seen && i < drawing->count; i++)
        if ((size_t)drawing->boxes[i].color < drawing->name_count)
            seen[drawing->boxes[i].color] = true;
    for (size_t i = 0; seen && i < drawing->name_count; i++) {
        if (seen[i] && l->count < IO_LEGEND_MOST)
            add_entry(l, drawing, i);
        else
            more += seen[i];
    }
    if (more)
        snprintf(add_line(l), sizeof l->entries->text, "and %zu more", more);
    free(seen);
    return seen != NULL;
}

/* Lays the entries out in rows of at most that width, and draws them unless picture is
 * NULL. Returns the size. */
static io_rect lay_out(const io_legend *l, io_picture *picture, int64_t left, int64_t top,
                       int64_t width)
{
    const int64_t s = l->size, pad = s, row = 2 * s;
    const int64_t swatch = l->entries[0].swatch ? 2 * s : 0;
    io_rect all = io_placed(left, top, 0, 0);
    int64_t x = left + pad, y = top + pad;

    for (int i = 0; i < l->count; i++) {
        const io_legend_entry *e = &l->entries[i];
        const int64_t w = swatch + io_text_width(e->text, s);
        if (x > left + pad && x + w + pad > left + width) {
            x = left + pad;
            y += row;
        }
        if (picture && e->swatch)
            io_fill(picture, io_placed(x, y, s * 3 / 2, s), e->color);
        if (picture)
            io_draw_text(picture, x + swatch, y, s, IO_WHITE, e->text);
        all.x1 = larger(all.x1, x + w + pad);
        all.y1 = y + s + larger(pad, io_text_descent(s));
        x += w + 2 * s;
    }
    return all;
}

/* Finds a free position in a corner, else somewhere along an edge. */
static bool find_position(io_rect *found, const io_picture *picture, const io_crowd *crowd, int64_t w,
                       int64_t h)
{
    static const int corners[][2] = {{PLACES, 0}, {0, 0}, {PLACES, PLACES}, {0, PLACES}};
    const int64_t gap = larger(2, io_text_size_for(picture) / 2);
    const int64_t across = picture->width - w - 2 * gap, down = picture->height - h - 2 * gap;

    /* The legend must not hide much of the picture. */
    if (w * 4 > picture->width * 3 || h * 2 > picture->height ||
        w * h * 5 > picture->width * picture->height)
        return false;
    for (int i = 0; i < 4 * PLACES; i++) {
        const int along = i / 4, side = i % 4;
        int x = side < 2    ? along
                : side == 2 ? 0
                            : PLACES,
            y = side >= 2   ? along
                : side == 0 ? 0
                            : PLACES;
        if (along == 0) {
            x = corners[side][0];
            y = corners[side][1];
        }
        *found = io_placed(gap + across * x / PLACES, gap + down * y / PLACES, w, h);
        if (io_is_free(crowd, io_grown(*found, gap), SIZE_MAX))
            return true;
    }
    return false;
}

/* Grows the picture to the right and below; the new part is dark. */
static bool grow(io_picture *picture, int64_t width, int64_t height)
{
    const size_t from = (size_t)picture->width * 3, to = (size_t)width * 3;
    uint8_t *samples = realloc(picture->samples, to * (size_t)height);
    if (!samples)
        return false;
    for (int64_t y = picture->height; y-- > 0 && to != from;)
        memmove(samples + (size_t)y * to, samples + (size_t)y * from, from);
    const int64_t old_width = picture->width, old_height = picture->height;
    picture->samples = samples;
    picture->width = width;
    picture->height = height;
    io_fill(picture, (io_rect){old_width, 0, width, old_height}, IO_DARK);
    io_fill(picture, (io_rect){0, old_height, width, height}, IO_DARK);
    return true;
}

/* Where these are too many, there is no legend. */
static void lie_on_last_rows(io_legend *l, const io_picture *picture)
{
    const io_rect rows = lay_out(l, NULL, 0, 0, picture->width);

    l->inside = rows.x1 <= picture->width && 3 * rows.y1 <= picture->height;
    l->rect = io_placed(0, picture->height - rows.y1, picture->width, rows.y1);
    l->width = picture->width;
    if (!l->inside)
        l->count = 0;
}

bool io_plan_legend(io_legend *l, const io_picture *picture, io_crowd *crowd, const char *summary,
                    io_error *error)
{
    const int64_t text = io_text_size_for(picture);

    *l = (io_legend){.size = larger(smaller(text, 10), 2 * text / 3)};
    if (crowd->drawing->name_count >= 2 && !list_entries(l, crowd->drawing))
        return io_fail(error, "not enough memory");
    if (summary)
        snprintf(add_line(l), sizeof l->entries->text, "%s", summary);
    if (l->count == 0)
        return true;
    const io_rect column = lay_out(l, NULL, 0, 0, 0);
    l->inside = find_position(&l->rect, picture, crowd, column.x1, column.y1);
    if (!l->inside && crowd->drawing->keeps_size)
        lie_on_last_rows(l, picture);
    if (l->inside)
        crowd->plates[crowd->plate_count++] = l->rect;
    return true;
}

bool io_draw_legend(io_picture *picture, const io_legend *l, io_error *error)
{
    if (l->inside) {
        io_fill(picture, l->rect, IO_DARK);
        lay_out(l, picture, l->rect.x0, l->rect.y0, l->width);
    } else if (l->count > 0) {
        const int64_t width = picture->width, below = picture->height;
        const io_rect rows = lay_out(l, NULL, 0, below, width);
        if (!grow(picture, larger(width, rows.x1), rows.y1))
            return io_fail(error, "not enough memory");
        lay_out(l, picture, 0, below, width);
    }
    return true;
}
