/* SPDX-License-Identifier: MIT */
/* TIFFs of signed, wide and float samples. */
#include "check.h"

#if TM_HAVE_TIFF
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tiff_sample.h"

enum { WIDTH = 37, HEIGHT = 29 };

static uint64_t values[WIDTH * HEIGHT * 3];

/* Numbers that are no unsigned ones of at most 16 bits become floats of the same value. */
static void numbers_become_floats(void)
{
    static const struct {
        int format, bits;
    } types[] = {{SAMPLEFORMAT_INT, 8},   {SAMPLEFORMAT_INT, 16},    {SAMPLEFORMAT_INT, 32},
                 {SAMPLEFORMAT_UINT, 32}, {SAMPLEFORMAT_IEEEFP, 32}, {SAMPLEFORMAT_IEEEFP, 64}};
    for (int i = 0; i < 36; i++) {
        tiff_sample s = {.width = WIDTH,
                         .height = HEIGHT,
                         .samples = i % 2 ? 3 : 1,
                         .photometric = i % 2 ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK,
                         .bits = types[i / 2 % 6].bits,
                         .format = types[i / 2 % 6].format,
                         .planar = i % 3 == 1,
                         .mode = i % 4 > 1 ? "wb" : "wl",
                         .tile_width = i > 18 ? 16 : 0,
                         .tile_height = 16,
                         .values = values};
        static float numbers[WIDTH * HEIGHT * 3];
        for (int k = 0; k < WIDTH * HEIGHT * 3; k++) {
            const int64_t low = s.format == SAMPLEFORMAT_UINT ? 0 : s.bits < 32 ? -100 : -(1 << 24);
            const float number = (float)check_random_in(low, s.bits < 32 ? 100 : 1 << 24);
            const float value = s.format == SAMPLEFORMAT_IEEEFP ? number / 1024 : number;
            numbers[k] = value;
            memcpy(&values[k], &(int64_t){(int64_t)value}, 8);
            if (s.format == SAMPLEFORMAT_IEEEFP && s.bits == 32)
                memcpy(&values[k], &value, 4);
            if (s.format == SAMPLEFORMAT_IEEEFP && s.bits == 64)
                memcpy(&values[k], &(double){(double)value}, 8);
        }
        bytes file = make_tiff(&s);
        const io_request request = {.color = s.samples == 3 ? IO_RGB : IO_GRAY,
                                    .floats = IO_FLOATS_KEPT};
        io_picture p = decode_tiff(&s, file, &request);
        CHECK_EQ(p.bits, 32);
        CHECK(memcmp(p.samples, numbers, (size_t)(WIDTH * HEIGHT * s.samples) * 4) == 0);
        io_picture_free(&p);
        check_refused(file, "float or 32-bit samples, where 8-bit samples are needed");
        free(file.data);
    }
}

static void numbers_that_are_no_floats_are_refused(void)
{
    tiff_sample s = {.width = 3,
                     .height = 2,
                     .samples = 1,
                     .bits = 32,
                     .format = SAMPLEFORMAT_UINT,
                     .photometric = PHOTOMETRIC_MINISBLACK,
                     .values = values};
    memset(values, 0, sizeof values);
    values[5] = (1 << 24) + 1;
    bytes file = make_tiff(&s);
    check_refused(file, "a TIFF of 32-bit samples that are not 32-bit floats;");
    free(file.data);
    s.bits = 64;
    s.format = SAMPLEFORMAT_IEEEFP;
    memcpy(&values[5], &(double){0.1}, 8);
    file = make_tiff(&s);
    check_refused(file, "a TIFF of 64-bit samples that are not 32-bit floats;");
    free(file.data);
}

/* Half floats: 1.5, -2, the least, infinity. */
static void half_floats(void)
{
    static const uint64_t halves[] = {0x3e00, 0xc000, 0x0001, 0x7c00};
    const float wanted[] = {1.5F, -2, 1.0F / (1 << 24), INFINITY};
    const tiff_sample s = {.width = 4,
                           .height = 1,
                           .samples = 1,
                           .bits = 16,
                           .values = halves,
                           .format = SAMPLEFORMAT_IEEEFP,
                           .photometric = PHOTOMETRIC_MINISBLACK};
    bytes file = make_tiff(&s);
    io_picture p = decode_tiff(&s, file, &(io_request){.color = IO_GRAY, .floats = IO_FLOATS_KEPT});
    CHECK(memcmp(p.samples, wanted, sizeof wanted) == 0);
    io_picture_free(&p);
    free(file.data);
}

#else

static void numbers_become_floats(void)
{
    check_skip("libtiff was missing");
}
#endif

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(numbers_become_floats),
#if TM_HAVE_TIFF
        TEST(numbers_that_are_no_floats_are_refused),
        TEST(half_floats),
#endif
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
