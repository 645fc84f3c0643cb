/* SPDX-License-Identifier: MIT */
#include "blank.h"
#include "check.h"
#include "io/marks.h"

#include <stdlib.h>
#include <string.h>

static void draw(io_picture *picture, const io_box *boxes, size_t count)
{
    io_error error;
    const io_drawing drawing = {.boxes = boxes, .count = count};
    CHECK(io_draw_matches(picture, &drawing, &error));
}

static void draw_one(io_picture *picture, int64_t x, int64_t y, int64_t w, int64_t h,
                     const char *label)
{
    io_box box = {.x = x, .y = y, .w = w, .h = h};
    snprintf(box.label, sizeof box.label, "%s", label);
    draw(picture, &box, 1);
}

static void check_drawn(int64_t width, int64_t height, int64_t x, int64_t y, int64_t w, int64_t h,
                        const char *label)
{
    io_picture picture = blank_make(width, height, 128);
    draw_one(&picture, x, y, w, h, label);
    blank_check_and_free(&picture);
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
    static const char *const labels[] = {
        "", "1", "0.997312", "score=0.5 of many others", "\xff\t\xc3\xa4", "-12345678901234"};
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
        io_picture picture = blank_make(200, 150, grounds[i]);
        int darkest = 255, brightest = 0;
        draw_one(&picture, 60, 50, 80, 60, "");
        for (int64_t x = 50; x < 60; x++) { /* across the left side */
            int green = blank_at(&picture, x, 70)[1];
            darkest = green < darkest ? green : darkest;
            brightest = green > brightest ? green : brightest;
        }
        CHECK(darkest < 40 && brightest > 180);
        blank_check_and_free(&picture);
    }
}

/* But where the line has no room outside. */
static void small_match_is_left_free(void)
{
    for (int64_t i = check_cases(300); i > 0; i--) {
        const int64_t width = check_random_in(200, 2500), height = check_random_in(200, 700);
        const int64_t w = check_random_in(1, 59), h = check_random_in(1, 120);
        const int64_t x = check_random_in(20, width - w - 20),
                      y = check_random_in(20, height - h - 20);
        io_picture picture = blank_make(width, height, 90);
        draw_one(&picture, x, y, w, h, "0.1235");
        for (int64_t v = y; v < y + h; v++)
            for (int64_t u = x; u < x + w; u++)
                CHECK(!blank_changed(&picture, u, v, 90));
        blank_check_and_free(&picture);
    }
}

/* Even there. */
static void tiny_match_is_left_free(void)
{
    static const int64_t places[][2] = {{0, 0}, {1997, 0}, {0, 1497}, {1997, 1497}, {900, 700}};
    for (int i = 0; i < 5; i++) {
        io_picture picture = blank_make(2000, 1500, 90);
        int64_t total = 0;
        draw_one(&picture, places[i][0], places[i][1], 3, 3, "");
        for (int64_t y = 0; y < 3; y++)
            for (int64_t x = 0; x < 3; x++)
                CHECK(!blank_changed(&picture, places[i][0] + x, places[i][1] + y, 90));
        for (int64_t y = 0; y < 1500; y++)
            for (int64_t x = 0; x < 2000; x++)
                total += blank_changed(&picture, x, y, 90);
        CHECK(total > 60);
        blank_check_and_free(&picture);
    }
}

/* A button in a screenshot that is looked at scaled down: of a pixel of 3x3 something
 * bright is left, all along the line. */
static void line_follows_the_picture(void)
{
    io_picture picture = blank_make(3840, 2400, 255);
    draw_one(&picture, 2640, 2330, 101, 35, "");
    int64_t yellow = 0;
    for (int64_t x = 2600; x < 2640; x++)
        yellow += blank_at(&picture, x, 2347)[2] == 10;
    CHECK(yellow >= 3 && yellow <= 6);
    blank_check_and_free(&picture);
}

static void large_match_has_a_cross(void)
{
    io_picture picture = blank_make(600, 400, 90);
    int64_t touched = 0;
    draw_one(&picture, 200, 150, 150, 130, "0.1235");
    for (int64_t y = 150; y < 280; y++)
        for (int64_t x = 200; x < 350; x++)
            if (blank_changed(&picture, x, y, 90)) {
                touched++;
                CHECK(x > 255 && x < 295 && y > 195 && y < 235);
            }
    CHECK(touched > 0 && touched < 400);
    blank_check_and_free(&picture);
}

/* The side that lies outside is not drawn at the picture's edge, which would be a lie; but
 * of a match larger than the picture something can be seen. */
static void box_is_open_where_it_hangs_over(void)
{
    io_picture over = blank_make(300, 300, 90), inside = blank_make(300, 300, 90),
               covering = blank_make(300, 300, 90);
    draw_one(&over, -1, 100, 100, 100, "");
    draw_one(&inside, 0, 100, 100, 100, "");
    draw_one(&covering, -10, -20, 1000, 2000, "");
    int64_t line[3] = {0};
    for (int64_t x = 0; x < 50; x++) {
        line[0] += blank_changed(&over, x, 150, 90);
        line[1] += blank_changed(&inside, x, 150, 90);
        line[2] += blank_changed(&covering, x, 170, 90);
    }
    CHECK_EQ(line[0], 0);
    CHECK(line[1] >= 3 && line[2] >= 3);
    CHECK(blank_changed(&over, 0, 98, 90));
    blank_check_and_free(&over);
    blank_check_and_free(&inside);
    blank_check_and_free(&covering);
}

enum { MOST_BOXES = 500 };

static size_t make_boxes(io_box *boxes, const io_picture *picture, size_t most)
{
    const size_t count = (size_t)check_random_in(0, (int64_t)most);
    const int64_t w = check_random_in(1, 80), h = check_random_in(1, 60);
    for (size_t k = 0; k < count; k++) {
        boxes[k] = (io_box){.x = check_random_in(-40, picture->width),
                            .y = check_random_in(-40, picture->height),
                            .w = k % 5 ? w : 7,
                            .h = k % 5 ? h : 300,
                            .color = (int)(k % 13),
                            .weak = k % 3 == 0};
        snprintf(boxes[k].label, sizeof boxes[k].label, "0.%04zu", k);
    }
    return count;
}

/* Nothing is written outside, and another time the same. */
static void many_matches(void)
{
    for (int64_t i = check_cases(1000) / 10; i > 0; i--) {
        const int64_t width = check_random_in(1, 400), height = check_random_in(1, 300);
        io_picture picture = blank_make(width, height, 100), again = blank_make(width, height, 100);
        io_box boxes[MOST_BOXES];
        const size_t count = make_boxes(boxes, &picture, MOST_BOXES);
        draw(&picture, boxes, count);
        draw(&again, boxes, count);
        CHECK(memcmp(picture.samples, again.samples, io_picture_bytes(&picture)) == 0);
        blank_check_and_free(&picture);
        blank_check_and_free(&again);
    }
}

static void check_labels(const io_label *labels, const io_crowd *crowd)
{
    const io_drawing *drawing = crowd->drawing;
    for (size_t i = 0; i < drawing->count; i++) {
        const io_rect own = labels[i].plate;
        const int64_t area = (own.x1 - own.x0) * (own.y1 - own.y0);
        if (!labels[i].size)
            continue;
        CHECK(io_holds(crowd->bounds, own));
        CHECK(io_text_width(labels[i].text, labels[i].size) < own.x1 - own.x0);
        for (size_t k = 0; k < drawing->count; k++) {
            const io_box *b = &drawing->boxes[k];
            CHECK(!io_meet(own, io_match_rect(b)) ||
                  (k == i && (drawing->count == 1 || b->w * b->h > 8 * area)));
            CHECK(k == i || !labels[k].size || !io_meet(own, labels[k].plate));
        }
    }
}

/* Neither a match nor another label. */
static void labels_hide_nothing(void)
{
    for (int64_t i = check_cases(2000); i > 0; i--) {
        const io_picture picture = {.width = check_random_in(30, 1500),
                                    .height = check_random_in(30, 900)};
        io_box boxes[60];
        io_label labels[60];
        io_rect plates[60];
        io_place places[60];
        io_error error;
        io_drawing drawing = {.boxes = boxes, .count = make_boxes(boxes, &picture, 60)};
        io_crowd crowd = {.drawing = &drawing,
                          .pen = io_pen_for(&picture, &drawing),
                          .bounds = {0, 0, picture.width, picture.height},
                          .places = places,
                          .plates = plates};
        CHECK(io_place_boxes(&crowd, &picture, &error));
        io_place_labels(labels, drawing.count, &crowd, &picture);
        check_labels(labels, &crowd);
    }
}

static io_label label_of(int64_t width, int64_t height, io_box box)
{
    const io_picture picture = {.width = width, .height = height};
    io_rect plates[2];
    io_place place;
    io_label label;
    io_error error;
    const io_drawing drawing = {.boxes = &box, .count = 1};
    io_crowd crowd = {.drawing = &drawing,
                      .pen = io_pen_for(&picture, &drawing),
                      .bounds = {0, 0, width, height},
                      .places = &place,
                      .plates = plates};
    CHECK(io_place_boxes(&crowd, &picture, &error));
    io_place_labels(&label, 1, &crowd, &picture);
    return label;
}

/* A lone match has one at every edge, which is no wider than the box where that can be
 * read. */
static void lone_match_has_a_label(void)
{
    static const int64_t places[][2] = {{0, 0},     {540, 0},   {0, 340},   {540, 340},
                                        {270, 0},   {270, 340}, {0, 170},   {540, 170},
                                        {270, 170}, {590, 390}, {-30, -30}, {300, -59}};
    for (int i = 0; i < 12; i++) {
        const io_label label =
            label_of(600, 400, (io_box){places[i][0], places[i][1], 60, 60, 0, false, "0.8642"});
        CHECK(label.size >= 7 && label.plate.x1 - label.plate.x0 <= 66);
    }
    CHECK(label_of(600, 400, (io_box){0, 0, 600, 400, 0, false, "0.8642"}).size > 0);
    CHECK(label_of(600, 400, (io_box){-9, -9, 700, 500, 0, false, "0.8642"}).size > 0);
    CHECK(label_of(600, 400, (io_box){300, 200, 1, 1, 0, false, "0.8642"}).size > 0);
    CHECK_EQ(label_of(30, 20, (io_box){3, 2, 8, 8, 0, false, "0.8642"}).size, 0);
    /* it follows the picture and the match */
    const io_label button = label_of(3840, 2400, (io_box){2640, 2330, 101, 35, 0, false, "1.0000"});
    const io_label window = label_of(3840, 2400, (io_box){600, 300, 900, 700, 0, false, "1.0000"});
    CHECK(button.plate.x1 - button.plate.x0 <= 115);
    CHECK(button.size >= 16 && window.size > button.size && window.size <= 40);
}

static void templates_differ_in_color(void)
{
    io_picture picture = blank_make(500, 400, 100);
    const io_box boxes[] = {{100, 100, 60, 40, 0, false, ""}, {300, 300, 60, 40, 1, false, ""}};
    draw(&picture, boxes, 2);
    CHECK(blank_at(&picture, 98, 120)[0] == 255 && blank_at(&picture, 98, 120)[2] == 10);
    CHECK(blank_at(&picture, 298, 320)[0] == 86 && blank_at(&picture, 298, 320)[2] == 255);
    blank_check_and_free(&picture);
}

/* How many pixels have the colour of each template. */
static void count_colors(const io_picture *picture, int64_t counts[IO_COLORS])
{
    memset(counts, 0, IO_COLORS * sizeof *counts);
    for (int64_t y = 0; y < picture->height; y++)
        for (int64_t x = 0; x < picture->width; x++)
            for (int k = 0; k < IO_COLORS; k++)
                counts[k] += memcmp(blank_at(picture, x, y), io_color_of(&(io_box){.color = k}).c, 3) == 0;
}

/* Of several templates at one place, here or a little beside, all lines are seen. */
static void check_twins(io_box box, int64_t inset, bool turned)
{
    enum { TWINS = 4 };
    io_picture picture = blank_make(400, 300, 90);
    io_box boxes[TWINS];
    io_corners corners[TWINS];
    io_drawing drawing = {
        .boxes = boxes, .count = TWINS, .turned = turned ? corners : NULL};
    io_error error;
    int64_t counts[IO_COLORS];

    for (int i = 0; i < TWINS; i++) {
        boxes[i] = (io_box){box.x + i * inset, box.y + i * inset, box.w - 2 * i * inset,
                            box.h - 2 * i * inset, i, box.weak, ""};
        const double x = (double)(box.x + box.w / 2), y = (double)(box.y + box.h / 2);
        const double r = (double)(box.w / 2 - i * inset);
        corners[i] = (io_corners){{{x, y - r}, {x + r, y}, {x, y + r}, {x - r, y}}};
    }
    CHECK(io_draw_matches(&picture, &drawing, &error));
    count_colors(&picture, counts);
    for (int i = 0; i < TWINS; i++)
        CHECK(counts[i] > box.w);
    blank_check_and_free(&picture);
}

static void twins_are_all_seen(void)
{
    static const io_box boxes[] = {{150, 100, 80, 80, 0, false, ""}, {0, 0, 80, 80, 0, false, ""},
                                   {320, 220, 80, 80, 0, true, ""},  {200, 150, 9, 9, 0, false, ""},
                                   {0, 0, 400, 300, 0, false, ""}};
    for (size_t i = 0; i < sizeof boxes / sizeof *boxes; i++)
        for (int64_t inset = 0; inset < 3; inset += boxes[i].w > 20 ? 1 : 3)
            check_twins(boxes[i], inset, false);
    check_twins(boxes[0], 0, true);
    check_twins(boxes[0], 1, true);
}

static void twins_have_labels(void)
{
    io_box boxes[4];
    io_label labels[4];
    io_rect plates[4];
    io_place places[4];
    io_error error;
    static const io_rect matches[] = {{150, 100, 80, 80}, {0, 0, 60, 60}, {0, 0, 400, 300}};
    for (int i = 0; i < 3; i++) {
        const io_picture picture = {.width = 400, .height = 300};
        const io_rect m = matches[i];
        for (int k = 0; k < 4; k++)
            boxes[k] = (io_box){m.x0, m.y0, m.x1, m.y1, k, false, "1.0000"};
        const io_drawing drawing = {.boxes = boxes, .count = 4};
        io_crowd crowd = {.drawing = &drawing,
                          .pen = io_pen_for(&picture, &drawing),
                          .bounds = {0, 0, 400, 300},
                          .places = places,
                          .plates = plates};
        CHECK(io_place_boxes(&crowd, &picture, &error));
        io_place_labels(labels, 4, &crowd, &picture);
        for (int k = 0; k < 4; k++) {
            CHECK(labels[k].size > 0);
            for (int j = 0; j < k; j++)
                CHECK(!io_meet(labels[j].plate, labels[k].plate));
        }
    }
}

/* Along its upper side; the lines of others are whole. */
static void weak_match_has_a_dashed_box(void)
{
    for (int weak = 0; weak < 2; weak++) {
        io_picture picture = blank_make(600, 400, 90);
        const io_box box = {200, 150, 200, 80, 0, weak, ""};
        int64_t changes = 0;
        draw(&picture, &box, 1);
        int64_t y = 149;
        while (blank_at(&picture, 201, y)[0] != 255)
            y--;
        for (int64_t x = 198; x < 402; x++)
            changes += (blank_at(&picture, x, y)[0] == 255) != (blank_at(&picture, x - 1, y)[0] == 255);
        CHECK(weak ? changes >= 10 : changes == 0);
        blank_check_and_free(&picture);
    }
}

static io_picture make_growable(int64_t width, int64_t height)
{
    io_picture picture = {.width = width, .height = height, .channels = 3};
    picture.samples = malloc((size_t)(width * height * 3));
    memset(picture.samples, 90, (size_t)(width * height * 3));
    return picture;
}

/* Where the legend was drawn: rows of its ground. */
static bool is_dark(const io_picture *picture, int64_t x, int64_t y)
{
    return blank_at(picture, x, y)[0] == 16 && blank_at(picture, x, y)[2] == 20;
}

static void legend_lies_where_no_match_is(void)
{
    const char *const names[] = {"coin.png", "nut.png"};
    io_box boxes[] = {{700, 20, 260, 100, 0, false, ""}, {20, 20, 260, 100, 1, false, ""}};
    io_drawing drawing = {.boxes = boxes, .count = 2, .names = names, .name_count = 2};
    io_error error;
    /* the upper corners are taken: the lower right one */
    io_picture picture = make_growable(1000, 600);
    CHECK(io_draw_matches(&picture, &drawing, &error));
    CHECK(picture.width == 1000 && picture.height == 600);
    CHECK(is_dark(&picture, 990, 590) && !blank_changed(&picture, 10, 590, 90));
    io_picture_free(&picture);
    /* all of it is */
    boxes[0] = (io_box){0, 0, 1000, 600, 0, false, ""};
    picture = make_growable(1000, 600);
    CHECK(io_draw_matches(&picture, &drawing, &error));
    CHECK(picture.width == 1000 && picture.height > 615 && picture.height < 660);
    CHECK(is_dark(&picture, 990, 610) && !blank_changed(&picture, 900, 500, 90));
    io_picture_free(&picture);
    /* nor can it grow: on the last rows */
    drawing.keeps_size = true;
    picture = make_growable(1000, 600);
    CHECK(io_draw_matches(&picture, &drawing, &error));
    CHECK(picture.width == 1000 && picture.height == 600);
    CHECK(is_dark(&picture, 990, 590) && is_dark(&picture, 990, 598) && !blank_changed(&picture, 900, 500, 90));
    io_picture_free(&picture);
    /* which would be most of it: there is none */
    picture = make_growable(200, 24);
    CHECK(io_draw_matches(&picture, &drawing, &error));
    CHECK(picture.width == 200 && picture.height == 24 && !is_dark(&picture, 190, 22));
    io_picture_free(&picture);
    drawing.keeps_size = false;
    /* too narrow for a legend: it grows both ways */
    picture = make_growable(20, 10);
    CHECK(io_draw_matches(&picture, &drawing, &error));
    CHECK(picture.width > 60 && picture.height > 30);
    CHECK(is_dark(&picture, 25, 5));
    io_picture_free(&picture);
    /* one template needs none */
    drawing.name_count = 1;
    boxes[1].color = 0;
    picture = make_growable(20, 10);
    CHECK(io_draw_matches(&picture, &drawing, &error));
    CHECK(picture.width == 20 && picture.height == 10);
    io_picture_free(&picture);
}

/* Where most of many labels have no place, and only there. */
static void summary_stands_for_labels(void)
{
    enum { SIDE = 12, PITCH = 20 };
    io_box boxes[SIDE * SIDE];
    io_drawing drawing = {.boxes = boxes, .summary = "144 matches, scores 0.5000 to 1.0000"};
    io_error error;

    for (int i = 0; i < SIDE * SIDE; i++)
        boxes[i] = (io_box){i % SIDE * PITCH, i / SIDE * PITCH, 16, 16, 0, false, "0.5000"};
    for (size_t count = 1; count <= SIDE * SIDE; count += SIDE * SIDE - 1) {
        io_picture picture = make_growable(SIDE * PITCH, SIDE * PITCH);
        drawing.count = count;
        CHECK(io_draw_matches(&picture, &drawing, &error));
        CHECK((picture.height > SIDE * PITCH) == (count > 1));
        io_picture_free(&picture);
    }
}

/* Many templates, long names, any bytes. */
static void legend_of_anything(void)
{
    enum { TEMPLATES = 60 };
    static char text[TEMPLATES][120];
    const char *names[TEMPLATES];
    for (int64_t i = check_cases(300); i > 0; i--) {
        io_picture picture = make_growable(check_random_in(1, 700), check_random_in(1, 500));
        io_box boxes[TEMPLATES];
        io_drawing drawing = {
            .boxes = boxes, .names = names, .name_count = (size_t)check_random_in(0, TEMPLATES)};
        const int64_t width = picture.width, height = picture.height;
        io_error error;
        for (size_t k = 0; k < drawing.name_count; k++) {
            const int64_t length = check_random_in(0, 119);
            for (int64_t c = 0; c < length; c++)
                text[k][c] = (char)check_random_in(1, 255);
            text[k][length] = '\0';
            names[k] = text[k];
        }
        drawing.count = make_boxes(boxes, &picture, TEMPLATES);
        drawing.keeps_size = i % 2;
        CHECK(io_draw_matches(&picture, &drawing, &error));
        CHECK(picture.width >= width && picture.height >= height);
        CHECK(!drawing.keeps_size || (picture.width == width && picture.height == height));
        io_picture_free(&picture);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_place_in_small_pictures),
        TEST(random_places),
        TEST(line_has_both_tones_on_any_ground),
        TEST(small_match_is_left_free),
        TEST(tiny_match_is_left_free),
        TEST(line_follows_the_picture),
        TEST(large_match_has_a_cross),
        TEST(box_is_open_where_it_hangs_over),
        TEST(many_matches),
        TEST(labels_hide_nothing),
        TEST(lone_match_has_a_label),
        TEST(templates_differ_in_color),
        TEST(twins_are_all_seen),
        TEST(twins_have_labels),
        TEST(weak_match_has_a_dashed_box),
        TEST(legend_lies_where_no_match_is),
        TEST(summary_stands_for_labels),
        TEST(legend_of_anything),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
