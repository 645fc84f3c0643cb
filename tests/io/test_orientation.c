/* SPDX-License-Identifier: MIT */
#include "check.h"
#include "io/orientation.h"
#include "pictures.h"
#include "samples.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <jpeglib.h>

static const io_limits limits = {1 << 20};

/* Which pixel of the stored picture, of width x height, is at (x, y) of the upright one. */
static int64_t stored_at(int orientation, int64_t width, int64_t height, int64_t x, int64_t y)
{
    const int64_t right = width - 1, bottom = height - 1;
    const int64_t places[9][2] = {{x, y},          {x, y},          {right - x, y},
                                  {right - x, bottom - y},          {x, bottom - y},
                                  {y, x},          {y, bottom - x}, {right - y, bottom - x},
                                  {right - y, x}};
    return places[orientation][1] * width + places[orientation][0];
}

static void fill(uint8_t *data, size_t size)
{
    picture_noise(data, size);
}

static io_picture random_picture(int64_t width, int64_t height, int channels, int bits)
{
    io_picture p = {.width = width, .height = height, .channels = channels, .bits = bits};
    const size_t pixels = (size_t)(width * height);
    const size_t size = pixels * (size_t)(channels * bits / 8);
    p.samples = malloc(size);
    p.mask = malloc(pixels);
    CHECK(p.samples && p.mask);
    fill(p.samples, size);
    fill(p.mask, pixels);
    return p;
}

/* That upright is what plain, which was not turned, is as orientation defines it. */
static void check_upright(const io_picture *upright, const io_picture *plain, int orientation)
{
    const bool turned = orientation >= 5;
    const size_t pixel = (size_t)(plain->channels * io_sample_size(plain));
    CHECK_EQ(upright->width, turned ? plain->height : plain->width);
    CHECK_EQ(upright->height, turned ? plain->width : plain->height);
    CHECK_EQ(upright->channels, plain->channels);
    CHECK_EQ(io_sample_size(upright), io_sample_size(plain));
    CHECK_EQ(upright->mask != NULL, plain->mask != NULL);
    for (int64_t i = 0; i < upright->width * upright->height; i++) {
        const int64_t from = stored_at(orientation, plain->width, plain->height,
                                       i % upright->width, i / upright->width);
        if (memcmp(upright->samples + (size_t)i * pixel, plain->samples + (size_t)from * pixel,
                   pixel) != 0)
            check_fail(__FILE__, __LINE__, "orientation %d, pixel %d", orientation, (int)i);
        CHECK(!plain->mask || upright->mask[i] == plain->mask[from]);
    }
}

static void every_orientation_is_as_defined(void)
{
    static const int sizes[][2] = {{1, 1}, {1, 7}, {9, 1}, {2, 3}, {33, 70}, {64, 32}, {100, 45}};
    for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++)
        for (int channels = 1; channels <= 3; channels += 2)
            for (int bits = 8; bits <= 32; bits *= 2)
                for (int orientation = 0; orientation <= 8; orientation++) {
                    io_picture p = random_picture(sizes[k][0], sizes[k][1], channels, bits);
                    const size_t size = io_picture_bytes(&p);
                    const size_t pixels = (size_t)(p.width * p.height);
                    io_picture plain = p;
                    io_error error;
                    plain.samples = malloc(size - pixels);
                    plain.mask = malloc(pixels);
                    CHECK(plain.samples && plain.mask);
                    memcpy(plain.samples, p.samples, size - pixels);
                    memcpy(plain.mask, p.mask, pixels);
                    CHECK(io_orient_picture(&p, orientation, NULL, &error));
                    check_upright(&p, &plain, orientation);
                    io_picture_free(&p);
                    io_picture_free(&plain);
                }
}

enum { BLOCK = 50, BLOCK_OFFSET = 14 };

/* A TIFF header, six bytes that nothing refers to, two entries, the second of them the
 * orientation, and no further directory. */
static void make_exif(uint8_t exif[BLOCK], bool big_endian, unsigned type, unsigned value)
{
    static const uint8_t little[] = {'I', 'I', 42, 0, BLOCK_OFFSET, 0, 0, 0};
    static const uint8_t big[] = {'M', 'M', 0, 42, 0, 0, 0, BLOCK_OFFSET};
    /* the count, then tag, type, count and value of each */
    const unsigned fields[][2] = {{2, 2}, {0x010f, 2}, {2, 2}, {4, 4}, {0x41424300, 4},
                                  {0x0112, 2}, {type, 2}, {1, 4}, {value, type == 4 ? 4 : 2}};
    memset(exif, 0, BLOCK);
    memcpy(exif, big_endian ? big : little, 8);
    uint8_t *to = exif + BLOCK_OFFSET;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        for (unsigned k = 0, count = fields[i][1]; k < count; k++)
            *to++ = (uint8_t)(fields[i][0] >> 8 * (big_endian ? count - 1 - k : k));
}

static int read_copy(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + !size); /* what is read beyond it is found */
    CHECK(copy);
    memcpy(copy, data, size);
    const int orientation = io_exif_orientation(copy, size);
    free(copy);
    return orientation;
}

static void exif_is_read_in_both_byte_orders(void)
{
    for (int i = 0; i < 4; i++)
        for (unsigned value = 0; value <= 70000; value += value < 20 ? 1 : 4999) {
            uint8_t exif[6 + BLOCK] = "Exif\0";
            const bool is_long = i & 2;
            make_exif(exif + 6, i & 1, is_long ? 4 : 3, value);
            const unsigned expected = is_long ? value : value & 0xffff;
            CHECK_EQ(read_copy(exif + 6, BLOCK), expected <= 8 ? expected : 0);
            CHECK_EQ(read_copy(exif, sizeof exif), expected <= 8 ? expected : 0);
        }
    uint8_t exif[BLOCK];
    make_exif(exif, true, 7, 6); /* of no type that an orientation has */
    CHECK_EQ(read_copy(exif, BLOCK), 0);
}

/* A directory elsewhere, of 65,535 entries, or none. */
static void broken_exif_says_nothing(void)
{
    for (int big_endian = 0; big_endian < 2; big_endian++) {
        uint8_t exif[BLOCK];
        make_exif(exif, big_endian, 3, 6);
        for (size_t size = 0; size < BLOCK; size++) /* the value may be its last two bytes */
            CHECK_EQ(read_copy(exif, size), size < BLOCK_OFFSET + 2 + 12 + 10 ? 0 : 6);
        for (uint32_t at = 0; at < 80; at++)
            for (int far = 0; far < 2; far++) {
                const uint32_t offset = far ? UINT32_MAX - at : BLOCK_OFFSET + 16 + at;
                for (int k = 0; k < 4; k++)
                    exif[4 + k] = (uint8_t)(offset >> 8 * (big_endian ? 3 - k : k));
                CHECK_EQ(read_copy(exif, BLOCK), 0);
            }
        make_exif(exif, big_endian, 3, 6);
        exif[BLOCK_OFFSET + 2 + 12 + big_endian] = 0x11; /* no orientation is among them */
        memset(exif + BLOCK_OFFSET, 0xff, 2);
        CHECK_EQ(read_copy(exif, BLOCK), 0);
        exif[2 + big_endian] = 43;
        CHECK_EQ(read_copy(exif, BLOCK), 0);
    }
    for (int64_t i = check_cases(20000); i > 0; i--) {
        uint8_t exif[BLOCK];
        make_exif(exif, i & 1, 3, 6);
        for (int64_t k = check_random_in(1, 6); k > 0; k--)
            exif[check_random_in(0, BLOCK - 1)] = (uint8_t)check_random();
        const int orientation = read_copy(exif, (size_t)check_random_in(0, BLOCK));
        CHECK(orientation >= 0 && orientation <= 8);
    }
}

static io_picture decode(bytes file, const io_request *request)
{
    io_source source = {.data = file.data, .size = file.size};
    io_picture picture;
    io_error error;
    if (!io_decode_as(&source, request, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    return picture;
}

/* A file with an orientation is the upright one of the same file without, or, where that
 * is asked for, the same as that. */
static void check_file(bytes file, bytes plain_file, int orientation)
{
    for (int i = 0; i < 8; i++) {
        const io_request request = {.color = i & 1 ? IO_RGB : IO_GRAY, .deep = i & 2,
                                    .alpha = true, .stored_orientation = i & 4};
        io_picture plain = decode(plain_file, &request), picture = decode(file, &request);
        CHECK_EQ(plain.orientation, 0);
        CHECK_EQ(picture.orientation, orientation > 1 ? orientation : 0);
        CHECK_EQ(picture.as_stored, request.stored_orientation);
        check_upright(&picture, &plain, request.stored_orientation ? 1 : orientation);
        io_picture_free(&plain);
        io_picture_free(&picture);
    }
}

static void png_files(void)
{
    static const struct {
        int type, depth;
    } kinds[] = {{PNG_COLOR_TYPE_GRAY, 1}, {PNG_COLOR_TYPE_GRAY, 8},  {PNG_COLOR_TYPE_GRAY, 16},
                 {PNG_COLOR_TYPE_RGB, 8},  {PNG_COLOR_TYPE_RGBA, 16}, {PNG_COLOR_TYPE_GA, 8}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (int orientation = 0; orientation <= 8; orientation++)
            for (int i = 0; i < 4; i++) {
                static uint8_t rows[13 * 11 * 8];
                uint8_t exif[BLOCK];
                png_sample s = {.width = 13, .height = 11, .depth = kinds[k].depth,
                                .type = kinds[k].type, .interlace = i & 1, .rows = rows};
                fill(rows, sizeof rows);
                for (size_t at = 0; at < sizeof rows; at += 8)
                    memset(rows + at, 0, 4); /* some pixels are transparent */
                bytes plain = make_png(&s);
                make_exif(exif, i & 1, 3, (unsigned)orientation);
                s.chunk = "eXIf";
                s.chunk_data = exif;
                s.chunk_size = sizeof exif;
                s.chunk_last = i & 2;
                bytes file = make_png(&s);
                check_file(file, plain, orientation);
                free(file.data);
                free(plain.data);
            }
}

/* A mapped file of 64 MiB in chunks of 8 KiB, as libpng writes, the last one eXIf. */
static void a_large_png_is_not_held(void)
{
    enum { CHUNKS = 8192, CHUNK = 8192 };
    char path[] = "/tmp/tmatch-exif-XXXXXX";
    FILE *file = fdopen(mkstemp(path), "wb");
    uint8_t chunk[12 + CHUNK] = {0, 0, CHUNK >> 8, CHUNK & 0xff, 'I', 'D', 'A', 'T'};
    struct rusage before, after;
    io_source source;
    io_error error;
    CHECK(file);
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, file);
    for (int i = 0; i < CHUNKS; i++)
        fwrite(chunk, 1, sizeof chunk, file);
    memcpy(chunk, "\0\0\0\x32" "eXIf", 8);
    make_exif(chunk + 8, true, 3, 6);
    fwrite(chunk, 1, BLOCK + 12, file);
    CHECK_EQ(fclose(file), 0);
    CHECK(io_source_open(&source, path, &error) && source.mapped);
    unlink(path);
    getrusage(RUSAGE_SELF, &before);
    CHECK_EQ(io_file_orientation(&io_format_png, &source), 6);
    getrusage(RUSAGE_SELF, &after);
    CHECK(after.ru_maxrss - before.ru_maxrss < 24 << 10); /* KiB */
    io_source_close(&source);
}

static uint8_t *jpeg_samples(void)
{
    static uint8_t samples[37 * 29 * 4];
    for (int i = 0; i < 37 * 29 * 4; i++)
        samples[i] = (uint8_t)(i / 4 % 37 * 5 + i / 148 * 3 + i % 4 * 20);
    return samples;
}

static bytes make_jpeg_of(int kind, const uint8_t *app1, size_t size)
{
    static const int kinds[][3] = {{1, JCS_GRAYSCALE, JCS_GRAYSCALE}, {3, JCS_RGB, JCS_YCbCr},
                                   {4, JCS_CMYK, JCS_YCCK}, {3, JCS_RGB, JCS_YCbCr}};
    const jpeg_sample s = {.width = 37, .height = 29, .channels = kinds[kind][0],
                           .in_space = kinds[kind][1], .file_space = kinds[kind][2],
                           .progressive = kind == 3, .samples = jpeg_samples(), .app1 = app1,
                           .app1_size = size};
    return make_jpeg(&s);
}

static void jpeg_files(void)
{
    for (int kind = 0; kind < 4; kind++)
        for (int orientation = 0; orientation <= 8; orientation++) {
            uint8_t app1[6 + BLOCK] = "Exif\0";
            make_exif(app1 + 6, kind & 1, 3, (unsigned)orientation);
            bytes plain = make_jpeg_of(kind, NULL, 0);
            bytes file = make_jpeg_of(kind, app1, sizeof app1);
            check_file(file, plain, orientation);
            free(file.data);
            free(plain.data);
        }
}

/* The JPEG's first markers, and then its own. */
static bytes with_markers(bytes file, const void *markers, size_t size)
{
    bytes longer = {malloc(file.size + size), file.size + size};
    CHECK(longer.data);
    memcpy(longer.data, file.data, 2);
    memcpy(longer.data + 2, markers, size);
    memcpy(longer.data + 2 + size, file.data + 2, file.size - 2);
    return longer;
}

/* XMP is in such markers too; of two blocks the first counts; fill bytes count nothing. */
static void jpeg_markers_before_exif(void)
{
    static const char xmp[] = "\xff\xff\xff\xe1\0\x0chttp://ns.\xff\xe0\0\2\xff\xe1\0\2";
    uint8_t exif[2][10 + BLOCK] = {"\xff\xe1\0\x3a" "Exif\0", "\xff\xe1\0\x3a" "Exif\0"};
    uint8_t all[2 * (10 + BLOCK) + sizeof xmp - 1];
    bytes plain = make_jpeg_of(1, NULL, 0);

    make_exif(exif[0] + 10, false, 3, 6);
    make_exif(exif[1] + 10, true, 3, 3);
    memcpy(all, xmp, sizeof xmp - 1);
    memcpy(all + sizeof xmp - 1, exif, sizeof exif);
    bytes file = with_markers(plain, all, sizeof all);
    check_file(file, plain, 6);
    free(file.data);
    free(plain.data);
}

/* Damaged EXIF data of whatever kind fail no picture. */
static void broken_exif_fails_no_picture(void)
{
    static const uint8_t gray[12];
    uint8_t app1[6 + BLOCK] = "Exif\0";
    make_exif(app1 + 6, true, 3, 8);
    for (size_t size = 0; size <= sizeof app1; size++)
        for (int png = 0; png < 2; png++) {
            const png_sample s = {.width = 4, .height = 3, .depth = 8, .rows = gray,
                                  .chunk = "eXIf", .chunk_data = app1 + 6,
                                  .chunk_size = size < 6 ? 0 : size - 6};
            bytes file = png ? make_png(&s) : make_jpeg_of(0, app1, size);
            const io_request request = {.color = IO_GRAY};
            io_picture picture = decode(file, &request);
            CHECK(picture.orientation == 0 || (picture.orientation == 8 && size > 42));
            io_picture_free(&picture);
            free(file.data);
        }
}

static void rows_say_what_they_cannot(void)
{
    static const uint8_t gray[12] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
    for (int orientation = 1; orientation <= 8; orientation++)
        for (int png = 0; png < 3; png++)
            for (int stored = 0; stored < 2; stored++) {
                uint8_t app1[6 + BLOCK] = "Exif\0";
                make_exif(app1 + 6, true, 3, (unsigned)orientation);
                const png_sample s = {.width = 4, .height = 3, .depth = 8, .rows = gray,
                                      .chunk = "eXIf", .chunk_data = app1 + 6,
                                      .chunk_size = BLOCK, .chunk_last = png == 2};
                bytes file = png ? make_png(&s) : make_jpeg_of(0, app1, sizeof app1);
                io_source source = {.data = file.data, .size = file.size};
                const io_request request = {.color = IO_GRAY, .stored_orientation = stored};
                io_rows *rows;
                io_error error;
                uint8_t row[64];
                CHECK(io_rows_open_as(&rows, &source, &request, &limits, &error));
                const bool turned = orientation >= 5 && !stored;
                const int width = png ? 4 : 37, height = png ? 3 : 29;
                CHECK_EQ(io_rows_width(rows), turned ? height : width);
                CHECK_EQ(io_rows_height(rows), turned ? width : height);
                CHECK_EQ(io_rows_orientation(rows), orientation > 1 ? orientation : 0);
                CHECK_EQ(io_rows_read(rows, row, &error), orientation == 1 || stored);
                if (orientation > 1 && !stored)
                    CHECK_STR(io_rows_whole(rows),
                              png ? "a PNG that EXIF turns" : "a JPEG that EXIF turns");
                else
                    CHECK(!io_rows_whole(rows));
                io_rows_close(&rows);
                free(file.data);
            }
}

/* Room for one picture. */
typedef struct place {
    io_memory memory;
    uint8_t data[37 * 29];
    int taken, given_back;
} place;

static void *take(io_memory *memory, size_t size)
{
    place *p = (place *)memory;
    if (p->taken > p->given_back || size > sizeof p->data)
        return NULL;
    p->taken++;
    return p->data;
}

static void give_back(io_memory *memory, void *data)
{
    place *p = (place *)memory;
    CHECK(p->taken == p->given_back + 1 && data == p->data);
    p->given_back++;
}

/* The samples that are matched, not those that are turned, take the caller's memory. */
static void upright_samples_lie_where_they_are_asked_for(void)
{
    for (int orientation = 1; orientation <= 8; orientation++) {
        uint8_t app1[6 + BLOCK] = "Exif\0";
        place p = {.memory = {take, give_back}};
        const io_request request = {.color = IO_GRAY, .memory = &p.memory};
        make_exif(app1 + 6, true, 3, (unsigned)orientation);
        bytes file = make_jpeg_of(0, app1, sizeof app1);
        io_picture picture = decode(file, &request);
        CHECK(picture.samples == p.data);
        CHECK_EQ(p.taken, 1);
        io_picture other = decode(file, &request);
        CHECK(other.samples != p.data && memcmp(other.samples, p.data, sizeof p.data) == 0);
        io_picture_free(&picture);
        io_picture_free(&other);
        CHECK_EQ(p.given_back, 1);
        /* a scan that ends early */
        io_source cut = {.data = file.data, .size = file.size - 20};
        io_error error;
        CHECK(!io_decode_as(&cut, &request, &limits, &picture, &error));
        CHECK_EQ(p.given_back, p.taken);
        free(file.data);
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(every_orientation_is_as_defined),
        TEST(exif_is_read_in_both_byte_orders),
        TEST(broken_exif_says_nothing),
        TEST(png_files),
        TEST(a_large_png_is_not_held),
        TEST(jpeg_files),
        TEST(jpeg_markers_before_exif),
        TEST(broken_exif_fails_no_picture),
        TEST(rows_say_what_they_cannot),
        TEST(upright_samples_lie_where_they_are_asked_for),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
