/* SPDX-License-Identifier: MIT */
/* TIFFs of every kind are read as they were written, whole and by rows. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#if TM_HAVE_TIFF
#include "io/orientation.h"
#include "tiff_sample.h"

enum { WIDTH = 37, HEIGHT = 29, MOST = 5 };

static const io_limits limits = {1 << 24};
static uint64_t values[WIDTH * HEIGHT * MOST];
static uint16_t palette[3 << 8];

static void random_values(int bits)
{
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = bits == 64 ? check_random() : check_random() & ((1ULL << bits) - 1);
}

static void check_rows(bytes file, const io_picture *whole, io_color color)
{
    io_source source = {.data = file.data, .size = file.size};
    io_rows *rows;
    io_error error;
    uint8_t *row = malloc((size_t)whole->width * 3);
    CHECK(io_rows_open(&rows, &source, color, &limits, &error));
    CHECK_EQ(io_rows_colored(rows), whole->colored);
    CHECK_EQ(io_rows_alpha_ignored(rows), whole->alpha_ignored);
    if (io_rows_sample_size(rows) == 2)
        CHECK_STR(io_rows_whole(rows), "a TIFF of 16-bit samples");
    for (int64_t y = 0; y < whole->height && !io_rows_whole(rows); y++) {
        if (!io_rows_read(rows, row, &error))
            check_fail(__FILE__, __LINE__, "row %d: %s", (int)y, error.reason);
        CHECK(memcmp(row, whole->samples + y * whole->width * color,
                     (size_t)(whole->width * color)) == 0);
    }
    const bool whole_only = io_rows_whole(rows) != NULL;
    io_rows_close(&rows);
    CHECK(io_rows_open(&rows, &source, color, &limits, &error));
    for (int64_t y = 0; y < whole->height && !whole_only; y++) {
        const int64_t skipped = check_random() % 2 ? 0 : check_random_in(0, whole->height - 1 - y);
        y += skipped;
        if (!io_rows_skip(rows, skipped, row, &error) || !io_rows_read(rows, row, &error))
            check_fail(__FILE__, __LINE__, "row %d after %d: %s", (int)y, (int)skipped, error.reason);
        CHECK(memcmp(row, whole->samples + y * whole->width * color,
                     (size_t)(whole->width * color)) == 0);
    }
    io_rows_close(&rows);
    free(row);
}

/* What a pixel is in 16 bits, or 8, by TIFF's own definition. */
static void expected_rgb(const tiff_sample *s, int pixel, unsigned *rgb)
{
    const uint64_t *v = values + (size_t)pixel * (size_t)s->samples;
    const uint64_t most = (1U << s->bits) - 1, wanted = s->bits > 8 ? 65535 : 255;
    for (int k = 0; k < 3; k++) {
        uint64_t value = s->photometric >= PHOTOMETRIC_RGB ? v[k] : v[0];
        if (s->photometric == PHOTOMETRIC_PALETTE) {
            rgb[k] = s->palette[((unsigned)k << s->bits) + v[0]] / 257;
            continue;
        }
        value = (value * wanted + most / 2) / most;
        if (s->photometric == PHOTOMETRIC_SEPARATED)
            value = ((wanted - value) * (wanted - (v[3] * wanted + most / 2) / most) + wanted / 2) /
                    wanted;
        rgb[k] = (unsigned)(s->photometric == PHOTOMETRIC_MINISWHITE ? wanted - value : value);
    }
}

static void check_kind(const tiff_sample *s)
{
    bytes file = make_tiff(s);
    for (int i = 0; i < 4; i++) {
        const io_request request = {.color = i & 1 ? IO_RGB : IO_GRAY, .deep = i & 2};
        io_picture p = decode_tiff(s, file, &request);
        const bool deep_file = s->bits > 8 && s->photometric != PHOTOMETRIC_PALETTE;
        CHECK_EQ(p.colored, s->photometric > PHOTOMETRIC_MINISBLACK);
        CHECK_EQ(8 * io_sample_size(&p), deep_file && request.deep ? 16 : 8);
        for (int64_t k = 0; k < p.width * p.height; k++) {
            unsigned rgb[3];
            expected_rgb(s, (int)k, rgb);
            const unsigned luma =
                (9797 * rgb[0] + 19234 * rgb[1] + 3737 * rgb[2] + (deep_file ? 16384 : 0)) >> 15;
            for (int c = 0; c < p.channels; c++) {
                const unsigned wanted = p.channels == 3 ? rgb[c] : luma;
                const int64_t at = k * p.channels + c;
                if (p.bits == 16)
                    CHECK_EQ(((uint16_t *)(void *)p.samples)[at], wanted);
                else
                    CHECK_EQ(p.samples[at], deep_file ? (wanted * 255 + 32895) >> 16 : wanted);
            }
        }
        if (!request.deep)
            check_rows(file, &p, request.color);
        io_picture_free(&p);
    }
    free(file.data);
}

static const struct {
    int photometric, samples, bits;
} kinds[] = {
    {PHOTOMETRIC_MINISBLACK, 1, 1},  {PHOTOMETRIC_MINISBLACK, 1, 2},
    {PHOTOMETRIC_MINISBLACK, 1, 4},  {PHOTOMETRIC_MINISBLACK, 1, 8},
    {PHOTOMETRIC_MINISBLACK, 1, 12}, {PHOTOMETRIC_MINISBLACK, 1, 16},
    {PHOTOMETRIC_MINISWHITE, 1, 1},  {PHOTOMETRIC_MINISWHITE, 1, 4},
    {PHOTOMETRIC_MINISWHITE, 1, 8},  {PHOTOMETRIC_MINISWHITE, 1, 16},
    {PHOTOMETRIC_PALETTE, 1, 1},     {PHOTOMETRIC_PALETTE, 1, 4},
    {PHOTOMETRIC_PALETTE, 1, 8},     {PHOTOMETRIC_RGB, 3, 4},
    {PHOTOMETRIC_RGB, 3, 8},         {PHOTOMETRIC_RGB, 3, 10},
    {PHOTOMETRIC_RGB, 3, 16},        {PHOTOMETRIC_RGB, 4, 8},
    {PHOTOMETRIC_RGB, 5, 16},        {PHOTOMETRIC_SEPARATED, 4, 8},
    {PHOTOMETRIC_SEPARATED, 4, 16},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static tiff_sample sample_of(int kind)
{
    tiff_sample s = {.width = WIDTH,
                     .height = HEIGHT,
                     .photometric = kinds[kind].photometric,
                     .samples = kinds[kind].samples,
                     .bits = kinds[kind].bits,
                     .values = values,
                     .rows_per_strip = 5};
    random_values(s.bits);
    for (int i = 0; i < 3 << 8; i++)
        palette[i] = (uint16_t)(check_random() % 256 * 257);
    palette[0] = 0xffff; /* or they might all be below 256 */
    s.palette = s.photometric == PHOTOMETRIC_PALETTE ? palette : NULL;
    s.extra_count = s.photometric == PHOTOMETRIC_RGB ? s.samples - 3 : 0;
    return s;
}

static void every_kind(void)
{
    static const char *const modes[] = {"wl", "wb", "wl8", "wb8"};
    static const int codecs[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_PACKBITS};
    for (int i = 0; i < KINDS * 12; i++) {
        tiff_sample s = sample_of(i % KINDS);
        s.mode = modes[check_random() % 4];
        s.compression = codecs[check_random() % 3];
        s.planar = s.samples > 1 && i / KINDS % 2;
        s.rows_per_strip = (int)check_random_in(0, HEIGHT);
        s.tile_width = i / KINDS % 3 ? 0 : 16;
        s.tile_height = (int)check_random_in(1, 3) * 16;
        check_kind(&s);
    }
}

/* Decoded row by row, whatever it is compressed with. */
static void a_large_strip(void)
{
    enum { SIDE = 2200 };
    tiff_sample s = {.width = SIDE,
                     .height = SIDE,
                     .samples = 1,
                     .bits = 8,
                     .photometric = PHOTOMETRIC_MINISBLACK};
    uint64_t *large = malloc((size_t)SIDE * SIDE * sizeof *large);
    for (int i = 0; i < SIDE * SIDE; i++)
        large[i] = check_random() % 3 + (uint64_t)(i / SIDE % 251);
    s.values = large;
    for (int lzw = 0; lzw < 2; lzw++) {
        s.compression = lzw ? COMPRESSION_LZW : COMPRESSION_NONE;
        bytes file = make_tiff(&s);
        io_picture p = decode_tiff(&s, file, &(io_request){.color = IO_GRAY});
        for (int i = 0; i < SIDE * SIDE; i++)
            CHECK_EQ(p.samples[i], large[i]);
        check_rows(file, &p, IO_GRAY);
        io_picture_free(&p);
        file.size -= file.size / 3;
        check_refused(file, "damaged TIFF");
        free(file.data);
    }
    free(large);
}

/* Where alpha is 0, the mask is; colours that were multiplied by it are divided again. */
static void alpha_is_a_mask(void)
{
    for (int i = 0; i < 32; i++) {
        const bool deep = i & 1, rgb = i & 2, associated = i & 4;
        const int colors = rgb ? 3 : 1, n = colors + 1;
        const unsigned most = deep ? 65535 : 255;
        tiff_sample s = {.width = WIDTH,
                         .height = HEIGHT,
                         .samples = n,
                         .bits = deep ? 16 : 8,
                         .photometric = rgb ? PHOTOMETRIC_RGB : PHOTOMETRIC_MINISBLACK,
                         .planar = i & 8,
                         .tile_width = i & 16,
                         .tile_height = 16,
                         .values = values,
                         .extra_count = 1,
                         .extras = {associated ? EXTRASAMPLE_ASSOCALPHA : EXTRASAMPLE_UNASSALPHA}};
        random_values(s.bits);
        for (int k = 0; k < WIDTH * HEIGHT; k++)
            values[k * n + colors] = k % 3 ? k % 3 == 1 ? most / 2 : most : 0;
        bytes file = make_tiff(&s);
        for (int masked = 0; masked < 2; masked++) {
            const io_request request = {
                .color = rgb ? IO_RGB : IO_GRAY, .deep = true, .alpha = masked};
            io_picture p = decode_tiff(&s, file, &request);
            CHECK_EQ(p.alpha_ignored, !masked);
            CHECK_EQ(p.mask != NULL, masked);
            for (int k = 0; k < WIDTH * HEIGHT; k++) {
                const uint64_t alpha = values[k * n + colors];
                for (int c = 0; c < colors; c++) {
                    uint64_t value = values[k * n + c];
                    if (associated && alpha)
                        value = (value * most + alpha / 2) / alpha;
                    CHECK_EQ(deep ? ((uint16_t *)(void *)p.samples)[k * colors + c]
                                  : p.samples[k * colors + c],
                             value < most ? value : most);
                }
                if (masked)
                    CHECK_EQ(p.mask[k] != 0, alpha != 0);
            }
            io_picture_free(&p);
        }
        free(file.data);
    }
}

/* As libtiff itself shows them. */
static void brightness_and_colour_apart(void)
{
    static const int codecs[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_JPEG};
    for (int i = 0; i < 9; i++) {
        tiff_sample s = {.width = WIDTH,
                         .height = HEIGHT,
                         .samples = 3,
                         .bits = 8,
                         .values = values,
                         .photometric = PHOTOMETRIC_YCBCR,
                         .compression = codecs[i % 3],
                         .blocks = 1 << i / 3,
                         .rows_per_strip = 16};
        if (!TIFFIsCODECConfigured((uint16_t)s.compression))
            continue;
        random_values(8);
        if (s.compression == COMPRESSION_JPEG && s.blocks == 4)
            s.blocks = 1;
        bytes file = make_tiff(&s);
        uint8_t *rgba = read_tiff_rgba(file, WIDTH, HEIGHT);
        io_picture p = decode_tiff(&s, file, &(io_request){.color = IO_RGB});
        for (int k = 0; k < WIDTH * HEIGHT; k++)
            if (memcmp(p.samples + 3 * k, rgba + 4 * k, 3) != 0)
                check_fail(__FILE__, __LINE__, "codec %d, blocks of %d, pixel %d", s.compression,
                           s.blocks, k);
        CHECK(p.colored);
        check_rows(file, &p, IO_RGB);
        io_picture_free(&p);
        free(rgba);
        free(file.data);
    }
}

/* What was never written is 0. */
static void parts_may_be_left_out(void)
{
    for (int i = 0; i < 2; i++) {
        tiff_sample s = sample_of(3);
        s.sparse = true;
        s.tile_width = i ? 16 : 0;
        s.tile_height = 16;
        bytes file = make_tiff(&s);
        io_picture p = decode_tiff(&s, file, &(io_request){.color = IO_GRAY});
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++)
                CHECK_EQ(p.samples[y * WIDTH + x], i ? x < 16 && y < 16 ? 0 : values[y * WIDTH + x]
                                                   : y < s.rows_per_strip ? 0
                                                                          : values[y * WIDTH + x]);
        io_picture_free(&p);
        free(file.data);
    }
}

/* Upright, or as stored, whole; by rows only as stored. */
static void orientations_are_honoured(void)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        tiff_sample s = sample_of(3);
        s.mode = orientation & 1 ? "wb8" : "wl";
        bytes plain = make_tiff(&s);
        s.orientation = orientation;
        bytes file = make_tiff(&s);
        const io_source sources[] = {{.data = plain.data, .size = plain.size},
                                     {.data = file.data, .size = file.size}};
        io_request request = {.color = IO_GRAY};
        io_picture upright, turned;
        io_error error;
        CHECK(io_decode_as(&sources[0], &request, &limits, &upright, &error));
        CHECK(io_orient_picture(&upright, orientation, NULL, &error));
        CHECK(io_decode_as(&sources[1], &request, &limits, &turned, &error));
        CHECK_EQ(turned.width, orientation > 4 ? HEIGHT : WIDTH);
        CHECK_EQ(turned.orientation, orientation > 1 ? orientation : 0);
        CHECK(memcmp(turned.samples, upright.samples, WIDTH * HEIGHT) == 0);
        io_picture_free(&turned);
        request.stored_orientation = true;
        CHECK(io_decode_as(&sources[1], &request, &limits, &turned, &error));
        CHECK_EQ(turned.width, WIDTH);
        for (int i = 0; i < WIDTH * HEIGHT; i++)
            CHECK_EQ(turned.samples[i], values[i]);
        io_picture_free(&turned);
        io_picture_free(&upright);
        free(plain.data);
        free(file.data);
    }
}

/* Overviews and masks are no pages; the first directory is one, whatever it says. */
static void pages_are_found(void)
{
    static const int subfiles[] = {FILETYPE_PAGE, FILETYPE_REDUCEDIMAGE, FILETYPE_PAGE,
                                   FILETYPE_MASK, FILETYPE_PAGE};
    static const char *const modes[] = {"wl", "wb", "wl8", "wb8"};
    for (int i = 0; i < 8; i++) {
        tiff_sample s = {.samples = 1,
                         .bits = 8,
                         .photometric = PHOTOMETRIC_MINISBLACK,
                         .values = values,
                         .mode = modes[i % 4]};
        bytes file = {0};
        random_values(8);
        for (int k = 0; k < 5; k++) {
            s.subfile = k == 0 && i > 3 ? FILETYPE_REDUCEDIMAGE : subfiles[k];
            s.width = s.height = k + 1;
            add_tiff_page(&file, &s);
        }
        CHECK_EQ(io_format_tiff.pages(&(io_source){.data = file.data, .size = file.size}), 3);
        io_picture p;
        io_error error;
        for (int page = 0; page < 4; page++) {
            io_source source = {.data = file.data, .size = file.size, .page = page};
            const bool good = io_decode(&source, IO_GRAY, &limits, &p, &error);
            CHECK_EQ(good, page < 3);
            if (!good) {
                CHECK_STR(error.reason, "the TIFF has no page 4");
                continue;
            }
            CHECK_EQ(p.width, 2 * page + 1);
            for (int k = 0; k < p.width * p.width; k++)
                CHECK_EQ(p.samples[k], values[k]);
            io_picture_free(&p);
        }
        free(file.data);
    }
}

static void check_unread(tiff_sample s, const char *reason)
{
    s.width = s.height = 16;
    s.values = values;
    bytes file = make_tiff(&s);
    check_refused(file, reason);
    free(file.data);
}

static void what_is_not_read_is_named(void)
{
    const int black = PHOTOMETRIC_MINISBLACK;
    random_values(8);
    check_unread((tiff_sample){.samples = 3, .bits = 8, .photometric = PHOTOMETRIC_CIELAB},
                 "a TIFF of CIELAB colours, which tmatch does not read");
    check_unread((tiff_sample){.samples = 5, .bits = 8, .photometric = black, .extra_count = 2},
                 "a TIFF of 5 bands that are not colours");
    check_unread(
        (tiff_sample){
            .samples = 4, .bits = 8, .photometric = PHOTOMETRIC_SEPARATED, .inks = INKSET_MULTIINK},
        "inks other than CMYK");
    check_unread(
        (tiff_sample){
            .samples = 1, .bits = 64, .photometric = black, .format = SAMPLEFORMAT_COMPLEXIEEEFP},
        "64-bit complex numbers");
    check_unread((tiff_sample){.samples = 1, .bits = 64, .photometric = black}, "64-bit integers");
    check_unread((tiff_sample){.samples = 1, .bits = 16, .photometric = PHOTOMETRIC_CFA},
                 "a camera's raw picture");
}

#else
#include "samples.h"

static void a_build_without_libtiff_says_so(void)
{
    check_refused((bytes){(uint8_t[]){'I', 'I', 42, 0, 8, 0, 0, 0}, 8},
                  "TIFF, which this build does not read (libtiff was missing)");
}

static void every_kind(void)
{
    check_skip("libtiff was missing");
}
#endif

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_kind),
#if TM_HAVE_TIFF
        TEST(a_large_strip),
        TEST(alpha_is_a_mask),
        TEST(brightness_and_colour_apart),
        TEST(parts_may_be_left_out),
        TEST(orientations_are_honoured),
        TEST(pages_are_found),
        TEST(what_is_not_read_is_named),
#else
        TEST(a_build_without_libtiff_says_so),
#endif
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
