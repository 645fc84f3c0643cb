/* SPDX-License-Identifier: MIT */
#include "tiff_sample.h"

#include <stdlib.h>
#include <string.h>

#include "check.h"

typedef struct memory {
    bytes *file;
    size_t at;
} memory;

static tmsize_t read_memory(thandle_t client, void *to, tmsize_t count)
{
    memory *m = client;
    const size_t left = m->at < m->file->size ? m->file->size - m->at : 0;
    const size_t got = (size_t)count < left ? (size_t)count : left;
    if (got)
        memcpy(to, m->file->data + m->at, got);
    m->at += got;
    return (tmsize_t)got;
}

static tmsize_t write_memory(thandle_t client, void *from, tmsize_t count)
{
    memory *m = client;
    const size_t end = m->at + (size_t)count;
    if (end > m->file->size) {
        m->file->data = realloc(m->file->data, end);
        memset(m->file->data + m->file->size, 0, end - m->file->size);
        m->file->size = end;
    }
    memcpy(m->file->data + m->at, from, (size_t)count);
    m->at = end;
    return count;
}

static toff_t seek_memory(thandle_t client, toff_t offset, int whence)
{
    memory *m = client;
    m->at = offset + (whence == SEEK_CUR ? m->at : whence == SEEK_END ? m->file->size : 0);
    return m->at;
}

static int close_memory(thandle_t client)
{
    (void)client;
    return 0;
}

static toff_t size_memory(thandle_t client)
{
    return ((memory *)client)->file->size;
}

static void put_value(uint8_t *row, int64_t index, int bits, uint64_t value)
{
    switch (bits) { /* the machine's order: libtiff swaps */
    case 8:
        row[index] = (uint8_t)value;
        return;
    case 16:
        memcpy(row + 2 * index, &(uint16_t){(uint16_t)value}, 2);
        return;
    case 32:
        memcpy(row + 4 * index, &(uint32_t){(uint32_t)value}, 4);
        return;
    case 64:
        memcpy(row + 8 * index, &value, 8);
        return;
    }
    for (int i = 0; i < bits; i++) {
        const int64_t bit = index * bits + i;
        row[bit / 8] |= (uint8_t)((value >> (bits - 1 - i) & 1) << (7 - bit % 8));
    }
}

/* A strip or tile whose upper left pixel is x0, y0, of one plane or of all samples. */
static void fill(const tiff_sample *s, int x0, int y0, int width, int height, int plane,
                 size_t row_size, uint8_t *to)
{
    const int count = plane < 0 ? s->samples : 1, first = plane < 0 ? 0 : plane;
    for (int y = y0; y < y0 + height && y < s->height; y++, to += row_size)
        for (int x = x0; x < x0 + width && x < s->width; x++)
            for (int k = 0; k < count; k++)
                put_value(to, (int64_t)(x - x0) * count + k, s->bits,
                          s->values[((int64_t)y * s->width + x) * s->samples + first + k]);
}

/* Blocks of YCbCr: the first pixel's colour is all pixels'. */
static void fill_blocks(const tiff_sample *s, int y0, int height, uint8_t *to)
{
    const int n = s->blocks;
    for (int y = y0; y < y0 + height && y < s->height; y += n)
        for (int x = 0; x < s->width; x += n, to += n * n + 2)
            for (int k = 0; k < n * n; k++) {
                const int u = x + k % n < s->width ? x + k % n : x;
                const int v = y + k / n < s->height ? y + k / n : y;
                to[k] = (uint8_t)s->values[3 * (v * s->width + u)];
                to[n * n] = (uint8_t)s->values[3 * (y * s->width + x) + 1];
                to[n * n + 1] = (uint8_t)s->values[3 * (y * s->width + x) + 2];
            }
}

static void write_samples(TIFF *tiff, const tiff_sample *s, int rows)
{
    const int width = s->tile_width ? s->tile_width : s->width;
    const int height = s->tile_width ? s->tile_height : rows;
    const size_t size = (size_t)(s->tile_width ? TIFFTileSize(tiff) : TIFFStripSize(tiff));
    const size_t row_size =
        (size_t)(s->tile_width ? TIFFTileRowSize(tiff) : TIFFScanlineSize(tiff));
    uint8_t *buffer = malloc(size);
    uint32_t number = 0;
    for (int plane = s->planar ? 0 : -1; plane < (s->planar ? s->samples : 0); plane++)
        for (int y = 0; y < s->height; y += height)
            for (int x = 0; x < s->width; x += width, number++) {
                memset(buffer, 0, size);
                if (s->sparse && number == 0)
                    continue;
                if (s->blocks && s->compression != COMPRESSION_JPEG)
                    fill_blocks(s, y, height, buffer);
                else
                    fill(s, x, y, width, height, plane, row_size, buffer);
                const int left = s->height - y < height ? s->height - y : height;
                const tmsize_t used =
                    s->tile_width ? (tmsize_t)size : TIFFVStripSize(tiff, (uint32_t)left);
                CHECK((s->tile_width ? TIFFWriteEncodedTile(tiff, number, buffer, used)
                                     : TIFFWriteEncodedStrip(tiff, number, buffer, used)) == used);
            }
    free(buffer);
}

void add_tiff_page(bytes *file, const tiff_sample *s)
{
    memory m = {.file = file};
    const char *mode = file->size ? "a" : s->mode ? s->mode : "wl";
    TIFF *tiff = TIFFClientOpen("", mode, &m, read_memory, write_memory, seek_memory, close_memory,
                                size_memory, NULL, NULL);
    CHECK(tiff);
    const int rows = s->rows_per_strip ? s->rows_per_strip : s->height;
    TIFFSetField(tiff, TIFFTAG_IMAGEWIDTH, s->width);
    TIFFSetField(tiff, TIFFTAG_IMAGELENGTH, s->height);
    TIFFSetField(tiff, TIFFTAG_BITSPERSAMPLE, s->bits);
    TIFFSetField(tiff, TIFFTAG_SAMPLESPERPIXEL, s->samples);
    if (s->format)
        TIFFSetField(tiff, TIFFTAG_SAMPLEFORMAT, s->format);
    TIFFSetField(tiff, TIFFTAG_COMPRESSION, s->compression ? s->compression : COMPRESSION_NONE);
    TIFFSetField(tiff, TIFFTAG_PHOTOMETRIC, s->photometric);
    TIFFSetField(tiff, TIFFTAG_PLANARCONFIG,
                 s->planar ? PLANARCONFIG_SEPARATE : PLANARCONFIG_CONTIG);
    if (s->extra_count)
        TIFFSetField(tiff, TIFFTAG_EXTRASAMPLES, s->extra_count, s->extras);
    if (s->palette)
        TIFFSetField(tiff, TIFFTAG_COLORMAP, s->palette, s->palette + (1 << s->bits),
                     s->palette + (2 << s->bits));
    if (s->blocks)
        TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, s->blocks, s->blocks);
    if (s->blocks && s->compression == COMPRESSION_JPEG)
        TIFFSetField(tiff, TIFFTAG_JPEGCOLORMODE, JPEGCOLORMODE_RGB);
    if (s->subfile)
        TIFFSetField(tiff, TIFFTAG_SUBFILETYPE, s->subfile);
    if (s->orientation)
        TIFFSetField(tiff, TIFFTAG_ORIENTATION, s->orientation);
    if (s->inks)
        TIFFSetField(tiff, TIFFTAG_INKSET, s->inks);
    if (s->tile_width) {
        TIFFSetField(tiff, TIFFTAG_TILEWIDTH, s->tile_width);
        TIFFSetField(tiff, TIFFTAG_TILELENGTH, s->tile_height);
    } else {
        TIFFSetField(tiff, TIFFTAG_ROWSPERSTRIP, rows);
    }
    write_samples(tiff, s, rows);
    TIFFClose(tiff);
}

bytes make_tiff(const tiff_sample *sample)
{
    bytes file = {0};
    add_tiff_page(&file, sample);
    return file;
}

uint8_t *read_tiff_rgba(bytes file, int width, int height)
{
    memory m = {.file = &file};
    uint32_t *rgba = malloc((size_t)width * (size_t)height * sizeof *rgba);
    TIFF *tiff = TIFFClientOpen("", "rm", &m, read_memory, write_memory, seek_memory, close_memory,
                                size_memory, NULL, NULL);
    CHECK(tiff && rgba);
    CHECK(TIFFReadRGBAImageOriented(tiff, (uint32_t)width, (uint32_t)height, rgba,
                                    ORIENTATION_TOPLEFT, 1));
    TIFFClose(tiff);
    return (uint8_t *)rgba;
}

io_picture decode_tiff(const tiff_sample *s, bytes file, const io_request *request)
{
    const io_source source = {.data = file.data, .size = file.size};
    const io_limits limits = {1 << 24};
    io_picture picture;
    io_error error;
    if (!io_decode_as(&source, request, &limits, &picture, &error))
        check_fail(__FILE__, __LINE__, "%d bits, %d samples, photometric %d, compression %d: %s",
                   s->bits, s->samples, s->photometric, s->compression, error.reason);
    CHECK_EQ(picture.width, s->width);
    CHECK_EQ(picture.height, s->height);
    CHECK_STR(picture.format, "TIFF");
    return picture;
}
