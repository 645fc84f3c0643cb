/* SPDX-License-Identifier: MIT */
/* Crops: what they are called, and what they cut out. */
#include <stdlib.h>
#include <string.h>

#include "files.h"

static void check_split(const char *operand, const char *path, int64_t w, int64_t h, int64_t x,
                        int64_t y)
{
    char *name;
    io_crop crop = {0};
    bool has_crop;
    io_error error;
    if (!io_split_crop(operand, &name, &crop, &has_crop, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", operand, error.reason);
    CHECK_STR(name, path);
    CHECK_EQ(has_crop, w > 0);
    CHECK(crop.width == w && crop.height == h && crop.x == x && crop.y == y);
    free(name);
}

static void crops_are_split_off(void)
{
    static const char *const bad[] = {
        "a[3x4]",      "a[3x4+1]",    "a[3x4+1+2",  "a[3x4+1+2+3]", "a[3x4-1+2]",  "a[0x4+1+2]",
        "a[3x0+1+2]",  "a[3x4+-1+2]", "a[3X4+1+2]", "a[3x4+1+2 ]",  "a[3 x4+1+2]", "a[3]",
        "a[3,4,1,2]",  "a[3x+1+2]",   "a[3x4+1+]",  "a[3x4++2]",
        "a[9999999999999999999x4+1+2]",
    };
    remove_all();
    check_split("a.png", "a.png", 0, 0, 0, 0);
    check_split("a.png[3x4+1+2]", "a.png", 3, 4, 1, 2);
    check_split("dir[1]/a.png[21x21+220+90]", "dir[1]/a.png", 21, 21, 220, 90);
    check_split("-[3x4+0+0]", "-", 3, 4, 0, 0);
    check_split("a[b][5x6+7+8]", "a[b]", 5, 6, 7, 8);
    check_split("photo[1].png", "photo[1].png", 0, 0, 0, 0);
    check_split("a[b]", "a[b]", 0, 0, 0, 0);
    check_split("a[]", "a[]", 0, 0, 0, 0);
    check_split("a[", "a[", 0, 0, 0, 0);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *name;
        io_crop crop;
        bool has_crop;
        io_error error;
        if (io_split_crop(bad[i], &name, &crop, &has_crop, &error))
            check_fail(__FILE__, __LINE__, "%s passes", bad[i]);
        CHECK(strstr(error.reason, bad[i] + 1) && strstr(error.reason, "WIDTHxHEIGHT+X+Y"));
    }
}

static void a_file_named_like_a_crop(void)
{
    remove_all();
    write_file("a[3x4+1+2]", "x", 1);
    check_split("a[3x4+1+2]", "a[3x4+1+2]", 0, 0, 0, 0);
    check_split("a[3x4+1+2][1x1+0+0]", "a[3x4+1+2]", 1, 1, 0, 0);
}

static void crops_are_cut(void)
{
    for (int channels = 1; channels <= 3; channels += 2)
        for (int64_t y = 0; y < 4; y++)
            for (int64_t x = 0; x < 5; x++)
                for (int64_t h = 1; h <= 4 - y; h++)
                    for (int64_t w = 1; w <= 5 - x; w++) {
                        io_picture picture = numbered_picture(5, 4, channels);
                        io_error error;
                        CHECK(io_crop_picture(&picture, &(io_crop){w, h, x, y}, &error));
                        CHECK(picture.width == w && picture.height == h);
                        for (int64_t i = 0; i < w * h; i++)
                            CHECK_EQ(picture.samples[i * channels + channels - 1],
                                     ((y + i / w) * 5 + x + i % w) * 3 + channels - 1);
                        io_picture_free(&picture);
                        CHECK(picture.samples == NULL);
                    }
}

static void crops_outside_are_refused(void)
{
    static const io_crop bad[] = {{6, 1, 0, 0}, {1, 5, 0, 0},         {1, 1, 5, 0}, {1, 1, 0, 4},
                                  {3, 1, 3, 0}, {1, 1, INT64_MAX, 0}, {1, 1, -1, 0}, {0, 1, 0, 0},
                                  {INT64_MAX, 1, INT64_MAX, 0}};
    io_picture picture = numbered_picture(5, 4, 1);
    io_error error;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        CHECK(!io_crop_picture(&picture, &bad[i], &error));
    CHECK(!io_crop_picture(&picture, &(io_crop){3, 2, 4, 1}, &error));
    CHECK_STR(error.reason, "the region 3x2+4+1 is not inside the picture of 5x4 pixels");
    io_picture_free(&picture);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(crops_are_split_off), TEST(a_file_named_like_a_crop), TEST(crops_are_cut),
        TEST(crops_outside_are_refused),
    };
    return check_main_in_folder(tests, sizeof tests / sizeof *tests, argc, argv);
}
