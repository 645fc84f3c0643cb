/* SPDX-License-Identifier: MIT */
/* PNM, text matrices, and what is neither. */
#include "check.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

static bytes literal(const void *data, size_t size)
{
    return (bytes){(uint8_t *)(uintptr_t)data, size};
}
#define FILE_OF(text) literal(text, sizeof(text) - 1)

static void check_picture(int line, bytes file, io_color color, const char *format, int width,
                          int height, const uint8_t *expected)
{
    io_picture picture;
    io_error error;
    if (!decode_bytes(file, color, width * height, &picture, &error))
        check_fail(__FILE__, line, "%s", error.reason);
    if (picture.width != width || picture.height != height || picture.channels != (int)color)
        check_fail(__FILE__, line, "%dx%dx%d", (int)picture.width, (int)picture.height,
                   picture.channels);
    for (int i = 0; i < width * height * (int)color; i++)
        if (picture.samples[i] != expected[i])
            check_fail(__FILE__, line, "sample %d is %d, not %d", i, picture.samples[i],
                       expected[i]);
    CHECK_STR(picture.format, format);
    io_picture_free(&picture);
}
#define GRAY(format, text, w, h, ...) \
    check_picture(__LINE__, FILE_OF(text), IO_GRAY, format, w, h, (const uint8_t[]){__VA_ARGS__})
#define RGB(format, text, w, h, ...) \
    check_picture(__LINE__, FILE_OF(text), IO_RGB, format, w, h, (const uint8_t[]){__VA_ARGS__})

static void every_pnm(void)
{
    GRAY("PNM", "P1 3 2 1 0 1\n011", 3, 2, 0, 255, 0, 255, 0, 0);
    GRAY("PNM", "P1\n3 2\n101011\n", 3, 2, 0, 255, 0, 255, 0, 0);
    GRAY("PNM", "P2 2 2 255 0 7\n 128 255\n", 2, 2, 0, 7, 128, 255);
    RGB("PNM", "P2 2 1 255 9 7", 2, 1, 9, 9, 9, 7, 7, 7);
    GRAY("PNM", "P3 2 1 255 255 0 0 10 200 30", 2, 1, 76, 123);
    RGB("PNM", "P3 2 1 255 255 0 0 10 200 30", 2, 1, 255, 0, 0, 10, 200, 30);
    GRAY("PNM", "P4 10 2\n\x80\x40\x01\xc0", 10, 2, 0, 255, 255, 255, 255, 255, 255, 255, 255, 0,
         255, 255, 255, 255, 255, 255, 255, 0, 0, 0);
    GRAY("PNM", "P5 2 2 255\n\n#\xff ", 2, 2, '\n', '#', 255, ' ');
    GRAY("PNM", "P6 2 1 255\n\xff\x00\x00\x00\xff\x00", 2, 1, 76, 149);
    RGB("PNM", "P6 2 1 255\n\xff\x00\x00\x00\xff\x00", 2, 1, 255, 0, 0, 0, 255, 0);
}

static void pnm_comments(void)
{
    GRAY("PNM", "P2#one\n#two\n 2#three\r\n1 # 9 9\n255 #\n1 #x\n2", 2, 1, 1, 2);
    GRAY("PNM", "P5 # one\n2\n#two\n1\n255#three\nab", 2, 1, 'a', 'b');
    GRAY("PNM", "P1#\n2 1 1#\n0", 2, 1, 0, 255);
}

static void pnm_samples_are_scaled_to_the_nearest(void)
{
    GRAY("PNM", "P2 4 1 15 0 1 7 15", 4, 1, 0, 17, 119, 255);
    GRAY("PNM", "P5 4 1 100\n\x00\x01\x32\x64", 4, 1, 0, 3, 128, 255);
    GRAY("PNM", "P2 3 1 254 0 127 254", 3, 1, 0, 128, 255);
    RGB("PNM", "P6 1 1 3\n\x01\x02\x03", 1, 1, 85, 170, 255);
}

static void check_deep(bytes file, io_color color, int bits, const uint16_t *samples, int count)
{
    const io_source source = {.data = file.data, .size = file.size};
    const io_request request = {.color = color, .deep = true};
    const io_limits limits = {1 << 20};
    io_picture p;
    io_error error;
    if (!io_decode_as(&source, &request, &limits, &p, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    CHECK_EQ(p.bits, bits);
    CHECK_EQ(p.width * p.height * p.channels, count);
    for (int i = 0; i < count; i++)
        CHECK_EQ(bits == 16 ? ((uint16_t *)(void *)p.samples)[i] : p.samples[i], samples[i]);
    io_picture_free(&p);
}

#define DEEP(file, color, bits, ...)                                                         \
    check_deep(FILE_OF(file), color, bits, (const uint16_t[]){__VA_ARGS__},                  \
               (int)(sizeof((uint16_t[]){__VA_ARGS__}) / sizeof(uint16_t)))

static void sixteen_bits_are_kept(void)
{
    DEEP("P5 3 1 65535\n\x00\x00\x12\x34\xff\xff", IO_GRAY, 16, 0, 0x1234, 65535);
    DEEP("P2 3 1 1023 0 512 1023", IO_GRAY, 16, 0, 32800, 65535);
    DEEP("P6 1 1 65535\n\x01\x02\x03\x04\x05\x06", IO_RGB, 16, 0x102, 0x304, 0x506);
    DEEP("P5 2 1 255\n\x01\x02", IO_GRAY, 8, 1, 2);
    GRAY("PNM", "P5 3 1 65535\n\x00\x00\x80\x80\xff\xff", 3, 1, 0, 128, 255);
    GRAY("PNM", "P2 3 1 1023 0 512 1023", 3, 1, 0, 128, 255);
    /* luma before it is made 8 bits, as of a PNG; the other way round it is 92 */
    GRAY("PNM", "P6 1 1 65535\n\xf2\xb7\x21\x8c\x06\xbd", 1, 1, 93);
}

#define NPY(type, shape)                                                                     \
    "\x93NUMPY\x01\x00\x44\x00{'descr': '" type "', 'fortran_order': False, 'shape': (" shape \
    "), }      \n"

static void arrays(void)
{
    DEEP(NPY("|u1", "1, 003") "\x01\x02\xff", IO_GRAY, 8, 1, 2, 255);
    DEEP(NPY("<u2", "1, 002") "\x01\x02\xff\x00", IO_GRAY, 16, 0x201, 255);
    DEEP(NPY(">u2", "1, 002") "\x01\x02\xff\x00", IO_GRAY, 16, 0x102, 0xff00);
    GRAY("NPY", NPY("<u2", "1, 002") "\x00\x00\xff\xff", 2, 1, 0, 255);
    check_refused(FILE_OF(NPY("<f8", "1, 001") "12345678"), "<f8; only uint8, uint16 and float32");
    check_refused(FILE_OF(NPY("|u1", "3,    ") "123"), "not of rows and columns");
    check_refused(FILE_OF(NPY("|u1", "2, 002") "123"), "truncated");
    check_refused(FILE_OF("\x93NUMPY\x01\x00\xff\xff{"), "header is too long");
    check_refused(FILE_OF("\x93NUMPY"), "truncated");
}

static void bad_pnm(void)
{
    check_refused(FILE_OF("P5 2 2 65535\n1234567"), "truncated");
    check_refused(FILE_OF("P2 2 2 256 1 2 3 257"), "outside 0..256");
    check_refused(FILE_OF("P5 1 1 256\n\x01\x01"), "outside 0..256");
    check_refused(FILE_OF("P5 2 2 0\n1234"), "greatest sample");
    check_refused(FILE_OF("P5 2 2 65536\n1234"), "greatest sample");
    check_refused(FILE_OF("P5 0 2 255\n"), "0x2 pixels is empty");
    check_refused(FILE_OF("P5 2 0 255\n"), "2x0 pixels is empty");
    check_refused(FILE_OF("P5 2 2 255\n123"), "truncated");
    check_refused(FILE_OF("P6 2 2 255\n12345678901"), "truncated");
    check_refused(FILE_OF("P4 9 2\n123"), "truncated");
    check_refused(FILE_OF("P2 2 2 255 1 2 3"), "truncated");
    check_refused(FILE_OF("P2 2 2 15 1 2 3 16"), "outside 0..15");
    check_refused(FILE_OF("P5 2 1 15\n\x01\x10"), "outside 0..15");
    check_refused(FILE_OF("P1 2 1 1 2"), "outside 0..1");
    check_refused(FILE_OF("P2 2 1 255 1 -2"), "not part of a number");
    check_refused(FILE_OF("P5 -2 2 255\n1234"), "not part of a number");
    check_refused(FILE_OF("P5 2 2 255x1234"), "header");
    check_refused(FILE_OF("P5 99999999999999999999 2 255\n"), "too large");
    check_refused(FILE_OF("P5 100000 100000 255\n"),
                  "100000x100000 pixels are more than the limit of 4294967296 (--max-pixels");
    check_refused(FILE_OF("P6 60000 60000 255\n"), "truncated");
    check_refused(FILE_OF("P1 60000 60000\n"), "truncated");
}

static void text_matrices(void)
{
    GRAY("text", "1 2 3\n4 5 6\n", 3, 2, 1, 2, 3, 4, 5, 6);
    GRAY("text", "1,2,3\r\n4,5,6", 3, 2, 1, 2, 3, 4, 5, 6);
    GRAY("text", "1\t2\t\n3\t4\t\n\n\n", 2, 2, 1, 2, 3, 4);
    GRAY("text", "1, 2 ,3,\n 4 , 5,6 ,\n", 3, 2, 1, 2, 3, 4, 5, 6);
    GRAY("text", "# made by hand\n\n  # again\n1 2 # first\n\n3 4", 2, 2, 1, 2, 3, 4);
    GRAY("text", "\xef\xbb\xbf" "0 255", 2, 1, 0, 255);
    GRAY("text", "12.0 1e1 +7 007 2.55e2 0.0 -0", 7, 1, 12, 10, 7, 7, 255, 0, 0);
    GRAY("text", "9", 1, 1, 9);
    GRAY("text", "9\n8\n7", 1, 3, 9, 8, 7);
    RGB("text", "1 2\n3 255\n", 2, 2, 1, 1, 1, 2, 2, 2, 3, 3, 3, 255, 255, 255);
}

static void check_floats(bytes file, io_color color, const float *samples, int count)
{
    const io_source source = {.data = file.data, .size = file.size};
    const io_request request = {.color = color, .floats = IO_FLOATS_KEPT};
    const io_limits limits = {1 << 20};
    io_picture p;
    io_error error;
    if (!io_decode_as(&source, &request, &limits, &p, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    CHECK_EQ(p.bits, 32);
    CHECK_EQ(p.width * p.height * p.channels, count);
    for (int i = 0; i < count; i++)
        CHECK(((float *)(void *)p.samples)[i] == samples[i]);
    io_picture_free(&p);
}

#define FLOATS(file, color, ...)                                                             \
    check_floats(FILE_OF(file), color, (const float[]){__VA_ARGS__},                         \
                 (int)(sizeof((float[]){__VA_ARGS__}) / sizeof(float)))

static void float_matrices(void)
{
    FLOATS("1 2\n3 4.5\n6 -7e-3", IO_GRAY, 1, 2, 3, 4.5f, 6, -7e-3f);
    FLOATS("1 2\n\n  300 4", IO_GRAY, 1, 2, 300, 4);
    FLOATS("1,16777217\n0.1,1e-45", IO_GRAY, 1, 16777216, 0.1f, 0x1p-149f);
    FLOATS("1 -2", IO_RGB, 1, 1, 1, -2, -2, -2);
    FLOATS("\223NUMPY\1\0\x48\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2)}"
           "              \n\0\0\x80\x3f\0\0\x20\xc0", IO_GRAY, 1, -2.5f);
    FLOATS("\223NUMPY\1\0\x48\0{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2)}"
           "              \n\x3f\x80\0\0\xc0\x20\0\0", IO_GRAY, 1, -2.5f);

    const io_source source = {.data = (const uint8_t *)"-1 0\n1 0.5", .size = 10};
    const io_request request = {.color = IO_GRAY, .floats = IO_FLOATS_SHOWN};
    const io_limits limits = {100};
    io_picture p;
    io_error error;
    CHECK(io_decode_as(&source, &request, &limits, &p, &error));
    CHECK_EQ(p.bits, 8);
    CHECK(memcmp(p.samples, "\0\x80\xff\xbf", 4) == 0);
    io_picture_free(&p);
}

static void bad_text_matrices(void)
{
    check_refused(FILE_OF("1 2\n3 4.5\n6 7.5"), "float or 32-bit samples, where 8-bit samples are needed");
    check_refused(FILE_OF("1 1e999"), "column 3: 1e999 is not a finite float");
    check_refused(FILE_OF("nan 1"), "line 1, column 1: nan is not a finite float");
    check_refused(FILE_OF("1 2\n-Inf 3"), "line 2, column 1: -Inf is not a finite float");
    check_refused(FILE_OF("1 2 3\n4 5\n"), "line 2 has 2 numbers, the first row has 3");
    check_refused(FILE_OF("1 2\n3 4 5\n"), "line 2 has 3 numbers, the first row has 2");
    check_refused(FILE_OF("1 2\n3 x\n"), "line 2, column 3: not a number");
    check_refused(FILE_OF("1 2\n3 nan\n"), "line 2, column 3: nan is not a finite float");
    check_refused(FILE_OF("1 2\n3 0x10\n"), "line 2, column 3: not a number");
    check_refused(FILE_OF("1 1-2\n"), "line 1, column 3: not a number");
    check_refused(FILE_OF("1 2..3\n"), "line 1, column 3: not a number");
    check_refused(FILE_OF("1,,2\n"), "line 1, column 3: a number is missing");
    check_refused(FILE_OF(",1,2\n"), "line 1, column 1: a number is missing");
    check_refused(FILE_OF("1 2\n3 \0 4\n"), "line 2, column 3: not a number");
    check_refused(FILE_OF("1 00000000000000000000000000000000000000000000000000000000000000000"
                          "0000000000000000000000"),
                  "column 3: not a number");
    io_picture picture;
    io_error error;
    CHECK(!decode_bytes(FILE_OF("1 2 3\n4 5 6"), IO_GRAY, 5, &picture, &error));
    CHECK_STR(error.reason, "more pixels than the limit of 5 (--max-pixels raises it)");
}

static void what_is_no_picture(void)
{
    static const char *const texts[] = {
        "To be or not to be", "12 angry men\n", "\n\n", "# 1 2 3\n", "   ", "...", "-", "GIF89a",
        "{\"a\": 1}", "P7\nWIDTH 1\n", "P5", "\x89PN", "\xff\xd8", "%PDF-1.4", "<svg/>", ",",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        check_refused(literal(texts[i], strlen(texts[i])), "not a picture that tmatch reads");
    check_refused(FILE_OF("\0\0\0\0"), "not a picture that tmatch reads");
    check_refused((bytes){0}, "empty file");
}

/* A cut text may be a smaller matrix or number; a raw picture is never whole. */
static void truncations_and_damage(void)
{
    check_truncations(FILE_OF("P5 3 2 255\nabcdef"), 17);
    check_truncations(FILE_OF("P6 2 1 15\n\1\2\3\4\5\6"), 16);
    check_truncations(FILE_OF("P2 3 2 255\n1 2 3\n4 5 67"), 22);
    check_truncations(FILE_OF("P4 9 2\nabcd"), 11);
    check_truncations(FILE_OF("1 2 3\n4 5 6\n7 8 9\n"), 0);
    check_damage(FILE_OF("P5 3 2 255\nabcdef"));
    check_damage(FILE_OF("P6 2 1 15\n\1\2\3\4\5\6"));
    check_damage(FILE_OF("P3 # c\n1 2 255\n1 2 3\n4 5 67"));
    check_damage(FILE_OF("P1 3 2 101 001"));
    check_damage(FILE_OF("P4 9 2\nabcd"));
    check_damage(FILE_OF("1 2 3\n4 5.0 6\n7,8,9 # e\n"));
}

static void random_bytes_are_survived(void)
{
    static const char *const starts[] = {"P1 ", "P2\n", "P3#", "P4 ", "P5 ", "P6 ", "1 ", "",
                                         "\x89PNG\r\n\x1a\n", "\xff\xd8\xff\xe0"};
    static const char alphabet[] = "0123456789 \n,.#e-+\xff";
    for (int64_t i = check_cases(3000); i > 0; i--) {
        uint8_t data[64];
        const char *begin = starts[check_random() % 10];
        size_t used = strlen(begin), size = used + (size_t)check_random_in(0, 40);
        memcpy(data, begin, used);
        for (size_t k = used; k < size; k++)
            data[k] = i % 2 ? (uint8_t)alphabet[check_random() % (sizeof alphabet - 1)]
                            : (uint8_t)check_random();
        check_truncations((bytes){data, size}, 0);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_pnm),
        TEST(pnm_comments),
        TEST(pnm_samples_are_scaled_to_the_nearest),
        TEST(sixteen_bits_are_kept),
        TEST(arrays),
        TEST(bad_pnm),
        TEST(text_matrices),
        TEST(float_matrices), TEST(bad_text_matrices),
        TEST(what_is_no_picture),
        TEST(truncations_and_damage),
        TEST(random_bytes_are_survived),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
