/* SPDX-License-Identifier: MIT */
/* Posed pictures and grids of poses against what is known of them without the formulas. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "pictures.h"
#include "lcc/lcc.h"
#include "lcc/pose_grid.h"
#include "match/turned_box.h"

static const long double pi = 3.141592653589793238462643383279502884L;
static const tm_pose_support full = {.disc = false};

static void sines_are_nearest(void)
{
    CHECK_EQ(tm_sine(0), 0);
    CHECK_EQ(tm_sine(30 * TM_POSE_UNIT), INT64_C(1) << 29);
    CHECK_EQ(tm_sine(90 * TM_POSE_UNIT), INT64_C(1) << 30);
    CHECK_EQ(tm_cosine(90 * TM_POSE_UNIT), 0);
    CHECK_EQ(tm_cosine(-180 * TM_POSE_UNIT), -(INT64_C(1) << 30));
    for (int i = 0; i < 200000; i++) {
        const int64_t angle = check_random_in(-1000000000, 1000000000);
        const long double radians = (long double)(angle % 360000000) * pi / 180000000;
        CHECK_EQ(tm_sine(angle), llroundl(sinl(radians) * 0x1p30L));
        CHECK_EQ(tm_cosine(angle), llroundl(cosl(radians) * 0x1p30L));
    }
}

/* A random picture of any kind that can be posed. */
static void *draw(tm_image *image, int64_t width, int64_t height)
{
    return picture_make(image, width, height, check_random() % 2 ? TM_SAMPLE_U16 : TM_SAMPLE_U8,
                        (int)check_random_in(1, 4), PICTURE_NOISE);
}

static int64_t sample(const tm_image *image, int64_t x, int64_t y, int channel)
{
    return tm_sample_at(image->samples + y * image->stride, x * tm_image_channels(image) + channel,
                        image->type);
}

static int64_t posed_sample(const tm_posed *p, const tm_image *image, int64_t x, int64_t y, int c)
{
    return tm_sample_at(p->samples, (y * p->width + x) * tm_image_channels(image) + c, image->type);
}

static tm_posed pose(const tm_image *image, double angle, double scale)
{
    const tm_turn turn = {llround(angle * 1e6), llround(scale * 1e6)};
    tm_posed p;
    CHECK_EQ(tm_pose_make(&p, image, turn, &full), TM_OK);
    return p;
}

/* Turned by quarters, sample by sample, whatever the sides' parities. */
static void quarter_turns_are_exact(void)
{
    for (int i = 0; i < 4 * 49; i++) {
        const int64_t w = i / 4 % 7 + 1, h = i / 28 + 1;
        const int quarters = i % 4;
        tm_image image;
        void *memory = draw(&image, w, h);
        tm_posed p = pose(&image, 90 * quarters - 360 * (double)(i % 3), 1);

        CHECK_EQ(p.width, quarters % 2 ? h : w);
        CHECK_EQ(p.height, quarters % 2 ? w : h);
        CHECK_EQ(p.count, w * h);
        for (int64_t k = 0; k < w * h; k++) {
            const int64_t x = k % p.width, y = k / p.width;
            const int64_t u = quarters == 0 ? x : quarters == 1 ? w - 1 - y : quarters == 2 ? w - 1 - x : y;
            const int64_t v = quarters == 0 ? y : quarters == 1 ? x : quarters == 2 ? h - 1 - y : h - 1 - x;
            for (int c = 0; c < tm_image_channels(&image); c++)
                CHECK_EQ(posed_sample(&p, &image, x, y, c), sample(&image, u, v, c));
        }
        tm_posed_free(&p);
        free(memory);
    }
}

/* Pixels of the template lie on every second, third, ... of the enlarged picture, or between. */
static void whole_enlargements_meet_pixels(void)
{
    for (int i = 0; i < 60; i++) {
        const int64_t w = check_random_in(1, 6), h = check_random_in(1, 6), n = 2 * (i % 3) + 3;
        tm_image image;
        void *memory = draw(&image, w, h);
        tm_posed p = pose(&image, 0, (double)n);
        CHECK_EQ(p.width, n * (w - 1) + 1);
        CHECK_EQ(p.height, n * (h - 1) + 1);
        for (int64_t k = 0; k < w * h; k++)
            CHECK_EQ(posed_sample(&p, &image, n * (k % w), n * (k / w), 0),
                     sample(&image, k % w, k / w, 0));
        tm_posed_free(&p);
        free(memory);
    }
}

static void halves_are_means(void)
{
    for (int i = 0; i < 30; i++) {
        const int64_t w = 2 * check_random_in(1, 6), h = 2 * check_random_in(1, 6);
        tm_image image;
        void *memory = draw(&image, w, h);
        tm_posed p = pose(&image, 0, 0.5);
        CHECK_EQ(p.width, w / 2);
        CHECK_EQ(p.height, h / 2);
        for (int64_t k = 0; k < p.width * p.height; k++) {
            const int64_t x = k % p.width, y = k / p.width;
            const int64_t sum = sample(&image, 2 * x, 2 * y, 0) + sample(&image, 2 * x + 1, 2 * y, 0) +
                                sample(&image, 2 * x, 2 * y + 1, 0) + sample(&image, 2 * x + 1, 2 * y + 1, 0);
            CHECK_EQ(posed_sample(&p, &image, x, y, 0), (sum + 2) / 4);
        }
        tm_posed_free(&p);
        free(memory);
    }
}

/* What a pixel of a pose shows, in doubles. */
typedef struct footprint {
    double value;
    double least, most; /* how far its samples lie inside, and outside */
    bool masked;
} footprint;

static footprint look(const tm_image *image, double angle, double scale, double right, double down)
{
    const int q = (int)ceil(1 / scale - 1e-12);
    const double c = cos(angle * 3.14159265358979323846 / 180), s = sin(angle * 3.14159265358979323846 / 180);
    footprint f = {.least = INFINITY};

    for (int i = 0; i < q * q; i++) {
        const double x = right + ((i % q) + 0.5) / q - 0.5, y = down + ((i / q) + 0.5) / q - 0.5;
        const double u = (x * c - y * s) / scale + (double)(image->width - 1) / 2;
        const double v = (x * s + y * c) / scale + (double)(image->height - 1) / 2;
        const double in = fmin(fmin(u, (double)image->width - 1 - u), fmin(v, (double)image->height - 1 - v));
        f.least = fmin(f.least, in);
        if (in < 0.001)
            continue;
        const int64_t x0 = (int64_t)floor(u), y0 = (int64_t)floor(v);
        for (int k = 0; k < 4; k++) {
            const double weight = (k & 1 ? u - (double)x0 : 1 - u + (double)x0) * (k & 2 ? v - (double)y0 : 1 - v + (double)y0);
            const int64_t px = x0 + (k & 1), py = y0 + (k >> 1);
            f.masked = f.masked || (image->mask && !image->mask[py * image->mask_stride + px]);
            f.value += weight * (double)sample(image, px, py, 0) / (q * q);
        }
    }
    return f;
}

/* Within what rounding positions to 1/4096 of a pixel, and the result, can make. */
static void poses_are_near_their_truth(void)
{
    int64_t compared = 0;
    for (int i = 0; i < 300; i++) {
        const double angle = (double)check_random_in(-180000000, 180000000) / 1e6;
        const double scale = (double)check_random_in(300000, 2500000) / 1e6;
        tm_image image;
        void *memory = draw(&image, check_random_in(4, 30), check_random_in(4, 30));
        uint8_t *mask = check_random() % 2 ? picture_mask_out(&image, 60) : NULL;
        const double range = image.type == TM_SAMPLE_U16 ? 65535 : 255;
        tm_posed p = pose(&image, angle, scale);

        for (int64_t k = 0; k < p.width * p.height; k++) {
            const int64_t x = k % p.width, y = k / p.width;
            const footprint f = look(&image, angle, scale, (double)x - (double)(p.width - 1) / 2,
                                     (double)y - (double)(p.height - 1) / 2);
            CHECK(!p.mask[k] || f.least > -0.001);
            CHECK(p.mask[k] || f.least < 0.001 || f.masked);
            if (!p.mask[k] || f.least < 0.001)
                continue;
            CHECK(fabs((double)posed_sample(&p, &image, x, y, 0) - f.value) <= 0.5 + range * 0.0003);
            compared++;
        }
        tm_posed_free(&p);
        free(memory);
        free(mask);
    }
    CHECK(compared > 10000);
    printf("# %" PRId64 " pixels\n", compared);
}

/* All poses that share a disc have the same pixels. */
static void discs_are_shared(void)
{
    for (int i = 0; i < 20; i++) {
        tm_image image;
        void *memory = draw(&image, check_random_in(6, 24), check_random_in(6, 24));
        const tm_pose_grid grid = {sizeof grid, 0, 359, 17.5, 0.9, 1.1, 0.05, TM_SUPPORT_DISC};
        tm_posed first, p;
        tm_poses poses;

        CHECK_EQ(tm_poses_choose(&poses, &image, &grid), TM_OK);
        CHECK_EQ(tm_poses_count(&poses), 21 * 5);
        CHECK(poses.support.disc);
        CHECK_EQ(tm_pose_make(&first, &image, tm_poses_turn(&poses, 0), &poses.support), TM_OK);
        CHECK(first.count > 0 && first.width % 2 == image.width % 2);
        for (int64_t k = 1; k < tm_poses_count(&poses); k++) {
            CHECK_EQ(tm_pose_make(&p, &image, tm_poses_turn(&poses, k), &poses.support), TM_OK);
            CHECK(p.width == first.width && p.height == first.height);
            CHECK(memcmp(p.mask, first.mask, (size_t)(p.width * p.height)) == 0);
            tm_posed_free(&p);
        }
        tm_posed_free(&first);
        free(memory);
    }
}

static int64_t angles_of(double from, double to, double step)
{
    uint8_t samples[4] = {1, 2, 3, 5};
    const tm_image image = {.samples = samples, .width = 2, .height = 2, .stride = 2};
    const tm_pose_grid grid = {sizeof grid, from, to, step, 1, 1, 0, TM_SUPPORT_FULL};
    tm_poses poses;
    CHECK_EQ(tm_poses_choose(&poses, &image, &grid), TM_OK);
    return poses.angles.count;
}

static void grids_end_before_a_turn(void)
{
    CHECK_EQ(angles_of(0, 359, 1), 360);
    CHECK_EQ(angles_of(0, 360, 1), 360);
    CHECK_EQ(angles_of(-180, 180, 1), 360);
    CHECK_EQ(angles_of(-180, 900, 0.5), 720);
    CHECK_EQ(angles_of(-10, 10, 0.1), 201);
    CHECK_EQ(angles_of(0, 1, 0.3), 4);
    CHECK_EQ(angles_of(0, 0.9, 0.3), 4);
    CHECK_EQ(angles_of(5, 5, 0), 1);
    CHECK_EQ(angles_of(5, 5, 3), 1);
}

/* Steps that suit a picture of waves of this length, in pixels. */
static void chosen_steps(double length, int64_t side, int64_t *angle, int64_t *scale)
{
    uint8_t *samples = malloc((size_t)(side * side));
    CHECK(samples);
    for (int64_t i = 0; i < side * side; i++)
        samples[i] = (uint8_t)(128 + 60 * sin((double)(i % side) * 6.2832 / length) +
                               60 * sin((double)(i / side) * 6.2832 / length));
    const tm_image image = {.samples = samples, .width = side, .height = side, .stride = (ptrdiff_t)side};
    const tm_pose_grid grid = {sizeof grid, 0, 359, 0, 0.9, 1.1, 0, TM_SUPPORT_AUTO};
    tm_poses poses;
    CHECK_EQ(tm_poses_choose(&poses, &image, &grid), TM_OK);
    *angle = poses.angles.step;
    *scale = poses.scales.step;
    free(samples);
}

static void steps_follow_the_template(void)
{
    int64_t fine[2], coarse[2], large[2];
    chosen_steps(6, 32, &fine[0], &fine[1]);
    chosen_steps(24, 32, &coarse[0], &coarse[1]);
    chosen_steps(6, 96, &large[0], &large[1]);
    for (int i = 0; i < 2; i++)
        CHECK(large[i] < fine[i] && fine[i] < coarse[i]);
}

static void corners_turn_counter_clockwise(void)
{
    const tm_turned_box box = tm_turned_box_make(6, 4, (tm_turn){90 * TM_POSE_UNIT, TM_POSE_UNIT}, 20, 40);
    const double expected[4][2] = {{8, 23}, {8, 17}, {12, 17}, {12, 23}};
    int64_t x, y, w, h;

    for (int i = 0; i < 8; i++)
        CHECK((double)box.corners[i / 2][i % 2] / (double)TM_BOX_PIXEL == expected[i / 2][i % 2]);
    tm_turned_box_bounds(&box, &x, &y, &w, &h);
    CHECK(x == 8 && y == 17 && w == 5 && h == 7); /* its edges halve pixels */
    const tm_turned_box own = tm_turned_box_make(6, 5, (tm_turn){0, TM_POSE_UNIT}, 2 * 3 + 5, 2 * -7 + 4);
    tm_turned_box_bounds(&own, &x, &y, &w, &h);
    CHECK(x == 3 && y == -7 && w == 6 && h == 5);
}

/* A square in itself turned by 45 degrees: all but four corners. */
static void intersections_of_turned_boxes(void)
{
    const tm_turned_box a = tm_turned_box_make(10, 10, (tm_turn){0, TM_POSE_UNIT}, 0, 0);
    const tm_turned_box b = tm_turned_box_make(10, 10, (tm_turn){45 * TM_POSE_UNIT, TM_POSE_UNIT}, 0, 0);
    const tm_turned_box c = tm_turned_box_make(10, 10, (tm_turn){45 * TM_POSE_UNIT, TM_POSE_UNIT}, 28, 0);
    const double octagon = 200 * (sqrt(2) - 1), iou = octagon / (200 - octagon);

    CHECK(tm_turned_box_overlaps(&a, &b, iou - 1e-6) && !tm_turned_box_overlaps(&a, &b, iou + 1e-6));
    CHECK(tm_turned_box_overlaps(&b, &a, iou - 1e-6) && !tm_turned_box_overlaps(&b, &a, iou + 1e-6));
    CHECK(!tm_turned_box_overlaps(&a, &c, 0.05) && !tm_turned_box_overlaps(&b, &c, 0.02));
    CHECK(tm_turned_box_overlaps(&b, &b, 0.999999));
    for (int64_t shift = 0; shift <= 10; shift++) { /* touching is no overlap */
        const tm_turned_box d = tm_turned_box_make(10, 10, (tm_turn){270 * TM_POSE_UNIT, TM_POSE_UNIT}, 2 * shift, 0);
        CHECK_EQ(tm_turned_box_overlaps(&a, &d, 0), shift < 10);
    }
}

static void too_large_is_refused(void)
{
    tm_image image;
    void *memory = picture_make(&image, 1000, 1000, TM_SAMPLE_U8, 1, PICTURE_NOISE);
    tm_posed p;
    CHECK_EQ(tm_pose_make(&p, &image, (tm_turn){0, 4 * TM_POSE_UNIT}, &full), TM_ERR_TEMPLATE_TOO_LARGE);
    CHECK(!p.samples && !p.mask);
    free(memory);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(sines_are_nearest), TEST(quarter_turns_are_exact), TEST(whole_enlargements_meet_pixels),
        TEST(halves_are_means), TEST(poses_are_near_their_truth), TEST(discs_are_shared),
        TEST(grids_end_before_a_turn), TEST(steps_follow_the_template),
        TEST(corners_turn_counter_clockwise), TEST(intersections_of_turned_boxes),
        TEST(too_large_is_refused),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
