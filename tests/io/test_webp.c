/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "io/orientation.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

#if TM_HAVE_WEBP
#include <webp/decode.h>
#include <webp/encode.h>

enum { WIDTH = 45, HEIGHT = 31, PIXELS = WIDTH * HEIGHT };

static const io_limits limits = {1 << 20};
static uint8_t rgba[PIXELS * 4];

static bytes make_webp(bool lossy, bool alpha)
{
    uint8_t *data = NULL;
    for (int i = 0; i < PIXELS * 4; i++)
        rgba[i] = (uint8_t)(lossy ? i / 7 + check_random_in(0, 9) : (int64_t)check_random());
    for (int i = 0; i < PIXELS; i++)
        rgba[4 * i + 3] = (uint8_t)(!alpha ? 255 : i % 3 ? i % 5 * 60 + 1 : 0);
    const size_t size = lossy ? WebPEncodeRGBA(rgba, WIDTH, HEIGHT, 4 * WIDTH, 80, &data)
                              : WebPEncodeLosslessRGBA(rgba, WIDTH, HEIGHT, 4 * WIDTH, &data);
    CHECK(size > 0);
    bytes file = {malloc(size), size};
    memcpy(file.data, data, size);
    WebPFree(data);
    return file;
}

static void every_kind(void)
{
    for (int i = 0; i < 16; i++) {
        const bool lossy = i & 1, alpha = i & 2;
        const io_request request = {.color = i & 4 ? IO_RGB : IO_GRAY, .alpha = i & 8};
        bytes file = make_webp(lossy, alpha);
        const io_source source = {.data = file.data, .size = file.size};
        int width, height;
        uint8_t *wanted = WebPDecodeRGBA(file.data, file.size, &width, &height);
        io_picture p;
        io_error error;
        if (!io_decode_as(&source, &request, &limits, &p, &error))
            check_fail(__FILE__, __LINE__, "%s", error.reason);
        CHECK_EQ(p.width, WIDTH);
        CHECK_EQ(p.height, HEIGHT);
        CHECK_STR(p.format, "WebP");
        CHECK_EQ(p.alpha_ignored, alpha && !request.alpha);
        CHECK_EQ(p.mask != NULL, alpha && request.alpha);
        for (int k = 0; k < PIXELS; k++) {
            const uint8_t *w = wanted + 4 * k;
            if (p.channels == 3)
                CHECK(memcmp(p.samples + 3 * k, w, 3) == 0);
            else
                CHECK_EQ(p.samples[k], (9797 * w[0] + 19234 * w[1] + 3737 * w[2]) >> 15);
            if (!lossy && rgba[4 * k + 3])
                CHECK(memcmp(w, rgba + 4 * k, 4) == 0);
            if (p.mask)
                CHECK_EQ(p.mask[k] != 0, rgba[4 * k + 3] != 0);
        }
        io_picture_free(&p);
        WebPFree(wanted);
        free(file.data);
    }
}

/* The file in the extended form, whose EXIF data stand behind the samples. */
static bytes add_exif(bytes file, int orientation)
{
    static const uint8_t head[] = "VP8X\x0a\0\0\0\x08\0\0\0\x2c\0\0\x1e\0\0";
    uint8_t exif[] = "EXIF\x1a\0\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0?\0\0\0\0\0\0";
    const size_t head_size = sizeof head - 1, exif_size = sizeof exif - 2;
    bytes larger = {malloc(file.size + head_size + exif_size), file.size + head_size + exif_size};
    exif[8 + 18] = (uint8_t)orientation;
    memcpy(larger.data, file.data, 12);
    memcpy(larger.data + 12, head, head_size);
    memcpy(larger.data + 12 + head_size, file.data + 12, file.size - 12);
    memcpy(larger.data + file.size + head_size, exif, exif_size);
    for (int i = 0; i < 4; i++)
        larger.data[4 + i] = (uint8_t)((larger.size - 8) >> 8 * i);
    free(file.data);
    return larger;
}

static void orientations_are_honoured(void)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        bytes file = add_exif(make_webp(false, false), orientation);
        const io_source source = {.data = file.data, .size = file.size};
        io_request request = {.color = IO_RGB, .stored_orientation = true};
        io_picture stored, upright;
        io_error error;
        CHECK(io_decode_as(&source, &request, &limits, &stored, &error));
        CHECK_EQ(stored.width, WIDTH);
        CHECK(io_orient_picture(&stored, orientation, NULL, &error));
        request.stored_orientation = false;
        CHECK(io_decode_as(&source, &request, &limits, &upright, &error));
        CHECK_EQ(upright.width, orientation > 4 ? HEIGHT : WIDTH);
        CHECK(memcmp(upright.samples, stored.samples, PIXELS * 3) == 0);
        io_picture_free(&stored);
        io_picture_free(&upright);
        check_truncations(file, file.size);
        check_damage(file);
        free(file.data);
    }
}

/* The size is known, so that room can be made for the whole. */
static void rows_say_that_it_is_decoded_whole(void)
{
    bytes file = make_webp(true, false);
    io_source source = {.data = file.data, .size = file.size};
    io_rows *rows;
    io_error error;
    uint8_t row[WIDTH];
    CHECK(io_rows_open(&rows, &source, IO_GRAY, &limits, &error));
    CHECK_EQ(io_rows_width(rows), WIDTH);
    CHECK_EQ(io_rows_height(rows), HEIGHT);
    CHECK_STR(io_rows_whole(rows), "a WebP");
    CHECK(!io_rows_read(rows, row, &error));
    CHECK_STR(error.reason, "a WebP is decoded whole, not by rows");
    io_rows_close(&rows);
    free(file.data);
}

static void absurd_sizes_are_refused(void)
{
    bytes file = make_webp(true, false); /* 14 bits each at 26 and 28 */
    io_picture picture;
    io_error error;
    CHECK(!decode_bytes(file, IO_GRAY, PIXELS - 1, &picture, &error));
    CHECK_STR(error.reason,
              "45x31 pixels are more than the limit of 1394 (--max-pixels raises it)");
    memset(file.data + 26, 0xff, 4);
    check_refused(file, "damaged WebP");
    free(file.data);
}

static void movies_are_refused(void)
{
    static const uint8_t movie[] = "RIFF\x28\0\0\0WEBPVP8X\x0a\0\0\0\x02\0\0\0\x0f\0\0\x0f\0\0"
                                   "ANIM\x06\0\0\0\0\0\0\0\0\0\0\0\0";
    check_refused((bytes){(uint8_t *)(uintptr_t)movie, sizeof movie - 1}, "an animated WebP;");
}

static void truncation_is_refused_at_every_byte(void)
{
    for (int i = 0; i < 4; i++) {
        bytes file = make_webp(i & 1, i & 2);
        check_truncations(file, file.size);
        check_refused((bytes){file.data, file.size - 1}, "damaged WebP: the file is truncated");
        free(file.data);
    }
}

static void damage_is_survived(void)
{
    for (int i = 0; i < 4; i++) {
        bytes file = make_webp(i & 1, i & 2);
        check_damage(file);
        free(file.data);
    }
}
#else
static void a_build_without_libwebp_says_so(void)
{
    check_refused((bytes){(uint8_t[]){'R', 'I', 'F', 'F', 0, 0, 0, 0, 'W', 'E', 'B', 'P'}, 12},
                  "WebP, which this build does not read (libwebp was missing)");
}

static void every_kind(void)
{
    check_skip("libwebp was missing");
}
#endif

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_kind),
#if TM_HAVE_WEBP
        TEST(orientations_are_honoured),
        TEST(rows_say_that_it_is_decoded_whole),
        TEST(absurd_sizes_are_refused),
        TEST(movies_are_refused),
        TEST(truncation_is_refused_at_every_byte),
        TEST(damage_is_survived),
#else
        TEST(a_build_without_libwebp_says_so),
#endif
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
