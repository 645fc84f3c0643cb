/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>

enum { WIDTH = 19, HEIGHT = 13, PIXELS = WIDTH * HEIGHT, PLAIN = 0, RLE8, RLE4, FIELDS };

static const io_limits limits = {1 << 20};

/* What is in the file; pixels hold numbers of the palette, or samples for the masks. */
typedef struct bmp_sample {
    unsigned header, bits, compression;
    bool top_down, gray;
    uint32_t masks[4];
    uint32_t pixels[PIXELS];
    uint8_t palette[256][4]; /* blue, green, red */
} bmp_sample;

typedef struct writer {
    bytes file;
} writer;

static void put(writer *w, uint64_t value, int count)
{
    w->file.data = realloc(w->file.data, w->file.size + (size_t)count);
    for (int i = 0; i < count; i++)
        w->file.data[w->file.size++] = (uint8_t)(value >> 8 * i);
}

static void put_rows(writer *w, const bmp_sample *s)
{
    for (int y = 0; y < HEIGHT; y++) {
        const uint32_t *row = s->pixels + (s->top_down ? y : HEIGHT - 1 - y) * WIDTH;
        const size_t start = w->file.size;
        uint32_t held = 0;
        for (int x = 0; x < WIDTH; x++) {
            if (s->bits >= 8) {
                put(w, row[x], (int)s->bits / 8);
                continue;
            }
            held = held << s->bits | row[x];
            const int in_byte = 8 / (int)s->bits;
            if (x % in_byte == in_byte - 1 || x == WIDTH - 1)
                put(w, held << (int)s->bits * (in_byte - 1 - x % in_byte), 1);
        }
        while ((w->file.size - start) % 4)
            put(w, 0, 1);
    }
}

/* Runs, numbers as they are, and a way past some, by turns. */
static void put_runs(writer *w, bmp_sample *s)
{
    for (int y = HEIGHT - 1; y >= 0; y--) {
        uint32_t *row = s->pixels + y * WIDTH;
        for (int x = 0; x < WIDTH;) {
            const int left = WIDTH - x, kind = (int)check_random_in(0, 2);
            int count = (int)check_random_in(3, 7);
            count = count > left ? left : count;
            if (kind == 0 && count >= 3) {
                put(w, (uint32_t)count << 8, 2);
                for (int i = 0; i < count; i += s->bits == 4 ? 2 : 1)
                    put(w,
                        s->bits == 8 ? row[x + i]
                                     : row[x + i] << 4 | (i + 1 < count ? row[x + i + 1] : 0),
                        1);
                const int written = s->bits == 8 ? count : (count + 1) / 2;
                if (written % 2)
                    put(w, 0, 1);
            } else if (kind == 1) {
                put(w, 0x0200 | (uint32_t)count << 16, 4);
                memset(row + x, 0, (size_t)count * sizeof *row);
            } else {
                put(w, (uint32_t)count, 1);
                put(w, s->bits == 8 ? row[x] : row[x] << 4 | row[x + (count > 1)], 1);
                for (int i = 2; i < count; i++)
                    row[x + i] = row[x + i % 2];
                for (int i = 1; i < count && s->bits == 8; i++)
                    row[x + i] = row[x];
            }
            x += count;
        }
        put(w, 0, 2);
    }
    put(w, 0x0100, 2);
}

static bytes make_bmp(bmp_sample *s)
{
    writer w = {0};
    const unsigned colors = s->bits <= 8 ? 1U << s->bits : 0;
    const unsigned entry = s->header == 12 ? 3 : 4;
    const unsigned behind = s->compression == FIELDS && s->header == 40 ? 12 : 0;
    put(&w, 'B' | 'M' << 8, 2);
    put(&w, 0, 8);
    put(&w, 14 + s->header + behind + colors * entry, 4);
    put(&w, s->header, 4);
    if (s->header == 12) {
        put(&w, WIDTH, 2);
        put(&w, HEIGHT, 2);
    } else {
        put(&w, WIDTH, 4);
        put(&w, (uint32_t)(s->top_down ? -HEIGHT : HEIGHT), 4);
    }
    put(&w, 1, 2);
    put(&w, s->bits, 2);
    if (s->header > 16)
        put(&w, s->compression, 4);
    while (w.file.size < 14 + s->header + behind) {
        const size_t at = w.file.size - 54;
        put(&w, w.file.size >= 54 && at < (s->header >= 56 ? 16 : 12) ? s->masks[at / 4] : 0,
            w.file.size + 4 <= 14 + s->header + behind ? 4 : 2);
    }
    for (unsigned i = 0; i < colors; i++)
        for (unsigned k = 0; k < entry; k++)
            put(&w, s->palette[i][k], 1);
    if (s->compression == RLE8 || s->compression == RLE4)
        put_runs(&w, s);
    else
        put_rows(&w, s);
    return w.file;
}

static unsigned field(uint32_t sample, uint32_t mask)
{
    uint64_t most = mask;
    while (most && !(most & 1)) {
        most >>= 1;
        sample >>= 1;
    }
    return most ? (unsigned)(((sample & most) * 255 + most / 2) / most) : 0;
}

static void expected_rgb(const bmp_sample *s, int i, unsigned rgb[3])
{
    for (int k = 0; k < 3; k++)
        rgb[k] = s->bits <= 8 ? s->palette[s->pixels[i]][2 - k] : field(s->pixels[i], s->masks[k]);
}

static bmp_sample random_sample(unsigned header, unsigned bits, unsigned compression)
{
    static const uint32_t usual[][4] = {{0x7c00, 0x3e0, 0x1f, 0}, {0xff0000, 0xff00, 0xff, 0}};
    static const uint32_t given[][4] = {{0xf800, 0x7e0, 0x1f, 0},
                                        {0xff, 0xff00, 0xff0000, 0xff000000}};
    bmp_sample s = {.header = header, .bits = bits, .compression = compression};
    if (bits > 8)
        memcpy(s.masks, compression == FIELDS ? given[bits > 16] : usual[bits > 16],
               sizeof s.masks);
    if (header < 56)
        s.masks[3] = 0;
    for (int i = 0; i < PIXELS; i++)
        s.pixels[i] = (uint32_t)check_random() & (bits == 32 ? 0xffffffff : (1U << bits) - 1);
    for (int i = 0; i < 256; i++)
        for (int k = 0; k < 3; k++)
            s.palette[i][k] = (uint8_t)check_random();
    return s;
}

static void check_sample(bmp_sample *s)
{
    bytes file = make_bmp(s);
    io_source source = {.data = file.data, .size = file.size};
    for (int i = 0; i < 4; i++) {
        const io_request request = {.color = i & 1 ? IO_RGB : IO_GRAY, .alpha = i & 2};
        io_picture p;
        io_error error;
        if (!io_decode_as(&source, &request, &limits, &p, &error))
            check_fail(__FILE__, __LINE__, "header %u, %u bits, compression %u: %s", s->header,
                       s->bits, s->compression, error.reason);
        CHECK_EQ(p.width, WIDTH);
        CHECK_EQ(p.height, HEIGHT);
        CHECK_STR(p.format, "BMP");
        CHECK_EQ(p.colored, !s->gray);
        CHECK_EQ(p.mask != NULL, s->masks[3] && request.alpha);
        CHECK_EQ(p.alpha_ignored, s->masks[3] && !request.alpha);
        for (int k = 0; k < PIXELS; k++) {
            unsigned rgb[3];
            expected_rgb(s, k, rgb);
            if (p.channels == 3)
                CHECK(p.samples[3 * k] == rgb[0] && p.samples[3 * k + 1] == rgb[1] &&
                      p.samples[3 * k + 2] == rgb[2]);
            else
                CHECK_EQ(p.samples[k], (9797 * rgb[0] + 19234 * rgb[1] + 3737 * rgb[2]) >> 15);
            if (p.mask)
                CHECK_EQ(p.mask[k] != 0, (s->pixels[k] & s->masks[3]) != 0);
        }
        io_rows *rows;
        uint8_t row[3 * WIDTH];
        CHECK(io_rows_open(&rows, &source, request.color, &limits, &error));
        CHECK_EQ(io_rows_colored(rows), p.colored);
        const bool runs = s->compression == RLE8 || s->compression == RLE4;
        CHECK_EQ(io_rows_whole(rows) != NULL, runs);
        for (int y = 0; y < HEIGHT && !runs; y++) {
            CHECK(io_rows_read(rows, row, &error));
            CHECK(memcmp(row, p.samples + y * WIDTH * p.channels, (size_t)(WIDTH * p.channels)) ==
                  0);
        }
        io_rows_close(&rows);
        CHECK(io_rows_open(&rows, &source, request.color, &limits, &error));
        const int last = HEIGHT - 1;
        CHECK(runs || (io_rows_skip(rows, last, row, &error) && io_rows_read(rows, row, &error) &&
                       memcmp(row, p.samples + last * WIDTH * p.channels, (size_t)(WIDTH * p.channels)) == 0));
        io_rows_close(&rows);
        io_picture_free(&p);
    }
    free(file.data);
}

static const struct {
    unsigned bits, compression;
} kinds[] = {{1, PLAIN},  {2, PLAIN}, {4, PLAIN}, {8, PLAIN},   {16, PLAIN}, {24, PLAIN},
             {32, PLAIN}, {8, RLE8},  {4, RLE4},  {16, FIELDS}, {32, FIELDS}};
enum { KINDS = sizeof kinds / sizeof *kinds };
static const unsigned headers[] = {40, 52, 56, 108, 124, 12, 16, 64};

static void every_kind(void)
{
    for (int i = 0; i < KINDS; i++)
        for (size_t h = 0; h < sizeof headers / sizeof *headers; h++)
            for (int turn = 0; turn < 4; turn++) {
                const bool os2 = headers[h] < 40 || headers[h] == 64;
                if ((headers[h] <= 16 && kinds[i].compression) ||
                    (os2 && kinds[i].compression == FIELDS))
                    continue;
                bmp_sample s = random_sample(headers[h], kinds[i].bits, kinds[i].compression);
                s.masks[3] = s.compression == FIELDS ? s.masks[3] : 0;
                s.top_down =
                    turn % 2 && headers[h] != 12 && s.compression != RLE8 && s.compression != RLE4;
                s.gray = turn >= 2 && s.bits <= 8;
                for (int k = 0; k < 256 && s.gray; k++)
                    s.palette[k][0] = s.palette[k][1] = s.palette[k][2];
                check_sample(&s);
            }
}

/* As many programs write it that have none. */
static void alpha_of_zeros_is_none(void)
{
    bmp_sample s = random_sample(124, 32, FIELDS);
    for (int i = 0; i < PIXELS; i++)
        s.pixels[i] &= 0xffffff;
    bytes file = make_bmp(&s);
    const io_source source = {.data = file.data, .size = file.size};
    io_picture p;
    io_error error;
    CHECK(
        io_decode_as(&source, &(io_request){.color = IO_GRAY, .alpha = true}, &limits, &p, &error));
    CHECK(!p.mask);
    io_picture_free(&p);
    free(file.data);
}

static void put_number(bytes file, size_t at, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        file.data[at + (size_t)i] = (uint8_t)(value >> 8 * i);
}

static void check_changed(bmp_sample s, size_t at, uint32_t value, const char *reason)
{
    bytes file = make_bmp(&s);
    put_number(file, at, value);
    check_refused(file, reason);
    free(file.data);
}

static void absurd_headers_are_refused(void)
{
    bmp_sample s = random_sample(40, 24, PLAIN);
    bytes file = make_bmp(&s);
    put_number(file, 18, 0x7fffffff);
    put_number(file, 22, 0x80000000);
    check_refused(file, "2147483647x2147483648 pixels are more than the limit of 4294967296");
    io_picture picture;
    io_error error;
    CHECK(!decode_bytes(file, IO_RGB, INT64_MAX, &picture, &error));
    CHECK_STR(error.reason, "damaged BMP: the file is truncated");
    free(file.data);
    check_changed(s, 18, 0, "0x13");
    check_changed(s, 18, 0xffffffff, "-1x13");
    check_changed(s, 18, 60000, "damaged BMP: the file is truncated");
    check_changed(s, 10, 0, "damaged BMP: its samples begin before its header ends");
    check_changed(s, 10, 0xffffffff, "damaged BMP: the file is truncated");
    check_changed(s, 28, 0, "a BMP of 0 bits and compression 0, which tmatch does not read");
    check_changed(s, 30, 5, "a BMP of 24 bits and compression 5, which tmatch does not read");
    s = random_sample(40, 16, FIELDS);
    check_changed(s, 54, 0x505, "damaged BMP: its colours' bits do not stand together");
    check_changed(s, 54, 0, "damaged BMP: its colours' bits do not stand together");
    s = random_sample(40, 8, PLAIN);
    s.pixels[0] = 9;
    check_changed(s, 46, 8, "of a palette of 8");
}

static void truncation_is_refused_at_every_byte(void)
{
    for (int i = 0; i < KINDS; i++) {
        bmp_sample s = random_sample(108, kinds[i].bits, kinds[i].compression);
        bytes file = make_bmp(&s);
        const bool runs = s.compression == RLE8 || s.compression == RLE4;
        check_truncations(file, file.size - (runs ? 5 : 3)); /* a run's padding and the marks of the end, or padding */
        check_refused((bytes){file.data, file.size / 2}, "damaged BMP: the file is truncated");
        free(file.data);
    }
}

static void damage_is_survived(void)
{
    for (int i = 0; i < KINDS; i++) {
        bmp_sample s = random_sample(i % 2 ? 40 : 124, kinds[i].bits, kinds[i].compression);
        bytes file = make_bmp(&s);
        check_damage(file);
        free(file.data);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_kind),
        TEST(alpha_of_zeros_is_none),
        TEST(absurd_headers_are_refused),
        TEST(truncation_is_refused_at_every_byte),
        TEST(damage_is_survived),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
