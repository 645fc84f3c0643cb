/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "io/io.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Whatever the matches: nothing is written outside, the last box is not on top of
 * the first, and no label on another. */
static void many_matches(void)
{
    for (int64_t i = check_cases(1000) / 10; i > 0; i--) {
        io_picture picture = make_picture(check_random_in(1, 400), check_random_in(1, 300), 100);
        io_box boxes[50] = {{0}};
        const size_t count = (size_t)check_random_in(0, 50);
        for (size_t k = 0; k < count; k++) {
            boxes[k] = (io_box){check_random_in(-40, picture.width), check_random_in(-40, picture.height),
                                check_random_in(1, 80), check_random_in(1, 60), (int)(k % 9), k % 3 == 0, ""};
            snprintf(boxes[k].label, sizeof boxes[k].label, "%zu", 10 * k);
        }
        io_draw_matches(&picture, boxes, count);
        check_margins_and_free(&picture);
    }
}

static void labels_keep_apart(void)
{
    io_picture alone = make_picture(500, 400, 100), both = make_picture(500, 400, 100);
    const io_box boxes[] = {{100, 100, 60, 40, 0, false, "0.9000"},
                            {104, 103, 60, 40, 0, false, "0.8000"}, /* no place of its own but below */
                            {300, 300, 60, 40, 1, false, "0.7000"}};
    int white[2] = {0, 0};
    io_draw_matches(&alone, boxes + 2, 1);
    io_draw_matches(&both, boxes, 3);
    for (int64_t y = 0; y < 400; y++)
        for (int64_t x = 0; x < 500; x++) {
            white[0] += at(&alone, x, y)[2] == 255 && at(&alone, x, y)[0] == 255;
            white[1] += at(&both, x, y)[2] == 255 && at(&both, x, y)[0] == 255;
        }
    CHECK(white[1] > 0 && white[0] > 0);
    /* the first template's lines are yellow, the second's blue */
    CHECK(at(&both, 100, 120)[0] == 255 || at(&both, 99, 120)[0] == 255 || at(&both, 98, 120)[0] == 255);
    CHECK(at(&both, 299, 320)[0] == 86 || at(&both, 298, 320)[0] == 86);
    check_margins_and_free(&alone);
    check_margins_and_free(&both);
}

/* Along its upper side; the lines of others are whole. */
static void weak_match_has_a_dashed_box(void)
{
    for (int weak = 0; weak < 2; weak++) {
        io_picture picture = make_picture(600, 400, 90);
        const io_box box = {200, 150, 200, 80, 0, weak, ""};
        int64_t changes = 0;
        io_draw_matches(&picture, &box, 1);
        int64_t y = 149;
        while (at(&picture, 201, y)[0] != 255)
            y--;
        for (int64_t x = 198; x < 402; x++)
            changes += (at(&picture, x, y)[0] == 255) != (at(&picture, x - 1, y)[0] == 255);
        CHECK_EQ(changes, weak ? 10 : 0);
        check_margins_and_free(&picture);
    }
}

static io_picture heatmap(const io_heatmap *map)
{
    char path[] = "/tmp/tmatch-test-XXXXXX.png";
    io_picture picture;
    io_source source;
    io_error error;
    const io_limits limits = {1 << 28};
    const int file = mkstemps(path, 4);
    CHECK(file >= 0);
    close(file);
    if (!io_write_heatmap(path, map, &error) || !io_source_open(&source, path, &error) ||
        !io_decode(&source, IO_RGB, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    io_source_close(&source);
    unlink(path);
    return picture;
}

static bool has_color(const io_picture *picture, int64_t x, int64_t y, int r, int g, int b)
{
    const uint8_t *p = at(picture, x, y);
    return p[0] == r && p[1] == g && p[2] == b;
}

/* The ends of viridis, and gray where there is no score. */
static void heatmap_has_the_ends_of_the_scale(void)
{
    const float values[] = {-0.5f, 0.25f, 1.0f, -FLT_MAX};
    const int64_t sums[] = {7, 9, 12, INT64_MAX};
    io_heatmap map = {.width = 2, .height = 2, .values = values, .name = "lcc"};
    io_picture picture = heatmap(&map);
    CHECK(picture.height == 480 && picture.width > 480);
    CHECK(has_color(&picture, 100, 100, 68, 1, 84));
    CHECK(has_color(&picture, 100, 400, 253, 231, 37));
    CHECK(has_color(&picture, 400, 400, 128, 128, 128));
    io_picture_free(&picture);
    /* a distance: the least is the best */
    map.values = sums;
    map.integers = map.least_is_best = true;
    picture = heatmap(&map);
    CHECK(has_color(&picture, 100, 100, 253, 231, 37));
    CHECK(has_color(&picture, 100, 400, 68, 1, 84));
    CHECK(has_color(&picture, 400, 400, 128, 128, 128));
    io_picture_free(&picture);
}

/* All scores are the best one. */
static void flat_heatmap_is_the_best_color(void)
{
    const float values[] = {1, 1};
    const io_heatmap map = {.width = 2, .height = 1, .values = values, .name = "lcc"};
    io_picture picture = heatmap(&map);
    CHECK(has_color(&picture, 100, 100, 253, 231, 37));
    io_picture_free(&picture);
}

/* The last letter of the longest name is drawn. */
static void heatmap_has_room_for_its_name(void)
{
    const float values[] = {0, 1};
    io_heatmap map = {.width = 2, .height = 1, .values = values, .name = "sqdiff_normed"};
    io_picture whole = heatmap(&map);
    map.name = "sqdiff_norme ";
    io_picture cut = heatmap(&map);
    CHECK_EQ(whole.width, cut.width);
    CHECK(memcmp(whole.samples, cut.samples, io_picture_bytes(&whole)) != 0);
    io_picture_free(&whole);
    io_picture_free(&cut);
}

/* One good position among millions is still there. */
static void large_heatmap_keeps_the_peak(void)
{
    io_heatmap map = {.width = 6100, .height = 37, .name = "lcc"};
    float *values = calloc((size_t)(map.width * map.height), sizeof *values);
    CHECK(values);
    values[20 * map.width + 4321] = 1;
    map.values = values;
    CHECK_EQ(io_heatmap_reduction(&map), 4);
    io_picture picture = heatmap(&map);
    CHECK(picture.width >= 1525 && picture.width < 2000);
    CHECK(has_color(&picture, 4321 / 4, 20 / 4, 253, 231, 37));
    CHECK(has_color(&picture, 4321 / 4 - 1, 20 / 4, 68, 1, 84));
    io_picture_free(&picture);
    free(values);
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
        TEST(many_matches),
        TEST(labels_keep_apart),
        TEST(weak_match_has_a_dashed_box),
        TEST(heatmap_has_the_ends_of_the_scale),
        TEST(flat_heatmap_is_the_best_color),
        TEST(heatmap_has_room_for_its_name),
        TEST(large_heatmap_keeps_the_peak),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
