/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "io/io.h"

#include <stdlib.h>
#include <string.h>

enum { MARGIN = 4096, POISON = 0xa5 };

/* A picture of one colour between two poisoned margins. */
static io_picture make_picture(int64_t width, int64_t height, uint8_t color)
{
    size_t size = (size_t)(width * height * 3);
    uint8_t *buffer = malloc(size + 2 * MARGIN);
    memset(buffer, POISON, size + 2 * MARGIN);
    memset(buffer + MARGIN, color, size);
    return (io_picture){
        .width = width, .height = height, .channels = 3, .samples = buffer + MARGIN};
}

static void check_margins_and_free(io_picture *picture)
{
    const uint8_t *end = picture->samples + picture->width * picture->height * 3;
    for (int i = 0; i < MARGIN; i++)
        CHECK(picture->samples[i - MARGIN] == POISON && end[i] == POISON);
    free(picture->samples - MARGIN);
}

static const uint8_t *at(const io_picture *picture, int64_t x, int64_t y)
{
    return picture->samples + (y * picture->width + x) * 3;
}

static bool changed(const io_picture *picture, int64_t x, int64_t y, uint8_t color)
{
    const uint8_t *p = at(picture, x, y);
    return p[0] != color || p[1] != color || p[2] != color;
}

static void check_drawn(int64_t width, int64_t height, int64_t x, int64_t y, int64_t w, int64_t h,
                        const char *label)
{
    io_picture picture = make_picture(width, height, 128);
    io_draw_match(&picture, x, y, w, h, label);
    check_margins_and_free(&picture);
}

static void every_place_in_small_pictures(void)
{
    for (int64_t width = 1; width <= 12; width++)
        for (int64_t height = 1; height <= 12; height++)
            for (int64_t w = 1; w <= width; w += 2)
                for (int64_t h = 1; h <= height; h += 2)
                    for (int64_t y = -h + 1; y < height; y++)
                        for (int64_t x = -w + 1; x < width; x++)
                            check_drawn(width, height, x, y, w, h, "0.99");
}

static void random_places(void)
{
    static const char *const labels[] = {"", "1", "0.997312", "score=0.5 of many others",
                                         "\xff\t", "-12345678901234"};
    for (int64_t i = check_cases(3000); i > 0; i--) {
        int64_t width = check_random_in(1, 900), height = check_random_in(1, 60);
        int64_t w = check_random_in(1, 2 * width), h = check_random_in(1, 2 * height);
        check_drawn(width, height, check_random_in(-2 * w, width + w),
                    check_random_in(-2 * h, height + h), w, h, labels[i % 6]);
    }
}

static void line_has_both_tones_on_any_ground(void)
{
    static const uint8_t grounds[] = {0, 60, 128, 200, 255};
    for (size_t i = 0; i < sizeof grounds; i++) {
        io_picture picture = make_picture(200, 150, grounds[i]);
        int darkest = 255, brightest = 0;
        io_draw_match(&picture, 60, 50, 80, 60, "");
        for (int64_t x = 50; x < 60; x++) { /* across the left side */
            int green = at(&picture, x, 70)[1];
            darkest = green < darkest ? green : darkest;
            brightest = green > brightest ? green : brightest;
        }
        CHECK(darkest < 40 && brightest > 180);
        check_margins_and_free(&picture);
    }
}

static void match_itself_stays_visible(void)
{
    io_picture picture = make_picture(600, 400, 90);
    int64_t touched = 0;
    io_draw_match(&picture, 200, 150, 100, 80, "0.123456");
    for (int64_t y = 150; y < 230; y++)
        for (int64_t x = 200; x < 300; x++)
            if (changed(&picture, x, y, 90)) {
                touched++; /* only the cross in the middle */
                CHECK(x > 235 && x < 265 && y > 175 && y < 205);
            }
    CHECK(touched > 0 && touched < 400);
    check_margins_and_free(&picture);
}

static void tiny_match_is_left_free(void)
{
    static const int64_t places[][2] = {{0, 0}, {1997, 0}, {0, 1497}, {1997, 1497}, {900, 700}};
    for (int i = 0; i < 5; i++) {
        io_picture picture = make_picture(2000, 1500, 90);
        int64_t total = 0;
        io_draw_match(&picture, places[i][0], places[i][1], 3, 3, "");
        for (int64_t y = 0; y < 3; y++)
            for (int64_t x = 0; x < 3; x++)
                CHECK(!changed(&picture, places[i][0] + x, places[i][1] + y, 90));
        for (int64_t y = 0; y < 1500; y++)
            for (int64_t x = 0; x < 2000; x++)
                total += changed(&picture, x, y, 90);
        CHECK(total > 400);
        check_margins_and_free(&picture);
    }
}

/* The plate is dark with white text; it never hides the match in a large picture. */
static void label_is_whole_at_every_edge(void)
{
    static const int64_t places[][2] = {{0, 0},     {540, 0},   {0, 340},   {540, 340},
                                        {270, 0},   {270, 340}, {0, 170},   {540, 170},
                                        {270, 170}, {590, 390}, {-30, -30}, {300, -59}};
    int64_t plain = 0;
    for (int i = 0; i < 12; i++) {
        io_picture picture = make_picture(600, 400, 90);
        int64_t white = 0;
        io_draw_match(&picture, places[i][0], places[i][1], 60, 60, "0.8642");
        for (int64_t y = 0; y < 400; y++)
            for (int64_t x = 0; x < 600; x++)
                white += at(&picture, x, y)[2] > 240;
        plain = i == 0 ? white : plain;
        CHECK(white > 100);
        CHECK_EQ(white, plain);
        check_margins_and_free(&picture);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_place_in_small_pictures),
        TEST(random_places),
        TEST(line_has_both_tones_on_any_ground),
        TEST(match_itself_stays_visible),
        TEST(tiny_match_is_left_free),
        TEST(label_is_whole_at_every_edge),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
