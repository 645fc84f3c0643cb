/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "io/io.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t *at(const io_picture *picture, int64_t x, int64_t y)
{
    return picture->samples + (y * picture->width + x) * 3;
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
        TEST(heatmap_has_the_ends_of_the_scale),
        TEST(flat_heatmap_is_the_best_color),
        TEST(heatmap_has_room_for_its_name),
        TEST(large_heatmap_keeps_the_peak),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
