/* SPDX-License-Identifier: MIT */
/* Text at any size from a font of 5x7 pixels: a pixel and its neighbours are joined by
 * round strokes, one of the font's pixels thick. */
#include <math.h>

#include "draw.h"
#include "font.h"

static bool is_set(const io_glyph *glyph, int x, int y)
{
    return x >= 0 && y >= 0 && x < IO_GLYPH_WIDTH && y < IO_GLYPH_HEIGHT &&
           (glyph->rows[y] >> (IO_GLYPH_WIDTH - 1 - x) & 1);
}

/* Whether a stroke leads from a pixel to a neighbour beside or below it. Slanting strokes do not
 * cut corners. */
static bool is_joined(const io_glyph *glyph, int x, int y, int dx, int dy)
{
    return is_set(glyph, x + dx, y + dy) &&
           (!dx || !dy || (!is_set(glyph, x + dx, y) && !is_set(glyph, x, y + dy)));
}

/* The squared distance from a point to the line between (0, 0) and (dx, dy). */
static float distance_squared(float x, float y, float dx, float dy)
{
    const float length = dx * dx + dy * dy;
    float along = length > 0 ? (x * dx + y * dy) / length : 0;
    along = along < 0 ? 0 : along > 1 ? 1 : along;
    x -= along * dx;
    y -= along * dy;
    return x * x + y * y;
}

/* How much of a pixel is ink. x and y are its middle, counted in the font's pixels, whose
 * middles are whole numbers; scale is pixels of one of them. */
static float ink(const io_glyph *glyph, float x, float y, float scale)
{
    static const int to[][2] = {{0, 0}, {1, 0}, {0, 1}, {1, 1}, {-1, 1}};
    const int column = (int)floorf(x), row = (int)floorf(y);
    float nearest = 4;
    for (int v = row - 1; v <= row + 1; v++)
        for (int u = column - 1; u <= column + 2; u++)
            for (int i = 0; i < 5 && is_set(glyph, u, v); i++)
                if (is_joined(glyph, u, v, to[i][0], to[i][1]))
                    nearest = fminf(nearest, distance_squared(x - (float)u, y - (float)v,
                                                              (float)to[i][0], (float)to[i][1]));
    const float alpha = 0.5f + (0.5f - sqrtf(nearest)) * scale;
    return alpha < 0 ? 0 : alpha > 1 ? 1 : alpha;
}

static float scale_of(int64_t size)
{
    return (float)size / IO_GLYPH_HEIGHT;
}

static int64_t pixels(int64_t units, int64_t size)
{
    return ceil_div(units * size, IO_GLYPH_HEIGHT);
}

static void draw_glyph(io_picture *picture, unsigned char character, int64_t x, int64_t y,
                       int64_t size, io_rgb color)
{
    const io_glyph *glyph = io_find_glyph(character);
    const float scale = scale_of(size);
    const int64_t width = pixels(IO_GLYPH_WIDTH, size);
    const int64_t height = pixels(IO_GLYPH_HEIGHT + glyph->drop, size);
    const io_rect r = io_clipped(io_placed(x, y, width, height), picture);

    for (int64_t v = r.y0; v < r.y1; v++)
        for (int64_t u = r.x0; u < r.x1; u++) {
            const float column = ((float)(u - x) + 0.5f) / scale - 0.5f;
            const float row = ((float)(v - y) + 0.5f) / scale - 0.5f - (float)glyph->drop;
            io_blend(io_pixel(picture, u, v), color, ink(glyph, column, row, scale));
        }
}

static bool continues(char byte)
{
    return (byte & 0xc0) == 0x80;
}

int64_t io_text_width(const char *text, int64_t size)
{
    int64_t letters = 0;
    for (; *text; text++)
        letters += !continues(*text);
    return letters ? letters * pixels(IO_GLYPH_ADVANCE, size) -
                         pixels(IO_GLYPH_ADVANCE - IO_GLYPH_WIDTH, size)
                   : 0;
}

int64_t io_text_descent(int64_t size)
{
    return pixels(IO_GLYPH_DESCENT, size);
}

void io_draw_text(io_picture *picture, int64_t x, int64_t y, int64_t size, io_rgb color,
                  const char *text)
{
    for (; *text; text++) {
        if (continues(*text))
            continue;
        draw_glyph(picture, (unsigned char)*text, x, y, size, color);
        x += pixels(IO_GLYPH_ADVANCE, size);
    }
}
