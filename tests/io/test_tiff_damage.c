/* SPDX-License-Identifier: MIT */
/* TIFFs that are cut, changed, or made to hurt. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

#if TM_HAVE_TIFF
#include "io/format.h"
#include "tiff_sample.h"

enum { SHORT = 3, LONG = 4, MOST_ENTRIES = 16, DATA_BYTES = 64 };

typedef struct entry {
    unsigned tag, type, count;
    uint32_t value;
} entry;

static void put(uint8_t **at, uint64_t value, int count)
{
    for (int i = 0; i < count; i++)
        *(*at)++ = (uint8_t)(value >> 8 * i);
}

/* An 8 x 8 picture of 8 bits whose directory comes before its samples, as libtiff would not
 * write it, with other entries in the place of its own. A count of 0 ends others. */
static bytes make_by_hand(const entry *others, uint32_t next)
{
    entry entries[MOST_ENTRIES] = {{TIFFTAG_IMAGEWIDTH, LONG, 1, 8},
                                   {TIFFTAG_IMAGELENGTH, LONG, 1, 8},
                                   {TIFFTAG_BITSPERSAMPLE, SHORT, 1, 8},
                                   {TIFFTAG_COMPRESSION, SHORT, 1, COMPRESSION_NONE},
                                   {TIFFTAG_PHOTOMETRIC, SHORT, 1, PHOTOMETRIC_MINISBLACK},
                                   {TIFFTAG_STRIPOFFSETS, LONG, 1, 0},
                                   {TIFFTAG_SAMPLESPERPIXEL, SHORT, 1, 1},
                                   {TIFFTAG_ROWSPERSTRIP, LONG, 1, 8},
                                   {TIFFTAG_STRIPBYTECOUNTS, LONG, 1, DATA_BYTES},
                                   {TIFFTAG_TILEWIDTH, LONG, 0, 0},
                                   {TIFFTAG_TILELENGTH, LONG, 0, 0},
                                   {TIFFTAG_TILEOFFSETS, LONG, 0, 0},
                                   {TIFFTAG_TILEBYTECOUNTS, LONG, 0, 0}};
    unsigned count = 0;
    for (int i = 0; i < MOST_ENTRIES; i++)
        for (const entry *other = others; other && other->count; other++)
            if (other->tag == entries[i].tag)
                entries[i] = *other;
    for (int i = 0; i < MOST_ENTRIES; i++)
        count += entries[i].count > 0;
    const size_t start = 8 + 2 + 12 * count + 4;
    bytes file = {calloc(1, start + DATA_BYTES), start + DATA_BYTES};
    uint8_t *at = file.data;
    put(&at, 0x2a4949, 4);
    put(&at, 8, 4);
    put(&at, count, 2);
    for (int i = 0; i < MOST_ENTRIES; i++) {
        const entry *e = &entries[i];
        const bool place = e->tag == TIFFTAG_STRIPOFFSETS || e->tag == TIFFTAG_TILEOFFSETS;
        if (!e->count)
            continue;
        put(&at, e->tag, 2);
        put(&at, e->type, 2);
        put(&at, e->count, 4);
        put(&at, place && !e->value ? start : e->value, 4);
    }
    put(&at, next, 4);
    for (int i = 0; i < DATA_BYTES; i++)
        *at++ = (uint8_t)i;
    return file;
}

static void check_hand(const entry *others, const char *reason)
{
    bytes file = make_by_hand(others, 0);
    check_refused(file, reason);
    free(file.data);
}

static void truncation_is_refused_at_every_byte(void)
{
    static uint64_t values[30 * 30 * 4];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = check_random() & 255;
    bytes file = make_by_hand(NULL, 0);
    check_truncations(file, file.size);
    check_refused((bytes){file.data, file.size - 1}, "damaged TIFF: the file is truncated");
    free(file.data);
    for (int i = 0; i < 4; i++) {
        const tiff_sample s = {.width = 30,
                               .height = 30,
                               .samples = 3,
                               .bits = 8,
                               .planar = i & 1,
                               .photometric = PHOTOMETRIC_RGB,
                               .compression = COMPRESSION_LZW,
                               .tile_width = i & 2 ? 16 : 0,
                               .tile_height = 16,
                               .values = values,
                               .mode = i & 1 ? "wb8" : "wl"};
        file = make_tiff(&s);
        check_truncations(file, file.size - 8); /* the last bytes may be no entry's */
        free(file.data);
    }
}

static void absurd_sizes_are_refused(void)
{
    const uint32_t huge = 0x7fffffff;
    bytes file = make_by_hand(
        (entry[]){{TIFFTAG_IMAGEWIDTH, LONG, 1, huge}, {TIFFTAG_IMAGELENGTH, LONG, 1, huge}, {0}},
        0);
    io_picture picture;
    io_error error;
    check_refused(file, "2147483647x2147483647 pixels are more than the limit of 4294967296"
                        " (--max-pixels raises it)");
    CHECK(!decode_bytes(file, IO_RGB, INT64_MAX, &picture, &error));
    free(file.data);
    check_hand((entry[]){{TIFFTAG_IMAGEWIDTH, LONG, 1, 0}, {0}}, "damaged TIFF");
    check_hand(
        (entry[]){{TIFFTAG_IMAGELENGTH, LONG, 1, huge}, {TIFFTAG_IMAGEWIDTH, LONG, 1, 1}, {0}},
        "damaged TIFF: the file is truncated");
    check_hand((entry[]){{TIFFTAG_SAMPLESPERPIXEL, SHORT, 1, 65535}, {0}},
               "a TIFF of 65535 samples a pixel");
    check_hand((entry[]){{TIFFTAG_BITSPERSAMPLE, SHORT, 1, 0}, {0}}, "TIFF");
    check_hand((entry[]){{TIFFTAG_BITSPERSAMPLE, SHORT, 1, 24}, {0}}, "a TIFF of 24-bit integers");
    check_hand((entry[]){{TIFFTAG_ROWSPERSTRIP, LONG, 1, 0}, {0}}, "TIFF");
    check_hand((entry[]){{TIFFTAG_COMPRESSION, SHORT, 1, 34712}, {0}},
               "a TIFF of compression 34712, which this build's libtiff cannot read");
    check_hand((entry[]){{TIFFTAG_STRIPOFFSETS, LONG, 1, 0xfffffff0}, {0}},
               "damaged TIFF: the file is truncated");
    /* libtiff knows better: it takes as many as it needs */
    file = make_by_hand((entry[]){{TIFFTAG_STRIPBYTECOUNTS, LONG, 0xffffffff, 8}, {0}}, 0);
    if (decode_bytes(file, IO_GRAY, 64, &picture, &error))
        io_picture_free(&picture);
    free(file.data);
}

static void check_tiles(uint32_t width, uint32_t height, const char *reason)
{
    bytes file = make_by_hand((entry[]){{TIFFTAG_TILEWIDTH, LONG, 1, width},
                                        {TIFFTAG_TILELENGTH, LONG, 1, height},
                                        {TIFFTAG_TILEOFFSETS, LONG, 1, 0},
                                        {TIFFTAG_TILEBYTECOUNTS, LONG, 1, DATA_BYTES},
                                        {0}},
                              0);
    check_refused(file, reason);
    free(file.data);
}

static void absurd_tiles_are_refused(void)
{
    check_tiles(0x80000000, 16,
                "damaged TIFF: tiles of 2147483648x16 pixels are larger than the picture");
    check_tiles(16, 0xffffffff, "damaged TIFF: tiles of 16x4294967295 pixels are larger");
    check_tiles(0xffffffff, 0xffffffff, "damaged TIFF");
    check_tiles(0, 16, "damaged TIFF");
    check_tiles(16, 0, "damaged TIFF");
    check_tiles(16, 16, "damaged TIFF"); /* whose samples are too few */
}

/* Any number of rows is all of them. */
static void one_strip_of_any_length(void)
{
    static const uint32_t rows[] = {8, 9, 0x7fffffff, 0xffffffff};
    for (int i = 0; i < 4; i++) {
        bytes file = make_by_hand((entry[]){{TIFFTAG_ROWSPERSTRIP, LONG, 1, rows[i]}, {0}}, 0);
        io_picture picture;
        io_error error;
        if (!decode_bytes(file, IO_GRAY, 64, &picture, &error))
            check_fail(__FILE__, __LINE__, "%s", error.reason);
        for (int k = 0; k < DATA_BYTES; k++)
            CHECK_EQ(picture.samples[k], k);
        io_picture_free(&picture);
        free(file.data);
    }
}

static void damaged_directories_are_refused(void)
{
    bytes file = make_by_hand(NULL, 0);
    static const uint8_t offsets[][4] = {{0}, {0xff, 0xff, 0xff, 0xff}, {200}, {6}};
    for (int i = 0; i < 4; i++) {
        memcpy(file.data + 4, offsets[i], 4);
        check_refused(file, "damaged TIFF");
    }
    file.data[4] = 8;
    file.data[5] = file.data[6] = file.data[7] = 0;
    file.data[8] = file.data[9] = 0xff;
    check_refused(file, "damaged TIFF: a directory of 65535 entries");
    free(file.data);
}

/* The page before is read; what cannot be is counted, so that somebody hears of it. */
static void broken_chains_are_refused(void)
{
    static const uint32_t links[] = {0, 8, 0xfffffff0, 20};
    static const char *const reasons[] = {"the TIFF has no page 2", "its directories are a loop",
                                          "the file is truncated", "damaged TIFF"};
    for (int i = 0; i < 4; i++) {
        bytes file = make_by_hand(NULL, links[i]);
        io_source source = {.data = file.data, .size = file.size};
        const io_limits limits = {64};
        io_picture picture;
        io_error error;
        CHECK(io_decode(&source, IO_GRAY, &limits, &picture, &error));
        io_picture_free(&picture);
        CHECK_EQ(io_format_tiff.pages(&source), i ? 2 : 1);
        source.page = 1;
        CHECK(!io_decode(&source, IO_GRAY, &limits, &picture, &error));
        CHECK(strstr(error.reason, reasons[i]));
        free(file.data);
    }
}

/* Directories of 4,096 entries, 12 bytes apart, each of which points to the next. */
static void overlapping_directories_are_few(void)
{
    enum { ENTRIES = 4096, DIRECTORIES = 5000, STEP = 12 };
    const size_t size = 8 + 2 + STEP * (ENTRIES + DIRECTORIES) + 4;
    uint8_t *data = calloc(1, size);
    memcpy(data, "MM\0*\0\0\0\10", 8);
    for (int i = 0; i < DIRECTORIES; i++) {
        const unsigned place = 8 + STEP * (unsigned)i, next = i + 1 < DIRECTORIES ? place + STEP : 0;
        uint8_t *link = data + place + 2 + STEP * ENTRIES;
        data[place] = ENTRIES >> 8;
        for (int k = 0; k < 4; k++)
            link[k] = (uint8_t)(next >> (24 - 8 * k));
    }
    const io_source source = {.data = data, .size = size, .page = 4000};
    const int64_t count = io_format_tiff.pages(&source);
    CHECK(count > 1 && count < 20);
    io_picture picture;
    io_error error;
    CHECK(!io_decode(&source, IO_GRAY, &(io_limits){64}, &picture, &error));
    CHECK_STR(error.reason, "damaged TIFF: its directories lie over each other");
    free(data);
}

/* A strip that unpacks to more than it is asked for is not unpacked any further. */
static void a_bomb_is_not_unpacked(void)
{
    enum { SIDE = 2048 };
    uint64_t *zeros = calloc(SIDE * SIDE, sizeof *zeros);
    const tiff_sample s = {.width = SIDE,
                           .height = SIDE,
                           .samples = 1,
                           .bits = 8,
                           .values = zeros,
                           .compression = COMPRESSION_ADOBE_DEFLATE,
                           .photometric = PHOTOMETRIC_MINISBLACK};
    if (!TIFFIsCODECConfigured(COMPRESSION_ADOBE_DEFLATE)) {
        free(zeros);
        check_skip("libtiff was built without deflate");
    }
    bytes file = make_tiff(&s);
    free(zeros);
    /* its height becomes 2: strips of 2 rows */
    for (size_t i = 8; i + 12 <= file.size; i++)
        if (memcmp(file.data + i, "\x01\x01\x03\x00\x01\x00\x00\x00\x00\x08", 10) == 0)
            file.data[i + 8] = 2, file.data[i + 9] = 0;
    io_picture picture;
    io_error error;
    CHECK(decode_bytes(file, IO_GRAY, 2 * SIDE, &picture, &error));
    CHECK_EQ(picture.height, 2);
    io_picture_free(&picture);
    free(file.data);
}

static void check_rows(bytes file)
{
    io_source source = {.data = file.data, .size = file.size};
    const io_limits limits = {1 << 20};
    io_rows *rows = NULL;
    io_error error = {.reason = ""};
    static uint8_t row[1 << 20];
    bool good = io_rows_open(&rows, &source, IO_GRAY, &limits, &error);
    for (int64_t y = 0; good && !io_rows_whole(rows) && y < io_rows_height(rows); y++)
        good = io_rows_read(rows, row, &error);
    CHECK(good || error.reason[0]);
    io_rows_close(&rows);
}

/* Changed bytes, whole and by rows. */
static void damage_is_survived(void)
{
    static const int codecs[] = {COMPRESSION_NONE,          COMPRESSION_LZW,
                                 COMPRESSION_PACKBITS,      COMPRESSION_JPEG,
                                 COMPRESSION_ADOBE_DEFLATE, COMPRESSION_CCITTFAX4};
    static uint64_t values[33 * 21 * 4];
    for (int i = 0; i < 24; i++) {
        const int codec = codecs[i % 6];
        tiff_sample s = {.width = 33,
                         .height = 21,
                         .samples = i < 6    ? 1
                                    : i < 12 ? 3
                                             : 4,
                         .bits = 8,
                         .photometric = i < 6    ? PHOTOMETRIC_MINISBLACK
                                        : i < 12 ? PHOTOMETRIC_YCBCR
                                                 : PHOTOMETRIC_RGB,
                         .compression = codec,
                         .blocks = i >= 6 && i < 12 ? 2 : 0,
                         .extra_count = i >= 12,
                         .extras = {EXTRASAMPLE_ASSOCALPHA},
                         .planar = i >= 18,
                         .tile_width = i >= 12 && i % 2 ? 16 : 0,
                         .tile_height = 16,
                         .mode = i % 2 ? "wb8" : "wl",
                         .rows_per_strip = 16,
                         .values = values};
        if (codec == COMPRESSION_CCITTFAX4)
            s.bits = s.samples = 1, s.photometric = PHOTOMETRIC_MINISWHITE,
            s.blocks = s.extra_count = 0;
        if (!TIFFIsCODECConfigured((uint16_t)codec))
            continue;
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            values[k] = check_random() & (s.bits == 1 ? 1 : 255);
        bytes file = make_tiff(&s);
        check_damage(file);
        for (int64_t n = check_cases(100); n > 0; n--) {
            const size_t at = (size_t)check_random_in(0, (int64_t)file.size - 1);
            const uint8_t held = file.data[at];
            file.data[at] = (uint8_t)check_random();
            check_rows(file);
            file.data[at] = held;
        }
        free(file.data);
    }
}
#else
static void damage_is_survived(void)
{
    check_skip("libtiff was missing");
}
#endif

int main(int argc, char **argv)
{
    static const check_test tests[] = {
#if TM_HAVE_TIFF
        TEST(truncation_is_refused_at_every_byte),
        TEST(absurd_sizes_are_refused),
        TEST(absurd_tiles_are_refused),
        TEST(one_strip_of_any_length),
        TEST(damaged_directories_are_refused),
        TEST(broken_chains_are_refused),
        TEST(overlapping_directories_are_few),
        TEST(a_bomb_is_not_unpacked),
#endif
        TEST(damage_is_survived),
    };
    return check_main(tests, sizeof tests / sizeof *tests, argc, argv);
}
