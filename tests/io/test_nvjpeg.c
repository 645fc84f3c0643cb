/* SPDX-License-Identifier: MIT */
/* Which JPEG files nvJPEG is given. */
#include "check.h"
#include "io/format.h"
#include "io/nvidia/nvjpeg.h"

#include <stdlib.h>
#include <string.h>

typedef struct file {
    uint8_t data[8192];
    size_t size;
} file;

static void put(file *f, int marker, const char *bytes, size_t size)
{
    uint8_t *to = f->data + f->size;
    to[0] = 0xff;
    to[1] = (uint8_t)marker;
    to[2] = (uint8_t)((size + 2) >> 8);
    to[3] = (uint8_t)(size + 2);
    memcpy(to + 4, bytes, size);
    f->size += 4 + size;
}

#define PUT(f, marker, bytes) put(f, marker, bytes, sizeof bytes - 1)
#define THREE "\10\0\40\0\60\3\1\42\0\2\21\1\3\21\1" /* 48 x 32, 4:2:0 */

static file begin(void)
{
    return (file){.data = {0xff, 0xd8}, .size = 2};
}

static void end(file *f)
{
    PUT(f, 0xda, "\1\1\0\0\77\0");
    memcpy(f->data + f->size, "samples\xff\0\xff\xd9", 11);
    f->size += 11;
}

static void expect(const file *f, io_nvjpeg_kind kind, const char *reason)
{
    const io_source source = {.data = f->data, .size = f->size};
    io_error error = {.reason = ""};
    io_picture p;

    CHECK_EQ(io_nvjpeg_look(&source, &(io_limits){10000}, &p, &error), kind);
    CHECK_STR(error.reason, reason);
    if (kind == IO_NVJPEG_SUITED)
        CHECK(p.width == 48 && p.height == 32 && !p.samples && p.channels == 1);
}

static void expect_frame(int marker, const char *frame, size_t size, io_nvjpeg_kind kind, const char *reason)
{
    file f = begin();
    put(&f, 0xfe, "a comment", 9);
    put(&f, marker, frame, size);
    end(&f);
    expect(&f, kind, reason);
}

#define EXPECT(marker, frame, kind, reason) expect_frame(marker, frame, sizeof frame - 1, kind, reason)

static void suited(void)
{
    EXPECT(0xc0, THREE, IO_NVJPEG_SUITED, "");
    EXPECT(0xc1, THREE, IO_NVJPEG_SUITED, "");
    EXPECT(0xc2, THREE, IO_NVJPEG_SUITED, "");
    EXPECT(0xc0, "\10\0\40\0\60\1\1\21\0", IO_NVJPEG_SUITED, "");
    expect(&(file){.data = "P5 1 1 255 a", .size = 12}, IO_NVJPEG_OTHER, "");
    expect(&(file){.data = {0xff, 0xd8}, .size = 2}, IO_NVJPEG_OTHER, "");
}

static void unsuited(void)
{
    EXPECT(0xc9, THREE, IO_NVJPEG_UNSUITED, "its arithmetic coding");
    EXPECT(0xca, THREE, IO_NVJPEG_UNSUITED, "its arithmetic coding");
    EXPECT(0xc3, THREE, IO_NVJPEG_UNSUITED, "lossless JPEG");
    EXPECT(0xcb, THREE, IO_NVJPEG_UNSUITED, "lossless JPEG");
    EXPECT(0xc5, THREE, IO_NVJPEG_UNSUITED, "hierarchical JPEG");
    EXPECT(0xc1, "\14\0\40\0\60\1\1\21\0", IO_NVJPEG_UNSUITED, "samples of more than 8 bits");
    EXPECT(0xc0, "\10\0\40\0\60\4\1\21\0\2\21\0\3\21\0\4\21\0", IO_NVJPEG_UNSUITED, "CMYK");
    EXPECT(0xc0, "\10\0\40\0\60\2\1\21\0\2\21\0", IO_NVJPEG_UNSUITED, "so many channels");
    EXPECT(0xc0, "\10\0\40\0\60\3R\21\0G\21\0B\21\0", IO_NVJPEG_UNSUITED, "RGB");
    EXPECT(0xc0, "\10\0\40\0\60\3\1\21\0\2\41\0\3\21\0", IO_NVJPEG_UNSUITED,
           "luma of a lower resolution than the colours");
}

/* Adobe's marker says what the channels are, but for JFIF, which says it too. */
static void markers(void)
{
    for (int i = 0; i < 4; i++) {
        const bool jfif = i & 1, rgb = i & 2;
        file f = begin();
        if (jfif)
            PUT(&f, 0xe0, "JFIF\0\1\1\0\0\1\0\1\0\0");
        put(&f, 0xee, rgb ? "Adobe\0\144\0\0\0\0\0" : "Adobe\0\144\0\0\0\0\1", 12);
        PUT(&f, 0xc0, THREE);
        end(&f);
        expect(&f, rgb && !jfif ? IO_NVJPEG_UNSUITED : IO_NVJPEG_SUITED, rgb && !jfif ? "RGB" : "");
    }
}

static void broken(void)
{
    file f = begin();
    PUT(&f, 0xc0, THREE);
    end(&f);
    f.size -= 2;
    expect(&f, IO_NVJPEG_BROKEN, "damaged JPEG: the file is truncated");
    memcpy(f.data + f.size, "\xff\xd9 and more", 11);
    f.size += 11;
    expect(&f, IO_NVJPEG_SUITED, "");
    for (size_t size = 4; size < 34; size++) {
        file cut = {.size = size};
        memcpy(cut.data, f.data, size);
        expect(&cut, IO_NVJPEG_BROKEN, size < 31 ? "damaged JPEG: no scan" : "damaged JPEG: the file is truncated");
    }
    EXPECT(0xc0, "\10\0\0\0\60\1\1\21\0", IO_NVJPEG_BROKEN, "a picture of 48x0 pixels is empty");
    EXPECT(0xc0, "\10\1\0\1\0\1\1\21\0", IO_NVJPEG_BROKEN, "256x256 pixels are more than the limit of 10000 (--max-pixels raises it)");
}

/* 48 x 32 pixels are 6 MCUs in 4:2:0, and 24 in gray. */
static void restarts(void)
{
    static const int wanted[] = {5, 2, 1, 0};
    for (int i = 0; i < 16; i++) {
        const bool gray = i & 8, all = i & 4;
        const int interval = i % 4 == 3 ? 6 : i % 4 == 2 ? 5 : i % 4 + 1;
        const int count = gray ? (24 + interval - 1) / interval - 1 : wanted[i % 4];
        file f = begin();
        put(&f, 0xdd, (const char[]){0, (char)interval}, 2);
        if (gray)
            PUT(&f, 0xc0, "\10\0\40\0\60\1\1\42\0");
        else
            PUT(&f, 0xc0, THREE);
        if (gray)
            PUT(&f, 0xda, "\1\1\0\0\77\0");
        else
            PUT(&f, 0xda, "\3\1\0\2\0\3\0\0\77\0");
        for (int k = 0; k < count - !all; k++) {
            const uint8_t data[] = {'a', 0xff, 0, 0xff, 0xff, (uint8_t)(0xd0 + k % 8)};
            memcpy(f.data + f.size, data, sizeof data);
            f.size += sizeof data;
        }
        memcpy(f.data + f.size, "b\xff\xd9", 3);
        f.size += 3;
        const bool good = all || count == 0;
        expect(&f, good ? IO_NVJPEG_SUITED : IO_NVJPEG_BROKEN, good ? "" : "damaged JPEG: its data end too early");
    }
}

static void scans(void)
{
    for (int more = 498; more < 502; more++) {
        file f = begin();
        PUT(&f, 0xc2, THREE);
        for (int i = 0; i < more; i++)
            PUT(&f, 0xda, "");
        end(&f);
        expect(&f, more + 1 > IO_JPEG_MOST_SCANS ? IO_NVJPEG_BROKEN : IO_NVJPEG_SUITED,
               more + 1 > IO_JPEG_MOST_SCANS ? "damaged JPEG: more than 500 scans" : "");
    }
}

/* Nothing outside of the file is read, which a build with sanitizers sees, and every answer is one of the four. */
static void random_bytes(void)
{
    for (int64_t i = check_cases(20000); i > 0; i--) {
        file f = begin();
        PUT(&f, 0xc2, THREE);
        end(&f);
        for (int64_t k = check_random_in(1, 6); k > 0; k--)
            f.data[check_random_in(2, (int64_t)f.size - 1)] = (uint8_t)check_random();
        const size_t size = (size_t)check_random_in(0, (int64_t)f.size);
        uint8_t *data = malloc(size + !size);
        memcpy(data, f.data, size);
        const io_source source = {.data = data, .size = size};
        io_picture p;
        io_error error;
        const io_nvjpeg_kind kind = io_nvjpeg_look(&source, &(io_limits){0}, &p, &error);
        CHECK(kind >= IO_NVJPEG_OTHER && kind <= IO_NVJPEG_BROKEN);
        free(data);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(suited), TEST(unsuited), TEST(markers), TEST(broken), TEST(restarts), TEST(scans), TEST(random_bytes)};
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
