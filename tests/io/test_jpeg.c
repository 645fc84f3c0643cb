/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>

enum { WIDTH = 37, HEIGHT = 29, LOSS = 6 };

/* Smooth, so that compression loses little. */
static uint8_t tone(int x, int y, int c)
{
    return (uint8_t)(40 + 3 * x + 2 * y * (c == 1) + (c == 2) * (60 - 2 * x) + 10 * c);
}

static const uint8_t *samples(int channels)
{
    static uint8_t buffer[WIDTH * HEIGHT * 4];
    uint8_t *to = buffer;
    for (int y = 0; y < HEIGHT; y++)
        for (int x = 0; x < WIDTH; x++)
            for (int c = 0; c < channels; c++)
                *to++ = tone(x, y, c);
    return buffer;
}

static jpeg_sample sample_of(int channels, int in_space, int file_space)
{
    return (jpeg_sample){.width = WIDTH,
                         .height = HEIGHT,
                         .channels = channels,
                         .in_space = in_space,
                         .file_space = file_space,
                         .samples = samples(channels)};
}

static bool is_near(double a, double b)
{
    return a - b <= LOSS && b - a <= LOSS;
}

/* The RGB that the file's samples at (x, y) stand for. */
static void expected_rgb(const jpeg_sample *s, int x, int y, double rgb[3])
{
    for (int c = 0; c < 3; c++)
        if (s->channels == 1)
            rgb[c] = tone(x, y, 0);
        else if (s->channels == 3)
            rgb[c] = tone(x, y, c);
        else if (s->no_adobe)
            rgb[c] = (255 - tone(x, y, c)) * (255 - tone(x, y, 3)) / 255.0;
        else
            rgb[c] = tone(x, y, c) * tone(x, y, 3) / 255.0;
}

static void check_decodes(const jpeg_sample *s)
{
    bytes file = make_jpeg(s);
    for (int color = IO_GRAY; color <= IO_RGB; color += IO_RGB - IO_GRAY) {
        io_picture picture;
        io_error error;
        if (!decode_bytes(file, (io_color)color, WIDTH * HEIGHT, &picture, &error))
            check_fail(__FILE__, __LINE__, "%s", error.reason);
        CHECK_EQ(picture.width, WIDTH);
        CHECK_EQ(picture.height, HEIGHT);
        CHECK_EQ(picture.channels, color);
        CHECK_STR(picture.format, "JPEG");
        CHECK(!picture.alpha_ignored);
        const uint8_t *got = picture.samples;
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++, got += color) {
                double rgb[3];
                expected_rgb(s, x, y, rgb);
                if (color == IO_RGB)
                    CHECK(is_near(got[0], rgb[0]) && is_near(got[1], rgb[1]) &&
                          is_near(got[2], rgb[2]));
                else
                    CHECK(is_near(got[0], 0.299 * rgb[0] + 0.587 * rgb[1] + 0.114 * rgb[2]));
            }
        io_picture_free(&picture);
    }
    free(file.data);
}

static void gray(void)
{
    jpeg_sample s = sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
    check_decodes(&s);
}

static void colour(void)
{
    jpeg_sample s = sample_of(3, JCS_RGB, JCS_YCbCr);
    check_decodes(&s);
    s.file_space = JCS_RGB;
    check_decodes(&s);
}

static void progressive(void)
{
    jpeg_sample s = sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
    s.progressive = true;
    check_decodes(&s);
    s = sample_of(3, JCS_RGB, JCS_YCbCr);
    s.progressive = true;
    check_decodes(&s);
}

static void cmyk(void)
{
    jpeg_sample s = sample_of(4, JCS_CMYK, JCS_CMYK);
    check_decodes(&s);
    s.no_adobe = true;
    check_decodes(&s);
}

static void ycck(void)
{
    jpeg_sample s = sample_of(4, JCS_CMYK, JCS_YCCK);
    check_decodes(&s);
}

/* The two bytes after its length and precision are the height, then the width. */
static uint8_t *frame_header(bytes file)
{
    for (size_t i = 2; i + 9 < file.size; i += 2 + (size_t)(file.data[i + 2] << 8 | file.data[i + 3]))
        if (file.data[i + 1] == 0xc0)
            return file.data + i + 4;
    check_fail(__FILE__, __LINE__, "no SOF0 marker");
}

static void absurd_sizes_are_refused(void)
{
    jpeg_sample s = sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
    bytes file = make_jpeg(&s);
    uint8_t *header = frame_header(file);
    io_picture picture;
    io_error error;
    memcpy(header + 1, "\xfd\xe8\xfd\xe8", 4); /* 65000 */
    CHECK(!decode_bytes(file, IO_GRAY, 1000000, &picture, &error));
    CHECK_STR(error.reason, "65000x65000 pixels are more than the limit of 1000000"
                            " (--max-pixels raises it)");
    CHECK(!decode_bytes(file, IO_GRAY, 0, &picture, &error));
    CHECK_STR(error.reason, "65000x65000 pixels are more than the limit of 268435456"
                            " (--max-pixels raises it)");
    memset(header + 1, 0xff, 4);
    check_refused(file, "more than 65500 pixels a side, which libjpeg does not decode");
    memset(header + 1, 0, 4);
    check_refused(file, "damaged JPEG: ");
    free(file.data);
}

/* A progressive JPEG with its first scan so many times more: it says the same again. */
static bytes with_scans(bytes file, int copies)
{
    size_t first = 0, end;
    while (file.data[first] != 0xff || file.data[first + 1] != 0xda)
        first++;
    for (end = first + 2; file.data[end] != 0xff || file.data[end + 1] == 0; end++)
        ;
    const size_t scan = end - first;
    bytes longer = {.size = file.size + scan * (size_t)copies};
    longer.data = malloc(longer.size);
    CHECK(longer.data);
    memcpy(longer.data, file.data, end);
    for (int i = 0; i < copies; i++)
        memcpy(longer.data + end + scan * (size_t)i, file.data + first, scan);
    memcpy(longer.data + end + scan * (size_t)copies, file.data + end, file.size - end);
    return longer;
}

/* Every one costs the time of a picture. */
static void too_many_scans_are_refused(void)
{
    enum { OWN = 6, MOST = 500 };
    jpeg_sample s = sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
    s.progressive = true;
    bytes file = make_jpeg(&s), many = with_scans(file, MOST - OWN);
    io_picture picture;
    io_error error;
    if (!decode_bytes(many, IO_GRAY, 0, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    io_picture_free(&picture);
    free(many.data);
    for (int more = 1; more < 20000; more *= 100) {
        many = with_scans(file, MOST - OWN + more);
        check_refused(many, "damaged JPEG: more than 500 scans");
        free(many.data);
    }
    free(file.data);
}

/* What libjpeg holds beside the samples is known beforehand. */
static void coefficients_are_counted(void)
{
    for (int i = 0; i < 3; i++) {
        jpeg_sample s = i ? sample_of(3, JCS_RGB, i == 1 ? JCS_YCbCr : JCS_RGB)
                          : sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
        s.progressive = true;
        bytes file = make_jpeg(&s);
        io_source source = {.data = file.data, .size = file.size};
        io_rows *rows;
        io_error error;
        CHECK(io_rows_open(&rows, &source, IO_GRAY, &(io_limits){1 << 20}, &error));
        /* two bytes each; YCbCr has colours of half the width and height */
        CHECK_EQ(io_rows_decoder_bytes(rows), i == 0 ? 2 : i == 1 ? 3 : 6);
        io_rows_close(&rows);
        free(file.data);
    }
}

static void what_libjpeg_lacks_is_named(void)
{
    jpeg_sample s = sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
    bytes file = make_jpeg(&s);
    frame_header(file)[-3] = 0xc5;
    check_refused(file, "a hierarchical JPEG, which libjpeg does not decode");
    free(file.data);
    s = sample_of(2, JCS_UNKNOWN, JCS_UNKNOWN);
    file = make_jpeg(&s);
    check_refused(file, "a JPEG of 2 channels of unknown meaning");
    free(file.data);
}

static void twelve_bits_are_refused(void)
{
    jpeg_sample s = sample_of(1, JCS_GRAYSCALE, JCS_GRAYSCALE);
    bytes file = make_jpeg(&s);
    frame_header(file)[0] = 12;
    check_refused(file, "a JPEG of 12-bit samples; only those of 8 bits are read");
    free(file.data);
}

static void truncation_is_refused_at_every_byte(void)
{
    for (int progress = 0; progress < 2; progress++) {
        jpeg_sample s = sample_of(3, JCS_RGB, JCS_YCbCr);
        s.progressive = progress;
        bytes file = make_jpeg(&s);
        check_truncations(file, file.size);
        check_refused((bytes){file.data, file.size - 40}, "the file is truncated");
        /* With an end mark where there is none: libjpeg would only warn. */
        memcpy(file.data + file.size - 40, "\xff\xd9", 2);
        check_refused((bytes){file.data, file.size - 38}, "damaged JPEG: ");
        free(file.data);
    }
}

static void damage_is_survived(void)
{
    static const int spaces[][3] = {{1, JCS_GRAYSCALE, JCS_GRAYSCALE},
                                    {3, JCS_RGB, JCS_YCbCr},
                                    {4, JCS_CMYK, JCS_YCCK}};
    for (int i = 0; i < 6; i++) {
        const int *space = spaces[i / 2];
        jpeg_sample s = sample_of(space[0], space[1], space[2]);
        s.progressive = i % 2;
        bytes file = make_jpeg(&s);
        check_damage(file);
        free(file.data);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(gray),
        TEST(colour),
        TEST(progressive),
        TEST(cmyk),
        TEST(ycck),
        TEST(absurd_sizes_are_refused),
        TEST(too_many_scans_are_refused),
        TEST(coefficients_are_counted),
        TEST(what_libjpeg_lacks_is_named),
        TEST(twelve_bits_are_refused),
        TEST(truncation_is_refused_at_every_byte),
        TEST(damage_is_survived),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
