/* SPDX-License-Identifier: MIT */
/* PNG decoded at once, by libdeflate, and by libpng alone: the same samples, or the same message. */
#include "check.h"
#include "pictures.h"
#include "samples.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#if TM_HAVE_DEFLATE
#include "io/png_state.h"
#include "io/unfilter.h"

enum { MOST_SIDE = 40, MOST_RAW = 8 * (MOST_SIDE * 8 + 1) * MOST_SIDE, MOST_FILE = 4 * MOST_RAW };

/* A file, put together from its chunks: rows are noise after the number of any filter, which is as
 * good as what an encoder makes. */
typedef struct png_file {
    int width, height, depth, type, interlace, colors;
    bool transparency;
    uint8_t stream[MOST_FILE]; /* zlib's */
    size_t stream_size;
    uint8_t data[MOST_FILE];
    size_t size;
} png_file;

static png_file file;

static const struct {
    int type, depth;
} kinds[] = {{0, 1}, {0, 2}, {0, 4}, {0, 8}, {0, 16}, {2, 8}, {2, 16}, {3, 1}, {3, 2}, {3, 4}, {3, 8}, {4, 8},
             {4, 16}, {6, 8}, {6, 16}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static void put_chunk(png_file *f, const char *name, const void *data, size_t size)
{
    uint8_t *to = f->data + f->size;
    png_save_uint_32(to, (png_uint_32)size);
    memcpy(to + 4, name, 4);
    if (size)
        memcpy(to + 8, data, size);
    png_save_uint_32(to + 8 + size, (png_uint_32)crc32(crc32(0, NULL, 0), to + 4, (uInt)size + 4));
    f->size += size + 12;
}

static size_t row_size(const png_file *f, int width)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return ((size_t)(width * channels[f->type] * f->depth) + 7) / 8;
}

/* Rows as they are deflated; returns their size. */
static size_t make_rows(const png_file *f, uint8_t *raw)
{
    static const int passes[7][4] = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2},
                                     {0, 1, 1, 2}};
    const int only = (int)check_random_in(-2, 4);
    const bool smooth = check_random() & 1;
    size_t size = 0;
    for (int pass = 0; pass < (f->interlace ? 7 : 1); pass++) {
        const int *p = passes[pass];
        const int width = f->interlace ? (f->width - p[0] + p[2] - 1) / p[2] : f->width;
        const int height = f->interlace ? (f->height - p[1] + p[3] - 1) / p[3] : f->height;
        for (int y = 0; y < height && width > 0; y++) {
            const size_t row = row_size(f, width);
            raw[size] = (uint8_t)(only >= 0 ? only : check_random_in(0, 4));
            picture_noise(raw + size + 1, row);
            for (size_t i = 1; smooth && i <= row; i++)
                raw[size + i] = (uint8_t)(raw[size + i] % 5 - 2);
            size += 1 + row;
        }
    }
    return size;
}

/* Deflates in any way that zlib knows. */
static void make_stream(png_file *f)
{
    static uint8_t raw[MOST_RAW];
    const size_t size = make_rows(f, raw);
    z_stream z = {.next_in = raw, .avail_in = (uInt)size, .next_out = f->stream, .avail_out = MOST_FILE};
    CHECK_EQ(deflateInit2(&z, (int)check_random_in(0, 9), Z_DEFLATED, check_random() % 4 ? 15 : (int)check_random_in(9, 15),
                          (int)check_random_in(1, 9), (int)check_random_in(Z_DEFAULT_STRATEGY, Z_FIXED)), Z_OK);
    CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
    f->stream_size = z.total_out;
    deflateEnd(&z);
}

static void put_header(png_file *f)
{
    uint8_t header[13] = {0}, palette[256 * 3];
    png_save_uint_32(header, (png_uint_32)f->width);
    png_save_uint_32(header + 4, (png_uint_32)f->height);
    header[8] = (uint8_t)f->depth;
    header[9] = (uint8_t)f->type;
    header[12] = (uint8_t)f->interlace;
    memcpy(f->data, "\x89PNG\r\n\x1a\n", 8);
    f->size = 8;
    put_chunk(f, "IHDR", header, sizeof header);
    picture_noise(palette, sizeof palette);
    if (f->type == 3)
        put_chunk(f, "PLTE", palette, 3 * (size_t)f->colors);
    if (f->transparency)
        put_chunk(f, "tRNS", "\0\1\0\2\0\3", f->type == 0 ? 2 : f->type == 2 ? 6 : 1);
}

/* In chunks of any size, with some that are empty. */
static void put_stream(png_file *f, bool one)
{
    size_t at = 0;
    do {
        const size_t left = f->stream_size - at;
        const size_t size = one ? left : (size_t)check_random_in(0, left < 300 ? (int64_t)left : 300);
        put_chunk(f, "IDAT", f->stream + at, size);
        at += size;
    } while (at < f->stream_size || (!one && check_random() % 4 == 0));
}

static void make_file(png_file *f, int kind, int interlace, bool transparency)
{
    f->type = kinds[kind].type;
    f->depth = kinds[kind].depth;
    f->width = (int)check_random_in(1, MOST_SIDE);
    f->height = (int)check_random_in(1, MOST_SIDE);
    f->interlace = interlace;
    f->colors = (int)check_random_in(1, f->depth < 8 ? 1 << f->depth : 256);
    f->transparency = transparency && !(f->type & 4);
    make_stream(f);
    put_header(f);
    put_stream(f, check_random() & 1);
    put_chunk(f, "tEXt", "a\0b", 3);
    put_chunk(f, "IEND", NULL, 0);
}

static void make_any(png_file *f)
{
    make_file(f, (int)check_random_in(0, KINDS - 1), check_random() % 8 == 0, check_random() % 4 == 0);
}

static io_request request_of(unsigned bits)
{
    return (io_request){.color = bits & 1 ? IO_RGB : IO_GRAY, .deep = bits & 2, .alpha = bits & 4};
}

static void check_same(const io_picture *a, const io_picture *b)
{
    const size_t pixels = (size_t)(a->width * a->height);
    CHECK_EQ(a->width, b->width);
    CHECK_EQ(a->height, b->height);
    CHECK_EQ(a->channels, b->channels);
    CHECK_EQ(io_sample_size(a), io_sample_size(b));
    CHECK_EQ(a->colored, b->colored);
    CHECK_EQ(a->alpha_ignored, b->alpha_ignored);
    CHECK(memcmp(a->samples, b->samples, pixels * (size_t)(a->channels * io_sample_size(a))) == 0);
    CHECK(!a->mask == !b->mask && (!a->mask || memcmp(a->mask, b->mask, pixels) == 0));
}

/* Whether it can be decoded: both ways, with the same samples, or for the same reason not. */
static bool decode_both_ways(const uint8_t *data, size_t size, io_request request)
{
    uint8_t *copy = malloc(size + !size);
    memcpy(copy, data, size);
    const io_source source = {.data = copy, .size = size};
    io_picture quick, plain;
    io_error quick_error = {.reason = ""}, error = {.reason = ""};
    const bool good = io_decode_as(&source, &request, &(io_limits){1 << 20}, &quick, &quick_error);
    request.frugal = true;
    const bool same = io_decode_as(&source, &request, &(io_limits){1 << 20}, &plain, &error) == good;
    if (!same)
        check_fail(__FILE__, __LINE__, "at once \"%s\", by libpng \"%s\"", quick_error.reason, error.reason);
    CHECK_STR(quick_error.reason, error.reason);
    if (good) {
        check_same(&quick, &plain);
        io_picture_free(&quick);
        io_picture_free(&plain);
    }
    free(copy);
    return good;
}

static bool goes_at_once(const png_file *f, io_request request)
{
    const io_source source = {.data = f->data, .size = f->size};
    io_picture picture = {0};
    const bool good = io_png_decode_at_once(&source, &request, &(io_limits){1 << 20}, &picture);
    CHECK(good || !picture.samples);
    io_picture_free(&picture);
    return good;
}

/* zlib may announce a window that is smaller than the picture: that is left to libpng. */
static bool small_window(const png_file *f)
{
    return f->stream[0] >> 4 < 7 && 256u << (f->stream[0] >> 4) < (row_size(f, f->width) + 1) * (unsigned)f->height;
}

static void every_kind_is_the_same(void)
{
    for (int64_t i = 0; i < 60 * check_cases(8); i++) {
        const int kind = (int)(i % KINDS), interlace = (int)(i / KINDS % 2);
        make_file(&file, kind, interlace, i / KINDS / 2 % 2);
        const bool transparent = file.transparency || (file.type & 4);
        for (unsigned bits = 0; bits < 8; bits++) {
            const io_request request = request_of(bits);
            CHECK(decode_both_ways(file.data, file.size, request));
            CHECK_EQ(goes_at_once(&file, request),
                     !interlace && file.depth >= 8 && !(transparent && request.alpha) && !small_window(&file));
        }
    }
}

static void set_bytes(uint8_t *data, size_t size)
{
    for (int64_t changes = check_random_in(1, 4); changes > 0; changes--)
        data[check_random_in(0, (int64_t)size - 1)] = (uint8_t)check_random();
}

/* What a disk or a network does to a file. */
static void damaged_files_are_the_same(void)
{
    static uint8_t damaged[MOST_FILE];
    for (int64_t i = check_cases(300); i > 0; i--) {
        make_any(&file);
        for (int k = 0; k < 10; k++) {
            size_t size = file.size;
            memcpy(damaged, file.data, size);
            if (k % 2)
                size = (size_t)check_random_in(8, (int64_t)size);
            else
                set_bytes(damaged, size);
            if (check_random() % 4 == 0 && size + 50 < MOST_FILE)
                picture_noise(damaged + size, 50), size += 50;
            decode_both_ways(damaged, size, request_of((unsigned)k));
        }
    }
}

/* Chunks that are right by themselves, but missing, twice, elsewhere, or of another kind. */
static void chunks_in_disorder_are_the_same(void)
{
    static const char *const names[] = {"IHDR", "PLTE", "tRNS", "IDAT", "IEND", "tEXt", "abcd", "ABCD"};
    static png_file other;
    for (int64_t i = 4 * check_cases(300); i > 0; i--) {
        make_any(&file);
        memcpy(other.data, file.data, 8);
        other.size = 8;
        for (size_t at = 8; at < file.size;) {
            const size_t size = png_get_uint_32(file.data + at);
            const unsigned change = (unsigned)check_random_in(0, 40);
            char name[5] = "";
            memcpy(name, file.data + at + 4, 4);
            if (change != 0)
                put_chunk(&other, change == 1 ? names[check_random() % 8] : name, file.data + at + 8,
                          change == 2 && size ? size - 1 : size);
            if (change == 3)
                put_chunk(&other, name, file.data + at + 8, size);
            if (change == 4)
                put_chunk(&other, names[check_random() % 8], file.data + at + 8, size);
            at += size + 12;
        }
        decode_both_ways(other.data, other.size, request_of((unsigned)i));
    }
}

/* Streams that are damaged, too long or too short, in chunks whose checksums are right. */
static void damaged_streams_are_the_same(void)
{
    for (int64_t i = 10 * check_cases(300); i > 0; i--) {
        if (i % 10 == 0 || file.size == 0)
            make_any(&file);
        else
            make_stream(&file);
        uint8_t *stream = file.stream;
        switch (check_random_in(0, 6)) {
        case 0: set_bytes(stream, file.stream_size); break;
        case 1: set_bytes(stream, file.stream_size < 12 ? file.stream_size : 12); break;
        case 2: file.stream_size -= (size_t)check_random_in(1, 6); break;
        case 3: picture_noise(stream + file.stream_size, 9), file.stream_size += (size_t)check_random_in(1, 9); break;
        case 4: stream[file.stream_size - 1] ^= 1; break;
        case 5: /* another window, and the check bits that belong to it */
            stream[0] = (uint8_t)(8 | check_random_in(0, 15) << 4);
            stream[1] = (uint8_t)(31 - stream[0] * 256 % 31);
            break;
        default: file.height += check_random() & 1 && file.height > 1 ? -1 : 1;
        }
        put_header(&file);
        put_stream(&file, i & 1);
        put_chunk(&file, "IEND", NULL, 0);
        decode_both_ways(file.data, file.size, request_of((unsigned)check_random()));
    }
}

static uint8_t predict(int filter, int left, int up, int corner)
{
    const int guess = left + up - corner;
    const int to_left = abs(guess - left), to_up = abs(guess - up), to_corner = abs(guess - corner);
    const int paeth = to_left <= to_up && to_left <= to_corner ? left : to_up <= to_corner ? up : corner;
    const int all[] = {0, left, up, (left + up) / 2, paeth};
    return (uint8_t)all[filter];
}

/* As the standard defines filters. */
static void filters_are_taken_back(void)
{
    static const int pixels[] = {1, 2, 3, 4, 6, 8};
    static uint8_t rows[MOST_SIDE * (MOST_SIDE * 8 + 1) + UNFILTER_SLACK], expected[sizeof rows];
    static uint8_t above[MOST_SIDE * 8 + UNFILTER_SLACK];
    for (int64_t i = 6 * check_cases(300); i > 0; i--) {
        const int pixel = pixels[i % 6], only = (int)check_random_in(-2, 4);
        const size_t size = (size_t)(pixel * check_random_in(1, MOST_SIDE)), count = (size_t)check_random_in(1, MOST_SIDE);
        picture_noise(rows, sizeof rows);
        picture_noise(above, sizeof above);
        for (size_t y = 0; y < count; y++)
            rows[y * (size + 1)] = (uint8_t)(only >= 0 ? only : check_random_in(0, 4));
        memcpy(expected, rows, sizeof rows);
        const uint8_t *up = above;
        for (size_t y = 0; y < count; y++) {
            uint8_t *row = expected + y * (size + 1) + 1;
            for (size_t x = 0; x < size; x++) {
                const bool first = x < (size_t)pixel;
                row[x] = (uint8_t)(row[x] + predict(row[-1], first ? 0 : row[x - (size_t)pixel], up[x],
                                                    first ? 0 : up[x - (size_t)pixel]));
            }
            up = row;
        }
        CHECK(io_unfilter(rows, count, size, pixel, above));
        CHECK(memcmp(rows, expected, sizeof rows) == 0);
        rows[check_random_in(0, (int64_t)count - 1) * (int64_t)(size + 1)] = (uint8_t)check_random_in(5, 255);
        CHECK(!io_unfilter(rows, count, size, pixel, above));
    }
}

static void time_is_up_both_ways(void)
{
    io_picture picture;
    io_error error;
    make_file(&file, 3, 0, false);
    const io_source source = {.data = file.data, .size = file.size, .deadline = 1};
    for (int frugal = 0; frugal < 2; frugal++) {
        const io_request request = {.color = IO_GRAY, .frugal = frugal};
        CHECK(!io_decode_as(&source, &request, &(io_limits){1 << 20}, &picture, &error));
        CHECK_STR(error.reason, "takes longer than --max-time-per-frame allows");
    }
}
#else
static void every_kind_is_the_same(void)
{
    check_skip("libdeflate was missing");
}
#endif

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_kind_is_the_same),
#if TM_HAVE_DEFLATE
        TEST(damaged_files_are_the_same),
        TEST(chunks_in_disorder_are_the_same),
        TEST(damaged_streams_are_the_same),
        TEST(filters_are_taken_back),
        TEST(time_is_up_both_ways),
#endif
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
