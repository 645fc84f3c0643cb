/* SPDX-License-Identifier: MIT */
/* Pictures decoded by rows are those decoded whole, and maps written by rows those
 * written at once. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "clock.h"
#include "samples.h"

static const io_limits limits = {IO_DEFAULT_MAX_PIXELS};

static io_source source_of(const void *data, size_t size)
{
    return (io_source){.data = data, .size = size};
}

/* A picture of data/. */
static io_source open_data(const char *name)
{
    const char *folder = getenv("TMATCH_DATA_DIR");
    char path[4096];
    io_source source;
    io_error error;

    CHECK(folder);
    snprintf(path, sizeof path, "%s/%s", folder, name);
    if (!io_source_open(&source, path, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", path, error.reason);
    return source;
}

/* Rows that are read after others were passed over. */
static void compare_skipping(io_source *source, io_color color, const io_picture *whole, const char *name)
{
    const size_t size = (size_t)whole->width * (size_t)color;
    uint8_t *row = malloc(size);
    io_error error = {.reason = ""};
    io_rows *rows;

    CHECK(row && io_rows_open(&rows, source, color, &limits, &error));
    for (int64_t y = 0; y < whole->height; y++) {
        const int64_t skipped = check_random() % 3 ? 0 : check_random_in(0, whole->height - 1 - y);
        y += skipped;
        if (!io_rows_skip(rows, skipped, row, &error) || !io_rows_read(rows, row, &error))
            check_fail(__FILE__, __LINE__, "%s, row %d: %s", name, (int)y, error.reason);
        if (memcmp(row, whole->samples + (size_t)y * size, size) != 0)
            check_fail(__FILE__, __LINE__, "%s, row %d differs after others were passed over", name, (int)y);
    }
    free(row);
    io_rows_close(&rows);
}

static void compare(io_source *source, const char *name)
{
    for (int color = IO_GRAY; color <= IO_RGB; color += IO_RGB - IO_GRAY) {
        io_picture whole;
        io_rows *rows;
        io_error error;
        if (!io_decode(source, (io_color)color, &limits, &whole, &error) ||
            !io_rows_open(&rows, source, (io_color)color, &limits, &error))
            check_fail(__FILE__, __LINE__, "%s: %s", name, error.reason);
        CHECK_EQ(io_rows_width(rows), whole.width);
        CHECK_EQ(io_rows_height(rows), whole.height);
        CHECK_EQ(io_rows_alpha_ignored(rows), whole.alpha_ignored);
        CHECK_STR(io_rows_format(rows), whole.format);
        CHECK(!io_rows_whole(rows));
        const bool raw = strcmp(whole.format, "NPY") == 0 || (strcmp(whole.format, "PNM") == 0 && source->data[1] > '3');
        CHECK_EQ(io_rows_seeks(rows), raw);
        const size_t size = (size_t)whole.width * (size_t)color;
        uint8_t *row = malloc(size);
        CHECK(row);
        for (int64_t y = 0; y < whole.height; y++) {
            if (!io_rows_read(rows, row, &error))
                check_fail(__FILE__, __LINE__, "%s, row %d: %s", name, (int)y, error.reason);
            if (memcmp(row, whole.samples + (size_t)y * size, size) != 0)
                check_fail(__FILE__, __LINE__, "%s, row %d differs", name, (int)y);
        }
        free(row);
        io_rows_close(&rows);
        compare_skipping(source, (io_color)color, &whole, name);
        io_picture_free(&whole);
    }
}

static void files_as_whole(void)
{
    static const char *const names[] = {"astronaut.png", "camera.png", "chelsea.png", "text.png",
                                        "rocket.jpg", "patch.jpg", "hubble_deep_field.jpg"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        io_source source = open_data(names[i]);
        compare(&source, names[i]);
        io_source_close(&source);
    }
}

static void pnm_as_whole(void)
{
    static const char *const texts[] = {"P1\n3 2\n101\n010\n", "P2 3 2 9\n0 1 2 3 9 8\n",
                                        "P3\n1 2\n255\n1 2 3 250 0 77\n", "P4\n9 2\nabcd",
                                        "P5 3 2 255\nabcdef", "P5 3 2 200\nabcdef",
                                        "P6 2 2 255\nabcdefghijkl"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        io_source source = source_of(texts[i], strlen(texts[i]));
        compare(&source, texts[i]);
    }
}

/* A file that is refused whole is refused by rows, at its last row at the latest. */
static void damaged_files_fail(void)
{
    static const char *const names[] = {"text.png", "patch.jpg"};
    for (size_t i = 0; i < 2; i++) {
        io_source source = open_data(names[i]);
        io_error error = {.reason = ""};
        for (size_t size = 0; size < source.size; size += source.size / 40) {
            io_source cut = source_of(source.data, size);
            io_rows *rows = NULL;
            bool good = io_rows_open(&rows, &cut, IO_GRAY, &limits, &error);
            uint8_t row[4096];
            for (int64_t y = 0; good && y < io_rows_height(rows); y++)
                good = io_rows_read(rows, row, &error);
            CHECK(!good && error.reason[0]);
            io_rows_close(&rows);
        }
        io_source_close(&source);
    }
}

static bytes copy_of(const char *data, size_t size)
{
    const bytes file = {malloc(size), size};
    memcpy(file.data, data, size);
    return file;
}

static void check_whole_only(bytes file, const char *what)
{
    io_source source = source_of(file.data, file.size);
    io_rows *rows;
    io_error error;
    uint8_t row[64];
    char expected[80];

    if (!io_rows_open(&rows, &source, IO_GRAY, &limits, &error))
        check_fail(__FILE__, __LINE__, "%s", error.reason);
    CHECK_STR(io_rows_whole(rows), what);
    CHECK(!io_rows_seeks(rows));
    CHECK_EQ(io_rows_width(rows), 16);
    CHECK_EQ(io_rows_height(rows), 3);
    CHECK(!io_rows_read(rows, row, &error));
    snprintf(expected, sizeof expected, "%s is decoded whole, not by rows", what);
    CHECK_STR(error.reason, expected);
    io_rows_close(&rows);
    free(file.data);
}

/* Arrays of gray and RGB, with what lies behind them, and one that is cut short. */
static void arrays_as_whole(void)
{
    static const struct {
        const char *shape;
        int64_t width, height;
        int channels;
    } kinds[] = {{"(5, 7)", 7, 5, 1}, {"(4, 3, 3)", 3, 4, 3}, {"(3, 8, 1)", 8, 3, 1}, {"(1, 1, 3)", 1, 1, 3}};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char file[256];
        const int header = snprintf(file, sizeof file, "\x93NUMPY\1%c\x46%c{'descr': '|u1', 'fortran_order': False, 'shape': %-19s}",
                                    0, 0, kinds[i].shape);
        const size_t pixels = (size_t)(kinds[i].width * kinds[i].height * kinds[i].channels);
        for (size_t k = 0; k < pixels + 3; k++)
            file[(size_t)header + k] = (char)(k * k * 7 + 200);
        io_source source = source_of(file, (size_t)header + pixels + 3);
        compare(&source, kinds[i].shape);
        io_rows *rows = NULL;
        io_error error;
        source = source_of(file, (size_t)header + pixels - 1);
        CHECK(!io_rows_open(&rows, &source, IO_GRAY, &limits, &error));
        CHECK_STR(error.reason, "damaged NPY: the file is truncated");
    }
}

/* Known by the header, before a row is read: then the picture's size is known too. */
static void some_are_whole_only(void)
{
    static const uint8_t samples[48] = {1, 2, 3};
    const png_sample png = {.width = 16, .height = 3, .depth = 8, .interlace = 1, .rows = samples};
    const jpeg_sample jpeg = {.width = 16, .height = 3, .channels = 1, .in_space = 1,
                              .file_space = 1, .progressive = true, .samples = samples};
    static const char array[] = "\x93NUMPY\1\0\x48\0{'descr': '<u2', 'fortran_order': False, "
                                "'shape': (3, 16)}             \n"
                                "1234567890123456" "1234567890123456" "1234567890123456"
                                "1234567890123456" "1234567890123456" "1234567890123456";
    static const char matrix[] = "# 0 0\n1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n\n"
                                 "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,\n"
                                 "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 1e3";
    io_rows *rows = NULL;
    io_error error;

    check_whole_only(make_png(&png), "an interlaced PNG");
    check_whole_only(make_jpeg(&jpeg), "a progressive JPEG");
    check_whole_only(copy_of(matrix, sizeof matrix - 1), "a text matrix");
    check_whole_only(copy_of(array, sizeof array - 1), "a NumPy array of 16-bit samples");
    io_source source = source_of("nonsense", 8);
    CHECK(!io_rows_open(&rows, &source, IO_GRAY, &limits, &error));
    source = source_of("", 0);
    CHECK(!io_rows_open(&rows, &source, IO_GRAY, &limits, &error));
    CHECK_STR(error.reason, "empty file");
}

/* What was given back is read again from the file. */
static void released_memory_stays_readable(void)
{
    char path[] = "/tmp/tmatch-rows-XXXXXX";
    const int fd = mkstemp(path);
    const int64_t width = 5000, height = 5000;
    io_source source;
    io_error error;
    io_rows *rows;
    uint8_t *row = malloc((size_t)width);

    CHECK(fd >= 0 && row);
    FILE *file = fdopen(fd, "wb");
    fprintf(file, "P5 5000 5000 255\n");
    for (int64_t y = 0; y < height; y++) {
        memset(row, (int)(y % 251), (size_t)width);
        CHECK_EQ(fwrite(row, 1, (size_t)width, file), width);
    }
    CHECK_EQ(fclose(file), 0);
    CHECK(io_source_open(&source, path, &error));
    CHECK(source.mapped);
    for (int turn = 0; turn < 2; turn++) {
        CHECK(io_rows_open(&rows, &source, IO_GRAY, &limits, &error));
        for (int64_t y = 0; y < height; y++) {
            CHECK(io_rows_read(rows, row, &error));
            CHECK(row[0] == y % 251 && row[width - 1] == y % 251);
        }
        CHECK(source.released > 8 << 20);
        io_rows_close(&rows);
    }
    io_source_close(&source);
    unlink(path);
    free(row);
}

static void maps_as_at_once(void)
{
    char folder[] = "/tmp/tmatch-npy-XXXXXX", paths[2][64];
    float map[7][5];
    uint8_t written[2][400];
    io_error error;
    io_npy npy;

    CHECK(mkdtemp(folder));
    for (int i = 0; i < 2; i++)
        snprintf(paths[i], sizeof paths[i], "%s/%d.npy", folder, i);
    for (int i = 0; i < 35; i++)
        map[i / 5][i % 5] = (float)i / 3;
    CHECK(io_write_npy(paths[0], IO_NPY_FLOAT32, 7, 5, map, &error));
    CHECK(io_npy_open(&npy, paths[1], IO_NPY_FLOAT32, 7, 5, &error));
    CHECK(io_npy_write(&npy, 3, map, &error));
    CHECK(io_npy_write(&npy, 4, map[3], &error));
    CHECK(io_npy_commit(&npy, &error));
    for (int i = 0; i < 2; i++) {
        FILE *file = fopen(paths[i], "rb");
        CHECK(file);
        CHECK_EQ(fread(written[i], 1, sizeof written[i], file), 128 + sizeof map);
        fclose(file);
        unlink(paths[i]);
    }
    CHECK(memcmp(written[0], written[1], 128 + sizeof map) == 0);

    CHECK(io_npy_open(&npy, paths[1], IO_NPY_FLOAT32, 7, 5, &error));
    CHECK(io_npy_write(&npy, 3, map, &error));
    CHECK(!io_npy_commit(&npy, &error));
    CHECK_STR(error.reason, "rows are missing");
    CHECK(access(paths[1], F_OK) != 0);
    CHECK_EQ(rmdir(folder), 0);
}

static void check_late(io_source *source, const char *name)
{
    static const char reason[] = "takes longer than --max-time-per-frame allows";
    static uint8_t row[1 << 16];
    io_picture picture;
    io_rows *rows;
    io_error error;
    source->deadline = 1; /* a millisecond after the machine was started */
    if (io_decode(source, IO_GRAY, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s is decoded after its deadline", name);
    CHECK_STR(error.reason, reason);
    CHECK(io_source_late(source, NULL));
    if (io_rows_open(&rows, source, IO_GRAY, &limits, &error)) {
        CHECK(io_rows_width(rows) <= (int64_t)sizeof row);
        CHECK(!io_rows_read(rows, row, &error) && (io_rows_whole(rows) || strcmp(error.reason, reason) == 0));
        io_rows_close(&rows);
    }
    source->deadline = clock_ms() + 1e9;
    if (!io_decode(source, IO_GRAY, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%s: %s", name, error.reason);
    io_picture_free(&picture);
}

static void late_files_fail(void)
{
    static const char *const names[] = {"camera.png", "rocket.jpg"};
    static const char *const texts[] = {"P1 2 2 0 1 1 0", "P2 2 2 9 1 2 3 4", "P5 2 2 65535 abcdefgh", "1 2\n3 4\n",
                                        "YUV4MPEG2 W2 H2 Cmono\nFRAME\nabcd"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        io_source source = open_data(names[i]);
        check_late(&source, names[i]);
        io_source_close(&source);
    }
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        io_source source = source_of(texts[i], strlen(texts[i]));
        check_late(&source, texts[i]);
    }
}

/* Decoding ends near the deadline, and not only when it is done. */
static void decoding_is_interrupted(void)
{
    enum { SIDE = 2000, ATTEMPTS = 50 };
    char *text = malloc(2 * SIDE * SIDE);
    bool interrupted = false;
    CHECK(text);
    for (int i = 0; i < SIDE * SIDE; i++) {
        text[2 * i] = '7';
        text[2 * i + 1] = i % SIDE == SIDE - 1 ? '\n' : ' ';
    }
    for (int i = 0; i < ATTEMPTS && !interrupted; i++) {
        io_source source = source_of(text, 2 * SIDE * SIDE);
        io_picture picture;
        io_error error;
        const double start = clock_ms();
        CHECK(io_decode(&source, IO_GRAY, &limits, &picture, &error));
        io_picture_free(&picture);
        const double between = clock_ms(), whole = between - start;
        source.deadline = between + whole / 2;
        const bool good = io_decode(&source, IO_GRAY, &limits, &picture, &error);
        if (good)
            io_picture_free(&picture);
        interrupted = !good && clock_ms() - between < 0.9 * whole;
    }
    CHECK(interrupted);
    free(text);
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {
        TEST(files_as_whole),      TEST(pnm_as_whole), TEST(arrays_as_whole),
        TEST(damaged_files_fail),  TEST(some_are_whole_only),
        TEST(released_memory_stays_readable), TEST(maps_as_at_once),
        TEST(late_files_fail),     TEST(decoding_is_interrupted),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
