/* SPDX-License-Identifier: MIT */
/* Makes small inputs to begin with, the same each time: seeds FOLDER writes FOLDER/TARGET/NUMBER. */
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <jpeglib.h>

#include "check.h"
#include "fuzz.h"
#include "pictures.h"
#include "samples.h"
#include "run/log_line.h"

#if TM_HAVE_TIFF
#include "tiff_sample.h"
#endif
#if TM_HAVE_WEBP
#include <webp/encode.h>
#endif

enum { WIDTH = 13, HEIGHT = 9, PIXELS = WIDTH * HEIGHT };

static const char *folder;
static uint8_t noise[PIXELS * 8], palette[256 * 3];

static void put_exactly(const char *target, const void *data, size_t size)
{
    static unsigned number;
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%03u", folder, target, number++);
    FILE *file = fopen(path, "wb");
    CHECK(file && fwrite(data, 1, size, file) == size && fclose(file) == 0);
}

/* With control bytes of 0, and with some that are drawn. */
static void put(const char *target, const void *data, size_t size)
{
    uint8_t *input = calloc(1, size + FUZZ_CONTROL);
    CHECK(input);
    memcpy(input, data, size);
    put_exactly(target, input, size + FUZZ_CONTROL);
    picture_noise(input + size, FUZZ_CONTROL);
    put_exactly(target, input, size + FUZZ_CONTROL);
    free(input);
}

static void put_text(const char *target, const char *text)
{
    put(target, text, strlen(text));
}

/* Puts a picture; those that streams may hold, there too, twice. */
static void put_picture(const char *target, bytes file, bool stream)
{
    put(target, file.data, file.size);
    if (stream) {
        uint8_t *twice = malloc(2 * file.size);
        CHECK(twice);
        memcpy(twice, file.data, file.size);
        memcpy(twice + file.size, file.data, file.size);
        put("stream", twice, 2 * file.size);
        put("parts", twice, 2 * file.size);
        free(twice);
    }
    free(file.data);
}

static void pngs(void)
{
    static const int types[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_GA, PNG_COLOR_TYPE_RGBA};
    static const uint8_t exif[] = "MM\0*\0\0\0\10\0\1\1\22\0\3\0\0\0\1\0\6\0\0\0\0\0\0";
    png_sample s = {.width = WIDTH, .height = HEIGHT, .rows = noise, .palette = palette};
    for (int i = 0; i < 16; i++) {
        s.type = types[i % 4];
        s.depth = i & 4 ? 16 : 8;
        s.interlace = i >= 8;
        put_picture("png", make_png(&s), i == 1);
    }
    for (int depth = 1; depth <= 8; depth *= 2) {
        s.depth = depth;
        s.type = PNG_COLOR_TYPE_PALETTE;
        s.palette_size = 1 << depth;
        s.transparency = depth > 2;
        put_picture("png", make_png(&s), false);
        s.type = PNG_COLOR_TYPE_GRAY;
        s.palette_size = 0;
        s.chunk = "eXIf";
        s.chunk_data = exif;
        s.chunk_size = sizeof exif - 1;
        s.chunk_last = depth > 2;
        put_picture("png", make_png(&s), false);
        s.chunk = NULL;
    }
}

static void jpegs(void)
{
    static const uint8_t exif[] = "Exif\0\0II*\0\10\0\0\0\1\0\22\1\3\0\1\0\0\0\3\0\0\0\0\0\0\0";
    static const int spaces[][3] = {{1, JCS_GRAYSCALE, JCS_GRAYSCALE}, {3, JCS_RGB, JCS_YCbCr}, {3, JCS_RGB, JCS_RGB},
                                    {4, JCS_CMYK, JCS_CMYK}, {4, JCS_CMYK, JCS_YCCK}};
    for (int i = 0; i < 20; i++) {
        const int *space = spaces[i % 5];
        const jpeg_sample s = {.width = WIDTH, .height = HEIGHT, .channels = space[0], .in_space = space[1],
                               .file_space = space[2], .progressive = i >= 10, .no_adobe = i % 2, .samples = noise,
                               .app1 = i % 4 ? NULL : exif, .app1_size = sizeof exif - 1};
        put_picture("jpeg", make_jpeg(&s), i == 1 || i == 11);
    }
}

#if TM_HAVE_TIFF
/* Each in every kind that there is: inks, colours in blocks, alpha, signed numbers, halves, doubles. */
static void more_tiffs(const uint64_t *values)
{
    const tiff_sample all[] = {
        {.bits = 8, .samples = 4, .photometric = PHOTOMETRIC_SEPARATED},
        {.bits = 8, .samples = 5, .photometric = PHOTOMETRIC_SEPARATED, .extra_count = 1, .extras = {EXTRASAMPLE_UNASSALPHA}},
        {.bits = 16, .samples = 4, .photometric = PHOTOMETRIC_SEPARATED, .planar = true},
        {.bits = 8, .samples = 3, .photometric = PHOTOMETRIC_YCBCR, .blocks = 1},
        {.bits = 8, .samples = 3, .photometric = PHOTOMETRIC_YCBCR, .blocks = 2},
        {.bits = 8, .samples = 3, .photometric = PHOTOMETRIC_YCBCR, .blocks = 4},
        {.bits = 8, .samples = 3, .photometric = PHOTOMETRIC_YCBCR, .blocks = 2, .compression = COMPRESSION_JPEG},
        {.bits = 8, .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_JPEG},
        {.bits = 1, .samples = 1, .photometric = PHOTOMETRIC_MINISWHITE, .compression = COMPRESSION_CCITTFAX4},
        {.bits = 1, .samples = 1, .photometric = PHOTOMETRIC_MINISWHITE, .compression = COMPRESSION_CCITTRLE},
        {.bits = 8, .samples = 2, .photometric = PHOTOMETRIC_MINISBLACK, .extra_count = 1, .extras = {EXTRASAMPLE_ASSOCALPHA}},
        {.bits = 16, .samples = 4, .photometric = PHOTOMETRIC_RGB, .extra_count = 1, .extras = {EXTRASAMPLE_ASSOCALPHA}},
        {.bits = 8, .samples = 4, .photometric = PHOTOMETRIC_RGB, .extra_count = 1, .extras = {EXTRASAMPLE_UNASSALPHA}},
        {.bits = 16, .samples = 1, .format = SAMPLEFORMAT_INT, .photometric = PHOTOMETRIC_MINISBLACK},
        {.bits = 16, .samples = 1, .format = SAMPLEFORMAT_IEEEFP, .photometric = PHOTOMETRIC_MINISBLACK},
        {.bits = 64, .samples = 1, .format = SAMPLEFORMAT_IEEEFP, .photometric = PHOTOMETRIC_MINISBLACK},
        {.bits = 32, .samples = 3, .format = SAMPLEFORMAT_INT, .photometric = PHOTOMETRIC_RGB},
        {.bits = 12, .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK},
        {.bits = 8, .samples = 3, .photometric = PHOTOMETRIC_CIELAB},
        {.bits = 32, .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .sparse = true, .rows_per_strip = 2},
        {.bits = 8, .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .mode = "w8"}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        tiff_sample s = all[i];
        s.width = s.height = 8;
        s.values = values;
        if (!s.compression || TIFFIsCODECConfigured((uint16_t)s.compression))
            put_picture("tiff", make_tiff(&s), false);
    }
    const tiff_sample turned = {.width = 40, .height = 70, .bits = 8, .samples = 1, .orientation = 6,
                                .photometric = PHOTOMETRIC_MINISBLACK, .compression = COMPRESSION_ADOBE_DEFLATE, .values = values};
    put_picture("tiff", make_tiff(&turned), false);
}

/* Kinds of pictures that are not read, and pages that are no pictures of their own. */
static void refused_tiffs(const uint64_t *values)
{
    static const int photometric[] = {PHOTOMETRIC_MASK, PHOTOMETRIC_CFA, 34892, PHOTOMETRIC_CIELAB, 999};
    tiff_sample s = {.width = WIDTH, .height = HEIGHT, .bits = 8, .samples = 1, .values = values};
    for (size_t i = 0; i < sizeof photometric / sizeof *photometric; i++) {
        s.photometric = photometric[i];
        put_picture("tiff", make_tiff(&s), false);
    }
    s.photometric = PHOTOMETRIC_MINISWHITE;
    s.bits = 32;
    s.format = SAMPLEFORMAT_IEEEFP;
    put_picture("tiff", make_tiff(&s), false);
    s = (tiff_sample){.width = WIDTH, .height = HEIGHT, .bits = 8, .samples = 1, .photometric = PHOTOMETRIC_MINISBLACK, .values = values};
    bytes file = make_tiff(&s);
    s.subfile = FILETYPE_REDUCEDIMAGE;
    add_tiff_page(&file, &s);
    put("parts", file.data, file.size);
    put_picture("tiff", file, false);
}

static void tiffs(void)
{
    static const int compressions[] = {COMPRESSION_NONE, COMPRESSION_LZW, COMPRESSION_ADOBE_DEFLATE,
                                       COMPRESSION_PACKBITS};
    static uint64_t values[40 * 70];
    static uint16_t colors[3 * 256];
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        values[i] = check_random() & 0x3fffffff;
    for (size_t i = 0; i < sizeof colors / sizeof *colors; i++)
        colors[i] = (uint16_t)check_random();
    for (int i = 0; i < 48; i++) {
        static const int bits[] = {8, 16, 1, 32, 4, 8};
        tiff_sample s = {.width = WIDTH, .height = HEIGHT, .bits = bits[i % 6], .samples = i / 6 % 2 ? 3 : 1,
                         .compression = compressions[i / 12], .planar = i % 7 == 0, .rows_per_strip = i % 3 ? 4 : 0,
                         .orientation = i % 9, .values = values, .mode = i % 5 ? NULL : "wb"};
        if (s.bits == 1 || s.bits == 4)
            s.samples = 1;
        s.format = s.bits == 32 ? SAMPLEFORMAT_IEEEFP : 0;
        s.photometric = s.samples == 3 ? PHOTOMETRIC_RGB : i % 4 ? PHOTOMETRIC_MINISBLACK : PHOTOMETRIC_MINISWHITE;
        if (i % 6 == 5 && s.samples == 1) {
            s.photometric = PHOTOMETRIC_PALETTE;
            s.palette = colors;
        }
        if (i % 8 == 3) {
            s.rows_per_strip = 0;
            s.tile_width = s.tile_height = 16;
        }
        bytes file = make_tiff(&s);
        if (i % 6 == 1) {
            add_tiff_page(&file, &s);
            put("parts", file.data, file.size);
        }
        put_picture("tiff", file, false);
    }
    more_tiffs(values);
    refused_tiffs(values);
}
#else
static void tiffs(void)
{
}
#endif

#if TM_HAVE_WEBP
static void webps(void)
{
    for (int i = 0; i < 4; i++) {
        uint8_t *data = NULL;
        const size_t size = i % 2 ? WebPEncodeRGBA(noise, WIDTH, HEIGHT, 4 * WIDTH, 30, &data)
                            : i   ? WebPEncodeLosslessRGB(noise, WIDTH, HEIGHT, 3 * WIDTH, &data)
                                  : WebPEncodeLosslessRGBA(noise, WIDTH, HEIGHT, 4 * WIDTH, &data);
        CHECK(size > 0);
        bytes file = {malloc(size), size};
        memcpy(file.data, data, size);
        WebPFree(data);
        put_picture("webp", file, i == 3);
    }
}
#else
static void webps(void)
{
}
#endif

static void put_number(bytes *file, uint64_t value, int count)
{
    for (int i = 0; i < count; i++, value >>= 8)
        file->data[file->size++] = (uint8_t)value;
}

static void bmps(void)
{
    static const int kinds[][2] = {{24, 0}, {32, 0}, {16, 0}, {8, 0}, {4, 0}, {1, 0}, {8, 1}, {4, 2}, {32, 3}, {16, 3}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const int bits = kinds[i][0], packing = kinds[i][1], colors = bits <= 8 ? 1 << bits : 0;
        const size_t row = ((size_t)(WIDTH * bits) + 31) / 32 * 4, samples = row * HEIGHT;
        const int masks = packing == 3 ? 12 : 0;
        bytes file = {calloc(1, 14 + 40 + 12 + 4 * 256 + samples), 0};
        CHECK(file.data);
        put_number(&file, 'B' | 'M' << 8, 2);
        put_number(&file, 14 + 40 + (unsigned)masks + 4 * (unsigned)colors + samples, 4);
        put_number(&file, 0, 4);
        put_number(&file, 14 + 40 + (unsigned)masks + 4 * (unsigned)colors, 4);
        put_number(&file, 40, 4);
        put_number(&file, WIDTH, 4);
        put_number(&file, (uint32_t)(i % 3 == 1 ? -HEIGHT : HEIGHT), 4);
        put_number(&file, 1, 2);
        put_number(&file, (unsigned)bits, 2);
        put_number(&file, (unsigned)packing, 4);
        put_number(&file, 0, 20);
        for (int k = 0; k < masks / 4; k++)
            put_number(&file, bits == 32 ? 0xffU << 8 * k : 0x1fU << 5 * k, 4);
        for (int k = 0; k < colors; k++)
            put_number(&file, palette[k] * 0x10203U, 4);
        for (size_t k = 0; k < samples; k++) /* of runs: two pixels each, or an end */
            put_number(&file, packing == 1 || packing == 2 ? (k % 2 ? noise[k] : k % 14 ? 2 : 0) : noise[k], 1);
        put_picture("bmp", file, i == 0);
    }
}

static void texts(void)
{
    static const char *const pnms[] = {"P1\n3 2\n101 010", "P2 2 2 9 1 2 # and 7\n3 4\n", "P3 1 2 255 1 2 3 4 5 6\n",
                                       "P4 9 2 abcd", "P5\n# a comment\n3 2 255\nabcdef", "P5 2 1 65535\nabcd",
                                       "P6 1 1 65535 abcdef", "P6 2 1 31 abcdef"};
    static const char *const movies[] = {
        "YUV4MPEG2 W4 H2 F25:1 C420jpeg\nFRAME\n01234567uuvvFRAME Ixyz\n89abcdefuuvv",
        "YUV4MPEG2 W2 H2 F30000:1001 Ip A1:1 C444\nFRAME\nabcdefghijkl", "YUV4MPEG2 W2 H2 Cmono\nFRAME\nabcd",
        "YUV4MPEG2 W2 H2 C422p10 XYSCSS=422P10 XCOLORRANGE=LIMITED\nFRAME\nabcdefghijklmnop",
        "YUV4MPEG2 W2 H2 C444alpha\nFRAME\nabcdefghijklmnop"};
    static const char *const matrices[] = {"1 2 3\n4 5 6\n", "1,2,3\n4,5,6", "0.5 1e3\n-1 2.25\n", "# note\n\n255 0\n0 255\n",
                                           ("\xef\xbb\xbf" "1\t2\r\n3\t4\r\n"), "nan inf\n1 2\n", "0x10 1\n1 1"};
    for (size_t i = 0; i < sizeof pnms / sizeof *pnms; i++)
        put_picture("pnm", copy_text(pnms[i]), true);
    for (size_t i = 0; i < sizeof movies / sizeof *movies; i++)
        put_picture("y4m", copy_text(movies[i]), true);
    for (size_t i = 0; i < sizeof matrices / sizeof *matrices; i++)
        put_picture("text", copy_text(matrices[i]), i == 0);
}

static void arrays(void)
{
    static const char *const types[] = {"|u1", "<u2", ">u2", "<f4", ">f4", "<i8"};
    for (int i = 0; i < 12; i++) {
        uint8_t file[512] = "\x93NUMPY\1";
        const int length = snprintf((char *)file + 10, sizeof file - 10,
                                    "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }\n", types[i % 6],
                                    i < 6 ? "4, 5" : "2, 3, 3");
        file[8] = (uint8_t)length;
        memcpy(file + 10 + length, noise, 160);
        put("npy", file, (size_t)length + 170);
        if (i > 0)
            continue;
        const size_t size = (size_t)length + 30; /* of 4 x 5 bytes */
        memcpy(file + size, file, size);
        put("stream", file, 2 * size);
        put("parts", file, 2 * size);
    }
}

static void names(void)
{
    static const char *const all[] = {"a.png", "a.tif#3[10x20+30+40]", "-[4x4+0+0]", "photo[1].png", "x[1x1+0", "a.JPEG",
                                      "GIF89a", "<svg xmlns=", "%PDF-1.4", "moov", "movie.mkv"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_text("names", all[i]);
}

static void command_lines(void)
{
    static const char *const all[] = {
        "frame.png\ntemplate.png", "-n0\n--min-score=0.5\n-t\na.png\n-tb.png\nframes", "--roi\n1,2,3,4\na\nb\n-v\n-q",
        "--device=cuda:0,2\n--algorithm\nfft\n--cpu-features=avx2,sse4.1\na\nb", "--metric=sqdiff\n--domain=full\na\nb",
        "--max-memory=64M\n--max-pixels\n1000\n--in-flight=3\na\nb", "--files-from=-\n-0\n-t\nx", "-vx\n--\n-a\n-b",
        "--heatmap=h.png\n--heatmap-style=overlay\n--map=m.npy\na\nb", "-[4x4+0+0]\nb", "--help", "--thread=3\na\nb"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_text("options", all[i]);
}

static void lists(void)
{
    static const char *const all[] = {"a.pgm\nb.pgm#2\nc[1x1+0+0]\n", ("\xef\xbb\xbf" "a.pgm\r\nd\r\n"), "d/\nto_d\nloop\n",
                                      "pipe\n-\nnowhere.png\nx[1x1+0+0]\n#1\n", "empty\nd/h.heic\n\n\nb.pgm\n"};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        put_text("lists", all[i]);
}

static void logs(void)
{
    static const char *const results[] = {
        LOG_LINE_START "\"a.png\",\"template\":\"t.png\",\"matches\":[{\"x\":1,\"y\":2,\"score\":1,\"label\":\"a\"},{\"x\":3}]",
        LOG_LINE_START "\"b.png\",\"template\":\"t.png\",\"error\":\"not a \\\"picture\\\"\"",
        LOG_LINE_START "\"c\",\"template\":\"t\",\"matches\":[],\"best\":{\"x\":-1,\"y\":0,\"score\":-0.25}",
        LOG_LINE_START "\"d\",\"template\":\"t\",\"time\":1.5e3,\"matches\":[{\"x\":1}],\"weak\":true"};
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);
    CHECK(file);
    for (int i = 0; i < 8; i++) {
        fputs(results[i % 4], file);
        if (i < 4)
            log_line_end(file, results[i], strlen(results[i]), i == 1 ? 0 : (uint64_t)i + 77);
        else
            fputs(",\"id\":\"0123456789abcdef\"}\n", file);
        fflush(file);
        put("log", text, size);
    }
    CHECK(fclose(file) == 0);
    put("log", text, size - 20);
    memset(text + size / 2, 0, 64);
    put("log", text, size);
    free(text);
}

/* Logs to merge, printed in each format. */
static void put_each_format(const char *logs)
{
    const size_t size = strlen(logs);
    char *text = calloc(1, size + FUZZ_CONTROL);
    CHECK(text);
    memcpy(text, logs, size);
    for (unsigned format = 0; format < 3; format++) {
        text[size] = (char)format;
        put_exactly("merge", text, size + FUZZ_CONTROL);
    }
    free(text);
}

/* Two shards of a run, each of which has the lines of its frames. */
static void shards(void)
{
    static const char one[] =
        "{\"begun\":\"1/2\",\"run\":\"0000000000000001\",\"frames\":3,\"own\":2,\"list\":\"0000000000000005\","
        "\"settings\":\"0000000000000007\",\"templates\":[\"t.png\"],\"folder\":\"/d\",\"command\":[\"-n\",\"2\","
        "\"--shard\",\"1/2\",\"--resume=l.1\",\"-t\",\"t.png\",\"d\"]\n"
        LOG_LINE_START "\"a.png\",\"template\":\"t.png\",\"matches\":[{\"x\":1.25,\"y\":-0.000,\"w\":3,\"h\":4,\"score\":0.5},"
        "{\"x\":3,\"y\":4,\"w\":3,\"h\":4,\"score\":0.25}]" LOG_LINE_SHARD "0000000000000001\",\"order\":[1,1]}\n"
        LOG_LINE_START "\"c\\udce9\",\"template\":\"t.png\",\"error\":\"no\\npicture\"" LOG_LINE_SHARD
        "0000000000000001\",\"order\":[3,1],\"name\":\"c\\udce9\"}\n"
        "{\"finished\":\"1/2\",\"run\":\"0000000000000001\",\"status\":2\n";
    static const char two[] =
        "{\"begun\":\"2/2\",\"run\":\"0000000000000002\",\"frames\":3,\"own\":1,\"list\":\"0000000000000005\","
        "\"settings\":\"0000000000000007\",\"templates\":[\"t.png\"],\"folder\":\"/d\",\"command\":[\"-n\",\"2\","
        "\"--shard\",\"2/2\",\"--resume\",\"l.2\",\"-t\",\"t.png\",\"d\"]\n"
        LOG_LINE_START "\"m.y4m#2\",\"template\":\"t.png\",\"poses\":9,\"matches\":[],\"best\":{\"x\":1,\"y\":2,\"w\":3,"
        "\"h\":3,\"score\":-1,\"angle\":1.5,\"scale\":1,\"center\":[2,3.5],\"corners\":[[1,2],[3,2],[3,4],[1,4]]}"
        LOG_LINE_SHARD "0000000000000002\",\"order\":[2,1],\"seconds\":0.125}\n"
        "!{\"damaged\n"
        "{\"finished\":\"2/2\",\"run\":\"0000000000000002\",\"status\":1\n";
    char both[sizeof one + sizeof two + 2];
    snprintf(both, sizeof both, "%s=\n%s", one, two);
    put_each_format(both);
    put_text("merge", one);
    put_text("merge", two);
}

#define BEGUN_ROWS(run, rows, last)                                                                                      \
    "{\"begun\":\"1/1\",\"run\":\"000000000000000" run "\",\"frames\":2,\"own\":2,\"list\":\"0000000000000005\","          \
    "\"settings\":\"0000000000000007\",\"rows\":[" rows "],\"templates\":[\"t.png\",\"u.png\"],\"folder\":\"/d\","           \
    "\"command\":[\"-n\",\"2\",\"--subpixel\",\"--rows\",\"0:9\",\"--resume\",\"l\",\"-t\",\"t.png\",\"-t\",\"u.png\",\"" last "\"]\n"
#define ROWS_OF(frame, size, rows)                                                                                       \
    LOG_LINE_START "\"" frame "\",\"template\":\"t.png\",\"frame_size\":[30,39],\"template_size\":[" size "],\"rows\":[" rows "],"      \
    "\"metric\":\"lcc\",\"matches\":[{\"x\":3,\"y\":4,\"w\":5,\"h\":4,\"score\":0.5,\"margin\":0.25}],\"part\":"
#define PLACE(run, order) LOG_LINE_SHARD "000000000000000" run "\",\"order\":[" order "]}\n"

/* Two parts of the rows of two frames, the second of which has failed; a template's map ends in the first part. */
static void parts_of_rows(void)
{
    static const char one[] =
        BEGUN_ROWS("1", "0,20", "d")
        ROWS_OF("a.png", "5,4", "0,20") "{\"map_rows\":36,\"pixels\":20,\"least\":1.1754943508222875e-38,\"margin\":true,"
        "\"cut_off\":false,\"top\":[3,4,0.5,1056964608],\"open\":[[3,4,0.5,1056964608,0.25,-0.5],[3,18,0.25,1048576000]]}"
        PLACE("1", "1,1")
        ROWS_OF("a.png", "5,30", "0,10") "{\"map_rows\":10,\"pixels\":150,\"margin\":true,\"cut_off\":true,\"top\":"
        "[1,2,-0.5,-1],\"open\":[[1,2,-0.5,-1]]}" PLACE("1", "1,2")
        LOG_LINE_START "\"b.png\",\"template\":\"t.png\",\"error\":\"no picture\"" PLACE("1", "2,1")
        ROWS_OF("b.png", "5,4", "0,20") "{\"map_rows\":36,\"pixels\":20,\"margin\":false,\"cut_off\":false,\"open\":[]}"
        PLACE("1", "2,2")
        "{\"finished\":\"1/1\",\"run\":\"0000000000000001\",\"status\":2\n";
    static const char two[] =
        BEGUN_ROWS("2", "20,9223372036854775807", "d")
        ROWS_OF("a.png", "5,4", "20,36") "{\"map_rows\":36,\"pixels\":20,\"margin\":true,\"cut_off\":false,\"top\":"
        "[4,21,0.75,1061158912],\"open\":[[4,21,0.75,1061158912],[9,30,0.5,1056964608,-0.5,0.5]]}" PLACE("2", "1,1")
        LOG_LINE_START "\"a.png\",\"template\":\"u.png\",\"error\":\"row 20 is not in the map\"" PLACE("2", "1,2")
        LOG_LINE_START "\"b.png\",\"template\":\"t.png\",\"error\":\"no picture\"" PLACE("2", "2,1")
        ROWS_OF("b.png", "5,4", "20,36") "{\"map_rows\":36,\"pixels\":20,\"margin\":false,\"cut_off\":false,\"open\":[]}"
        PLACE("2", "2,2")
        "{\"finished\":\"1/1\",\"run\":\"0000000000000002\",\"status\":2\n";
    char both[sizeof one + sizeof two + 2];
    snprintf(both, sizeof both, "%s=\n%s", two, one);
    put_each_format(both);
    put_text("merge", both);
}

static void problems(void)
{
    uint8_t drawn[512];
    for (int i = 0; i < 24; i++) {
        picture_noise(drawn, sizeof drawn);
        memcpy(drawn + 64, &(uint32_t){(uint32_t)i}, FUZZ_CONTROL); /* each kind, without a failure */
        put_exactly("outputs", drawn, 64 + FUZZ_CONTROL);
        memcpy(drawn + sizeof drawn - FUZZ_CONTROL, &(uint32_t){(uint32_t)(i | 64 | i << 12 | i % 4 * 32)}, FUZZ_CONTROL);
        put_exactly("outputs", drawn, sizeof drawn);
        for (int k = 0; k < 3; k++) /* small pictures, which leave numbers for what is drawn on them */
            drawn[k] %= 8;
        put_exactly("outputs", drawn, sizeof drawn);
    }
    for (int i = 0; i < 4; i++) { /* matches of two or three templates on 64 x 1 or 1 x 64 pixels */
        picture_noise(drawn, sizeof drawn);
        drawn[i % 2] = 63;
        drawn[1 - i % 2] = 0;
        drawn[2 + 64 * 3 + 23] = (uint8_t)(2 + i / 2);
        drawn[2 + 64 * 3 + 24] = 6;
        memcpy(drawn + sizeof drawn - FUZZ_CONTROL, &(uint32_t){2}, FUZZ_CONTROL);
        put_exactly("outputs", drawn, sizeof drawn);
    }
    for (int i = 0; i < 64; i++) {
        picture_noise(drawn, sizeof drawn);
        drawn[0] = (uint8_t)i;
        put("match", drawn, (size_t)check_random_in(16, sizeof drawn));
    }
}

int main(int argc, char **argv)
{
    static const check_test tests[] = {TEST(pngs),  TEST(jpegs), TEST(tiffs), TEST(webps), TEST(bmps),
                                       TEST(texts), TEST(arrays), TEST(names), TEST(command_lines), TEST(lists),
                                       TEST(logs),  TEST(shards), TEST(parts_of_rows), TEST(problems)};
    if (argc != 2)
        return EXIT_FAILURE;
    folder = argv[1];
    mkdir(folder, 0777);
    setenv("TMATCH_TEST_SEED", "1", 1);
    for (size_t i = 0; i < sizeof noise; i++)
        noise[i] = (uint8_t)(i * i / 5);
    for (size_t i = 0; i < sizeof palette; i++)
        palette[i] = (uint8_t)(i * 7);
    return check_main(tests, sizeof tests / sizeof *tests, 1, argv);
}
