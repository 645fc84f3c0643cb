/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "pictures.h"
#include "samples.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { WIDTH = 13, HEIGHT = 11, MAX_ROW = WIDTH * 4 * 2 };

static uint8_t rows[HEIGHT * MAX_ROW], palette[256 * 3];

static png_sample random_sample(int type, int depth, int interlace)
{
    picture_noise(rows, sizeof rows);
    picture_noise(palette, sizeof palette);
    return (png_sample){.width = WIDTH,
                        .height = HEIGHT,
                        .depth = depth,
                        .type = type,
                        .interlace = interlace,
                        .rows = rows,
                        .palette = palette,
                        .palette_size = type == PNG_COLOR_TYPE_PALETTE ? 1 << depth : 0};
}

/* Channel c of pixel x of row y, as PNG defines it. */
static int file_sample(const png_sample *s, int x, int y, int channels, int c)
{
    const uint8_t *row = s->rows + (size_t)y * png_row_size(s);
    int bit = (x * channels + c) * s->depth;
    return (row[bit / 8] >> (8 - s->depth - bit % 8)) & ((1 << s->depth) - 1);
}

static void expected_rgb(const png_sample *s, int x, int y, int out[3])
{
    bool alpha = s->type & PNG_COLOR_MASK_ALPHA;
    for (int c = 0; c < 3; c++)
        if (s->type == PNG_COLOR_TYPE_PALETTE)
            out[c] = s->palette[3 * file_sample(s, x, y, 1, 0) + c];
        else if (s->type & PNG_COLOR_MASK_COLOR)
            out[c] = file_sample(s, x, y, 3 + alpha, c);
        else
            out[c] = file_sample(s, x, y, 1 + alpha, 0) * 255 / ((1 << s->depth) - 1);
}

static void check_samples(const png_sample *s, const io_picture *picture)
{
    CHECK_EQ(picture->width, s->width);
    CHECK_EQ(picture->height, s->height);
    CHECK_STR(picture->format, "PNG");
    CHECK_EQ(picture->alpha_ignored, s->transparency || (s->type & PNG_COLOR_MASK_ALPHA));
    const uint8_t *got = picture->samples;
    for (int y = 0; y < s->height; y++)
        for (int x = 0; x < s->width; x++, got += picture->channels) {
            int rgb[3];
            expected_rgb(s, x, y, rgb);
            if (picture->channels == 3)
                CHECK(got[0] == rgb[0] && got[1] == rgb[1] && got[2] == rgb[2]);
            else /* the same as from a PPM file */
                CHECK_EQ(got[0], (9797 * rgb[0] + 19234 * rgb[1] + 3737 * rgb[2]) >> 15);
        }
}

static void check_decodes(const png_sample *s)
{
    bytes file = make_png(s);
    for (int color = IO_GRAY; color <= IO_RGB; color += IO_RGB - IO_GRAY) {
        io_picture picture;
        io_error error;
        if (!decode_bytes(file, (io_color)color, WIDTH * HEIGHT, &picture, &error))
            check_fail(__FILE__, __LINE__, "type %d depth %d: %s", s->type, s->depth,
                       error.reason);
        CHECK_EQ(picture.channels, color);
        check_samples(s, &picture);
        io_picture_free(&picture);
    }
    free(file.data);
}

static const struct {
    int type, depth;
} kinds[] = {
    {PNG_COLOR_TYPE_GRAY, 1},    {PNG_COLOR_TYPE_GRAY, 2},    {PNG_COLOR_TYPE_GRAY, 4},
    {PNG_COLOR_TYPE_GRAY, 8},    {PNG_COLOR_TYPE_PALETTE, 1}, {PNG_COLOR_TYPE_PALETTE, 2},
    {PNG_COLOR_TYPE_PALETTE, 4}, {PNG_COLOR_TYPE_PALETTE, 8}, {PNG_COLOR_TYPE_RGB, 8},
    {PNG_COLOR_TYPE_GA, 8},      {PNG_COLOR_TYPE_RGBA, 8},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void every_type_and_depth(void)
{
    for (int i = 0; i < KINDS; i++)
        for (int interlace = 0; interlace < 2; interlace++) {
            png_sample s = random_sample(kinds[i].type, kinds[i].depth, interlace);
            check_decodes(&s);
        }
}

static void transparency_is_ignored(void)
{
    for (int i = 0; i < KINDS; i++) {
        png_sample s = random_sample(kinds[i].type, kinds[i].depth, i % 2);
        s.transparency = !(kinds[i].type & PNG_COLOR_MASK_ALPHA);
        check_decodes(&s);
    }
}

static void tiny_interlaced_sizes(void)
{
    for (int width = 1; width <= 9; width++)
        for (int height = 1; height <= 9; height++) {
            png_sample s = random_sample(PNG_COLOR_TYPE_RGB, 8, 1);
            s.width = width;
            s.height = height;
            check_decodes(&s);
        }
}

/* Luma is of the encoded values: what says how they are meant changes nothing. */
static void colour_chunks_change_nothing(void)
{
    static const struct {
        const char *name;
        uint8_t data[32];
        size_t size;
    } chunks[] = {
        {"gAMA", {0, 0, 0xb1, 0x8f}, 4}, /* 1/2.2 */
        {"gAMA", {0, 1, 0x86, 0xa0}, 4}, /* 1 */
        {"gAMA", {0, 0, 0x27, 0x10}, 4}, /* 0.1 */
        {"sRGB", {0}, 1},
        {"cHRM", {0, 0, 0x7a, 0x26, 0, 0, 0x80, 0x84, 0, 0, 0xfa, 0, 0, 0, 0x80, 0xe8,
                  0, 0, 0x3a, 0x98, 0, 0, 0xea, 0x60, 0, 0, 0x75, 0x30, 0, 0, 0x17, 0x70}, 32},
        {"iCCP", "profile\0\0not deflated", 21},
    };
    png_sample s = random_sample(PNG_COLOR_TYPE_RGB, 8, 0);
    io_picture plain, picture;
    io_error error;
    bytes file = make_png(&s);
    CHECK(decode_bytes(file, IO_GRAY, 1 << 20, &plain, &error));
    free(file.data);
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++) {
        s.chunk = chunks[i].name;
        s.chunk_data = chunks[i].data;
        s.chunk_size = chunks[i].size;
        file = make_png(&s);
        CHECK(decode_bytes(file, IO_GRAY, 1 << 20, &picture, &error));
        CHECK(memcmp(picture.samples, plain.samples, WIDTH * HEIGHT) == 0);
        io_picture_free(&picture);
        free(file.data);
    }
    io_picture_free(&plain);
}

static unsigned deep_file_sample(const png_sample *s, int i)
{
    return (unsigned)(s->rows[2 * i] << 8 | s->rows[2 * i + 1]);
}

/* 16 bits stay, or become 8, to the nearest; transparency is a mask, or ignored. */
static void sixteen_bits_and_masks(void)
{
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_GA,
                                PNG_COLOR_TYPE_RGBA};
    for (int i = 0; i < 16; i++) {
        const int type = types[i % 4], color = type & PNG_COLOR_MASK_COLOR ? 3 : 1;
        const bool transparent = type & PNG_COLOR_MASK_ALPHA;
        const int channels = color + transparent;
        const io_request request = {
            .color = color == 3 ? IO_RGB : IO_GRAY, .deep = i & 4, .alpha = i & 8};
        png_sample s = random_sample(type, 16, i % 3 == 0);
        const int count = s.width * s.height;
        for (int k = 0; transparent && k < count; k += 2)
            memset((uint8_t *)s.rows + 2 * ((k + 1) * channels - 1), 0, 2);
        bytes file = make_png(&s);
        const io_source source = {.data = file.data, .size = file.size};
        const io_limits limits = {1 << 20};
        io_picture p;
        io_error error;
        CHECK(io_decode_as(&source, &request, &limits, &p, &error));
        CHECK_EQ(p.bits, request.deep ? 16 : 8);
        CHECK_EQ(p.colored, color == 3);
        CHECK_EQ(p.mask != NULL, transparent && request.alpha);
        CHECK_EQ(p.alpha_ignored, transparent && !request.alpha);
        for (int k = 0; k < count * color; k++) {
            unsigned sample = deep_file_sample(&s, k / color * channels + k % color);
            if (request.deep)
                CHECK_EQ(((uint16_t *)(void *)p.samples)[k], sample);
            else
                CHECK_EQ(p.samples[k], (sample * 255 + 32767) / 65535);
        }
        for (int k = 0; p.mask && k < count; k++)
            CHECK_EQ(p.mask[k] != 0, deep_file_sample(&s, (k + 1) * channels - 1) != 0);
        io_picture_free(&p);
        free(file.data);
    }
}

/* What is written of 16 bits is what is read. */
static void sixteen_bits_are_written(void)
{
    static uint16_t samples[WIDTH * HEIGHT * 3];
    for (int channels = 1; channels <= 3; channels += 2) {
        const io_picture picture = {.width = WIDTH, .height = HEIGHT, .channels = channels,
                                    .bits = 16, .samples = (uint8_t *)samples};
        const io_request request = {.color = (io_color)channels, .deep = true};
        char *data = NULL;
        size_t size;
        FILE *file = open_memstream(&data, &size);
        io_picture read;
        io_error error;
        picture_noise(samples, sizeof samples);
        CHECK(file && io_encode(&picture, "x.png", file, &error) && fclose(file) == 0);
        const io_source source = {.data = (uint8_t *)data, .size = size};
        CHECK(io_decode_as(&source, &request, &(io_limits){1 << 20}, &read, &error));
        CHECK_EQ(read.bits, 16);
        CHECK(memcmp(read.samples, samples, (size_t)(WIDTH * HEIGHT * channels) * 2) == 0);
        io_picture_free(&read);
        free(data);
    }
}

/* Samples of 16 bits to look at: stretched where they use less than half of the range. */
static void sixteen_bits_are_shown(void)
{
    static const struct {
        uint16_t samples[4];
        uint8_t shown[4];
    } cases[] = {{{0, 1, 2048, 4095}, {0, 0, 128, 255}},
                 {{30000, 30100, 30200, 30300}, {0, 85, 170, 255}},
                 {{0, 16000, 32767, 100}, {0, 125, 255, 1}},
                 {{0, 257, 32768, 128}, {0, 1, 128, 0}},
                 {{0, 65535, 129, 32639}, {0, 255, 1, 127}},
                 {{700, 700, 700, 700}, {3, 3, 3, 3}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint16_t samples[4];
        memcpy(samples, cases[i].samples, sizeof samples);
        io_picture p = {.width = 2, .height = 2, .channels = 1, .bits = 16, .samples = (uint8_t *)samples};
        io_show(&p);
        CHECK_EQ(p.bits, 8);
        CHECK(memcmp(p.samples, cases[i].shown, 4) == 0);
    }
}

/* libpng's own limit is 1,000,000 columns. */
static void very_wide_pictures_are_read(void)
{
    enum { WIDE = 1200000 };
    uint8_t *row = calloc(WIDE, 1);
    row[WIDE - 1] = 77;
    png_sample s = {.width = WIDE, .height = 1, .depth = 8, .rows = row};
    bytes file = make_png(&s);
    io_picture picture;
    io_error error;
    CHECK(decode_bytes(file, IO_GRAY, WIDE, &picture, &error));
    CHECK_EQ(picture.samples[WIDE - 1], 77);
    io_picture_free(&picture);
    CHECK(!decode_bytes(file, IO_GRAY, WIDE - 1, &picture, &error));
    CHECK_STR(error.reason, "1200000x1 pixels are more than the limit of 1199999"
                            " (--max-pixels raises it)");
    free(file.data);
    free(row);
}

static void absurd_sizes_are_refused(void)
{
    png_sample s = random_sample(PNG_COLOR_TYPE_GRAY, 8, 0);
    bytes file = make_png(&s);
    patch_png_size(file, 2000000000, 2000000000);
    check_refused(file, "2000000000x2000000000 pixels are more than the limit of 4294967296"
                        " (--max-pixels raises it)");
    io_picture picture;
    io_error error;
    CHECK(!decode_bytes(file, IO_RGB, INT64_MAX, &picture, &error));
    CHECK(strstr(error.reason, "not enough memory"));
    patch_png_size(file, 0, 5);
    check_refused(file, "IHDR");
    patch_png_size(file, 0xffffffff, 5);
    check_refused(file, "damaged PNG");
    free(file.data);
}

/* 58 bytes of file that libpng would hold two rows of 2 GiB for. */
static void wide_rows_take_no_memory_before_they_are_read(void)
{
    const png_sample s = {.width = 1, .height = 1, .depth = 8, .rows = rows};
    bytes file = make_png(&s);
    struct rusage before, after;
    io_rows *opened;
    io_error error;
    patch_png_size(file, 0x7fffffff, 1);
    io_source source = {.data = file.data, .size = file.size};
    getrusage(RUSAGE_SELF, &before);
    CHECK(io_rows_open(&opened, &source, IO_RGB, &(io_limits){INT64_MAX}, &error));
    CHECK_EQ(io_rows_width(opened), 0x7fffffff);
    io_rows_close(&opened);
    io_picture picture;
    CHECK(!decode_bytes(file, IO_GRAY, 0, &picture, &error));
    CHECK_STR(error.reason, "2147483647x1 pixels are more than the limit of 268435456"
                            " (--max-pixels raises it)");
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 64 << 10); /* KiB */
    free(file.data);
}

/* Even the last chunk's: a file that ends early is never taken for whole. */
static void truncation_is_refused_at_every_byte(void)
{
    for (int interlace = 0; interlace < 2; interlace++) {
        png_sample s = random_sample(PNG_COLOR_TYPE_RGB, 8, interlace);
        bytes file = make_png(&s);
        check_truncations(file, file.size);
        check_refused((bytes){file.data, file.size / 2}, "damaged PNG: the file is truncated");
        free(file.data);
    }
}

/* Every byte but the signature's is under a CRC. */
static void every_changed_byte_is_noticed(void)
{
    png_sample s = random_sample(PNG_COLOR_TYPE_GRAY, 8, 0);
    bytes file = make_png(&s);
    for (size_t i = 0; i < file.size; i++) {
        file.data[i] ^= 0x10;
        check_refused(file, "");
        file.data[i] ^= 0x10;
    }
    free(file.data);
}

static void damage_is_survived(void)
{
    for (int i = 0; i < KINDS; i++) {
        png_sample s = random_sample(kinds[i].type, kinds[i].depth, i % 2);
        bytes file = make_png(&s);
        check_damage(file);
        free(file.data);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_type_and_depth),
        TEST(transparency_is_ignored),
        TEST(tiny_interlaced_sizes),
        TEST(colour_chunks_change_nothing),
        TEST(sixteen_bits_and_masks),
        TEST(sixteen_bits_are_written),
        TEST(sixteen_bits_are_shown),
        TEST(very_wide_pictures_are_read),
        TEST(absurd_sizes_are_refused),
        TEST(wide_rows_take_no_memory_before_they_are_read),
        TEST(truncation_is_refused_at_every_byte),
        TEST(every_changed_byte_is_noticed),
        TEST(damage_is_survived),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
