/* SPDX-License-Identifier: MIT */
/* Whether another picture follows what is read of a file. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

#include "check.h"
#include "samples.h"

#if TM_HAVE_TIFF
#include "tiff_sample.h"
#endif

static uint8_t samples[40 * 30 * 3];

static bytes png(void)
{
    return make_png(&(png_sample){.width = 40, .height = 30, .depth = 8, .type = PNG_COLOR_TYPE_GRAY, .rows = samples});
}

static bytes jpeg(void)
{
    return make_jpeg(&(jpeg_sample){
        .width = 40, .height = 30, .channels = 1, .in_space = JCS_GRAYSCALE, .file_space = JCS_GRAYSCALE, .samples = samples});
}

static bytes bmp(void)
{
    bytes file = {calloc(1, 58), 58};
    memcpy(file.data, "BM:\0\0\0\0\0\0\0\66\0\0\0\50\0\0\0\1\0\0\0\1\0\0\0\1\0\30", 30);
    return file;
}

static bytes npy(void)
{
    static const char header[] = "\x93NUMPY\1\0\74\0{'descr': '<u2', 'fortran_order': False, 'shape': (2, 3), }\n";
    bytes file = {calloc(1, 82), 82};
    memcpy(file.data, header, sizeof header - 1);
    CHECK_EQ(sizeof header - 1, 70);
    return file;
}

static bytes pgm(void)
{
    return copy_text("P5 1 1 255 a");
}

/* What rest_of says of a file with more behind it, in memory of its own. */
static io_rest followed_by(bytes file, const void *more, size_t size)
{
    uint8_t *all = malloc(file.size + size);
    memcpy(all, file.data, file.size);
    if (size)
        memcpy(all + file.size, more, size);
    const io_source source = {.data = all, .size = file.size + size};
    const io_rest rest = io_rest_of(&source);
    free(all);
    return rest;
}

static void check_rest(bytes file, io_rest rest)
{
    bytes other = png();
    CHECK_EQ(followed_by(file, NULL, 0), IO_REST_NONE);
    CHECK_EQ(followed_by(file, " \n", 2), IO_REST_NONE);
    CHECK_EQ(followed_by(file, "1 2\n3 4\n", 8), IO_REST_NONE);
    CHECK_EQ(followed_by(file, "\0\0what cameras add", 19), IO_REST_NONE);
    CHECK_EQ(followed_by(file, file.data, file.size), rest);
    CHECK_EQ(followed_by(file, other.data, other.size), rest);
    free(other.data);
}

static void other_formats(void)
{
    bytes (*const make[])(void) = {png, jpeg, bmp, npy, pgm};
    for (int i = 0; i < 5; i++) {
        bytes file = make[i]();
        check_rest(file, i == 4 ? IO_REST_OF_PNM : IO_REST_OF_STREAM);
        free(file.data);
    }
    CHECK_EQ(followed_by((bytes){(uint8_t *)"1 2\n3 4\n", 8}, "P5 1 1 255 a", 12), IO_REST_NONE);
    CHECK_EQ(followed_by((bytes){(uint8_t *)"no picture", 10}, "P5 1 1 255 a", 12), IO_REST_NONE);
}

/* Phones put depths and previews behind a JPEG, and say so in a segment. */
static void parts_of_a_jpeg(void)
{
    bytes file = jpeg();
    uint8_t *with = malloc(file.size + 10);
    memcpy(with, file.data, 2);
    memcpy(with + 2, "\xff\xe2\0\10MPF\0ab", 10);
    memcpy(with + 12, file.data + 2, file.size - 2);
    CHECK_EQ(followed_by((bytes){with, file.size + 10}, file.data, file.size), IO_REST_NONE);
    with[8] = 'x';
    CHECK_EQ(followed_by((bytes){with, file.size + 10}, file.data, file.size), IO_REST_OF_STREAM);
    free(with);
    free(file.data);
}

/* Anything but a crash is right. */
static void damage(bytes file)
{
    bytes twice = {malloc(2 * file.size), 2 * file.size};
    for (int64_t i = 0; i < check_cases(200); i++) {
        memcpy(twice.data, file.data, file.size);
        memcpy(twice.data + file.size, file.data, file.size);
        for (int64_t k = check_random_in(0, 8); k > 0; k--)
            twice.data[check_random_in(0, (int64_t)file.size - 1)] = (uint8_t)check_random();
        followed_by((bytes){twice.data, (size_t)check_random_in(1, (int64_t)twice.size)}, NULL, 0);
    }
    free(twice.data);
}

static void stands_damage(void)
{
    bytes (*const make[])(void) = {png, jpeg, bmp, npy, pgm};
    for (int i = 0; i < 5; i++) {
        bytes file = make[i]();
        damage(file);
        free(file.data);
    }
}

#if TM_HAVE_TIFF
static void tiffs(void)
{
    static const char *const modes[] = {"wl", "wb", "wl8", "wb8"};
    uint64_t values[40 * 30] = {0};
    for (int i = 0; i < 24; i++) {
        const tiff_sample s = {.width = 40,
                               .height = 30,
                               .bits = 8,
                               .samples = 1,
                               .photometric = PHOTOMETRIC_MINISBLACK,
                               .compression = i & 4 ? COMPRESSION_LZW : 0,
                               .tile_width = i >= 16 ? 16 : 0,
                               .tile_height = i >= 16 ? 16 : 0,
                               .rows_per_strip = i & 8 ? 7 : 0,
                               .mode = modes[i % 4],
                               .values = values};
        bytes file = {0};
        for (int page = 0; page <= i % 3; page++)
            add_tiff_page(&file, &s);
        check_rest(file, IO_REST_OF_TIFF);
        damage(file);
        free(file.data);
    }
}
#endif

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(other_formats), TEST(parts_of_a_jpeg), TEST(stands_damage),
#if TM_HAVE_TIFF
        TEST(tiffs),
#endif
    };
    for (size_t i = 0; i < sizeof samples; i++)
        samples[i] = (uint8_t)(i * i / 3);
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
