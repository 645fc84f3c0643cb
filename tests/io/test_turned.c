/* SPDX-License-Identifier: MIT */
/* Turned boxes in drawings. */
#include "blank.h"
#include "check.h"
#include "io/marks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { GROUND = 128 };

/* A box of that size about its middle, turned counter-clockwise. */
static io_corners corners_of(double x, double y, double w, double h, double degrees)
{
    const double angle = degrees * acos(-1) / 180, c = cos(angle), s = sin(angle);
    io_corners corners;
    for (int i = 0; i < 4; i++) {
        const double u = (i == 1 || i == 2 ? w : -w) / 2, v = (i >= 2 ? h : -h) / 2;
        corners.at[i][0] = x + u * c + v * s;
        corners.at[i][1] = y - u * s + v * c;
    }
    return corners;
}

static io_box box_around(const io_corners *corners)
{
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int i = 0; i < 8; i++) {
        low[i % 2] = fmin(low[i % 2], corners->at[i / 2][i % 2]);
        high[i % 2] = fmax(high[i % 2], corners->at[i / 2][i % 2]);
    }
    io_box box = {.x = (int64_t)floor(low[0] + 0.5), .y = (int64_t)floor(low[1] + 0.5)};
    box.w = (int64_t)ceil(high[0] + 0.5) - box.x;
    box.h = (int64_t)ceil(high[1] + 0.5) - box.y;
    return box;
}

static void draw_one(io_picture *picture, const io_corners *corners, bool weak, const char *label)
{
    io_error error;
    io_box box = box_around(corners);
    const io_drawing drawing = {.boxes = &box, .count = 1, .turned = corners};

    box.weak = weak;
    snprintf(box.label, sizeof box.label, "%s", label);
    CHECK(io_draw_matches(picture, &drawing, &error));
}

static void any_place_stays_in_the_picture(void)
{
    for (int64_t i = check_cases(3000); i > 0; i--) {
        const int64_t width = check_random_in(1, 300), height = check_random_in(1, 200);
        io_picture picture = blank_make(width, height, GROUND);
        const io_corners corners = corners_of(
            (double)check_random_in(-100, width + 100), (double)check_random_in(-100, height + 100),
            (double)check_random_in(1, 4000) / 20, (double)check_random_in(1, 4000) / 20,
            (double)check_random_in(-7200, 7200) / 20);
        draw_one(&picture, &corners, i % 2, i % 3 ? "0.9731" : "");
        blank_check_and_free(&picture);
    }
}

/* No pose of a template is like that, but io.h does not forbid it. */
static void boxes_without_size_are_drawn(void)
{
    for (int i = 0; i < 6; i++) {
        io_picture picture = blank_make(200, 200, GROUND);
        const io_corners corners =
            corners_of(100, 100, i % 3 == 0 ? 40 : 0, i % 3 == 1 ? 40 : 0, i < 3 ? 0 : 30);
        int64_t count = 0;
        draw_one(&picture, &corners, i % 2, "0.9731");
        for (int64_t k = 0; k < 60 * 60; k++)
            count += blank_changed(&picture, 70 + k % 60, 70 + k / 60, GROUND);
        CHECK(count > 30);
        blank_check_and_free(&picture);
    }
}

/* Quarter turns have sharp lines beside the match's pixels. */
static void quarter_turns_leave_the_match_free(void)
{
    for (int64_t i = check_cases(300); i > 0; i--) {
        const int64_t w = check_random_in(20, 59), h = check_random_in(20, 59), quarter = i % 4;
        const int64_t across = quarter % 2 ? h : w, down = quarter % 2 ? w : h;
        const int64_t x = check_random_in(20, 100), y = check_random_in(20, 100);
        io_picture picture = blank_make(220, 200, GROUND);
        const io_corners corners =
            corners_of((double)x + (double)(across - 1) / 2, (double)y + (double)(down - 1) / 2,
                       (double)w, (double)h, 90.0 * (double)quarter);
        draw_one(&picture, &corners, false, "");
        for (int64_t v = y; v < y + down; v++)
            for (int64_t u = x; u < x + across; u++)
                CHECK(!blank_changed(&picture, u, v, GROUND));
        CHECK(blank_changed(&picture, x - 1, y - 1, GROUND));
        CHECK(blank_changed(&picture, x + across, y + down, GROUND));
        blank_check_and_free(&picture);
    }
}

/* The mark stands on the side that the template's top edge is turned to. */
static void top_edge_is_marked(void)
{
    static const int to[4][2] = {{0, -1}, {-1, 0}, {0, 1}, {1, 0}};
    for (int quarter = 0; quarter < 4; quarter++) {
        io_picture picture = blank_make(200, 200, GROUND);
        const io_corners corners = corners_of(99.5, 99.5, 80, 80, 90 * quarter);
        draw_one(&picture, &corners, false, "");
        for (int k = 0; k < 4; k++) /* the line is 3 pixels wide, the mark stands out further */
            CHECK_EQ(blank_changed(&picture, 100 + 45 * to[k][0], 100 + 45 * to[k][1], GROUND),
                     k == quarter);
        blank_check_and_free(&picture);
    }
}

static void label_is_near(void)
{
    const io_corners corners = corners_of(300, 200, 100, 100, 45);
    const io_box box = {.label = "0.9731", .x = 229, .y = 129, .w = 143, .h = 143};
    io_picture picture = blank_make(600, 400, GROUND);
    const io_drawing drawing = {.boxes = &box, .count = 1, .turned = &corners};
    io_rect plate = {0};
    io_place place;
    io_crowd crowd = {.drawing = &drawing, .pen = io_pen_for(&picture, &drawing),
                      .bounds = io_placed(0, 0, 600, 400), .places = &place, .plates = &plate};
    io_label label;
    io_error error;

    CHECK(io_place_boxes(&crowd, &picture, &error));
    io_place_labels(&label, 1, &crowd, &picture);
    CHECK(label.size > 0);
    CHECK(label.plate.x0 < 300 && label.plate.x1 > 300 && label.plate.y1 < 130);
    blank_check_and_free(&picture);
}

/* Quarter turns take the pixels as they are. */
static void cut_of_quarter_turn_is_exact(void)
{
    static const int first[4][2] = {{30, 20}, {30, 24}, {36, 24}, {36, 20}};
    io_picture picture = blank_make(60, 50, GROUND), cut;
    io_error error;

    for (int i = 0; i < 60 * 50 * 3; i++)
        picture.samples[i] = (uint8_t)(i * 7 / 3);
    for (int quarter = 0; quarter < 4; quarter++) {
        const int64_t w = quarter % 2 ? 5 : 7, h = quarter % 2 ? 7 : 5;
        const io_corners corners = corners_of(33, 22, (double)w, (double)h, 90 * quarter);
        CHECK(io_cut_upright(&picture, &corners, w, h, &cut, &error));
        CHECK(memcmp(cut.samples, picture.samples + (first[quarter][1] * 60 + first[quarter][0]) * 3,
                     3) == 0);
        const int *last = first[(quarter + 2) % 4];
        CHECK(memcmp(cut.samples + (w * h - 1) * 3, picture.samples + (last[1] * 60 + last[0]) * 3,
                     3) == 0);
        io_picture_free(&cut);
    }
    blank_check_and_free(&picture);
}

static void cut_goes_on_outside_the_picture(void)
{
    io_picture picture = blank_make(20, 20, GROUND), cut;
    const io_corners corners = corners_of(2, 3, 40, 30, 33);
    io_error error;

    CHECK(io_cut_upright(&picture, &corners, 40, 30, &cut, &error));
    for (int i = 0; i < 40 * 30 * 3; i++)
        CHECK_EQ(cut.samples[i], GROUND);
    io_picture_free(&cut);
    blank_check_and_free(&picture);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(any_place_stays_in_the_picture),
        TEST(boxes_without_size_are_drawn),
        TEST(quarter_turns_leave_the_match_free),
        TEST(top_edge_is_marked),
        TEST(label_is_near),
        TEST(cut_of_quarter_turn_is_exact),
        TEST(cut_goes_on_outside_the_picture),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
