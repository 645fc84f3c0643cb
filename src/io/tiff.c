/* SPDX-License-Identifier: MIT */
/* TIFF by libtiff. One row of strips or tiles, called a band, is decoded at a time. */
#include "tiff.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Strips up to this size are decoded at once, as some codecs require. Larger ones, which may be the
 * whole picture, are decoded row by row. */
enum { STRIP_BYTES = 4 << 20 };

/* Where a picture is read by rows, no more than this is decoded at once. */
enum { BAND_BYTES = 64 << 20 };

/* How much memory libtiff itself may take at a time; only hostile files need more. */
#define LIBRARY_BYTES ((tmsize_t)1 << 30)

typedef struct tiff_reader {
    const io_source *source;
    io_rows *rows; /* if not NULL, the file's memory is given back as rows are read */
    io_error *error;
    bool failed; /* libtiff has said why, in error */
    uint64_t at; /* where libtiff reads */
    TIFF *tiff;
    tiff_layout layout;
    tiff_converter converter;
    bool by_rows; /* a band is one row of a large strip, else a row of tiles */
    int64_t band; /* the number of the band that is decoded, or -1 */
    int64_t tile_bytes, row_bytes;
    int planes;
    uint8_t *tiles; /* planes * across tiles */
} tiff_reader;

static tmsize_t read_bytes(thandle_t client, void *to, tmsize_t count)
{
    tiff_reader *r = (tiff_reader *)client;
    const uint64_t size = r->source->size, left = r->at < size ? size - r->at : 0;
    const size_t got = (uint64_t)count < left ? (size_t)count : (size_t)left;
    if (got)
        memcpy(to, r->source->data + r->at, got);
    r->at += got;
    return (tmsize_t)got;
}

static tmsize_t write_bytes(thandle_t client, void *from, tmsize_t count)
{
    (void)client, (void)from, (void)count;
    return 0;
}

static toff_t seek(thandle_t client, toff_t offset, int whence)
{
    tiff_reader *r = (tiff_reader *)client;
    r->at = offset + (whence == SEEK_CUR ? r->at : whence == SEEK_END ? r->source->size : 0);
    return r->at;
}

static int close_nothing(thandle_t client)
{
    (void)client;
    return 0;
}

static toff_t size_of(thandle_t client)
{
    return ((tiff_reader *)client)->source->size;
}

static int map_all(thandle_t client, void **base, toff_t *size)
{
    tiff_reader *r = (tiff_reader *)client;
    *base = (void *)(uintptr_t)r->source->data;
    *size = r->source->size;
    return 1;
}

static void unmap_nothing(thandle_t client, void *base, toff_t size)
{
    (void)client, (void)base, (void)size;
}

/* The first reason is kept; those after it are about the same damage. */
__attribute__((format(printf, 3, 0))) static void on_error(thandle_t client, const char *module,
                                                           const char *format, va_list arguments)
{
    tiff_reader *r = (tiff_reader *)client;
    char text[200];
    (void)module;
    if (!r || r->failed)
        return;
    vsnprintf(text, sizeof text, format, arguments);
    text[strcspn(text, "\n")] = '\0';
    io_fail(r->error, "damaged TIFF: %s", text);
    r->failed = true;
}

/* The codecs for JPEG and fax invent samples where the file is damaged, and only warn of it. */
__attribute__((format(printf, 3, 0))) static void on_warning(thandle_t client, const char *module,
                                                             const char *format, va_list arguments)
{
    char text[200] = "";
    va_list copy;
    va_copy(copy, arguments);
    vsnprintf(text, sizeof text, format, copy);
    va_end(copy);
    const bool jpeg = strncmp(module, "JPEGLib", 7) == 0 && !strstr(text, "extraneous") &&
                      (strstr(text, "Corrupt") || strstr(text, "Premature"));
    if (jpeg || strncmp(module, "Fax", 3) == 0)
        on_error(client, module, format, arguments);
}

static void install_handlers(void)
{
    TIFFSetErrorHandler(NULL);
    TIFFSetWarningHandler(NULL);
    TIFFSetErrorHandlerExt(on_error);
    TIFFSetWarningHandlerExt(on_warning);
}

/* Says something where libtiff has not said why. */
static bool fail(tiff_reader *r)
{
    if (!r->failed)
        io_fail(r->error, "damaged TIFF");
    r->failed = true;
    return false;
}

/* Only the header is read, positions of strips when they are wanted, and strips stay as large as
 * they are. */
static TIFF *open_client(tiff_reader *r)
{
    static const char mode[] = "rhDc";
#ifdef TIFFLIB_AT_LEAST /* since 4.5 */
    TIFFOpenOptions *options = TIFFOpenOptionsAlloc();
    if (!options)
        return NULL;
    TIFFOpenOptionsSetMaxSingleMemAlloc(options, LIBRARY_BYTES);
    TIFF *tiff = TIFFClientOpenExt("TIFF", mode, r, read_bytes, write_bytes, seek, close_nothing,
                                   size_of, map_all, unmap_nothing, options);
    TIFFOpenOptionsFree(options);
    return tiff;
#else
    return TIFFClientOpen("TIFF", mode, r, read_bytes, write_bytes, seek, close_nothing, size_of,
                          map_all, unmap_nothing);
#endif
}

/* Decides by rows or by tiles, and how much memory the tiles of a band take. */
static bool plan_bands(tiff_reader *r)
{
    const tiff_layout *l = &r->layout;
    const uint64_t tile = l->tiled ? TIFFTileSize64(r->tiff) : TIFFStripSize64(r->tiff);
    const uint64_t row = l->tiled ? TIFFTileRowSize64(r->tiff) : TIFFScanlineSize64(r->tiff);
    int64_t bytes;
    uint16_t compression = 0;
    TIFFGetField(r->tiff, TIFFTAG_COMPRESSION, &compression);
    r->by_rows = !l->tiled && tile > STRIP_BYTES && l->model != MODEL_YCBCR && !l->planar &&
                 compression != COMPRESSION_JBIG;
    r->planes = l->planar ? io_tiff_used(l) : 1;
    r->row_bytes = (int64_t)row;
    r->tile_bytes = (int64_t)(r->by_rows ? row : tile);
    r->band = -1;
    /* The samples that are looked at in a row have to be there, whatever libtiff calls a row. */
    const int64_t samples = l->tile_width * (l->planar ? 1 : l->samples);
    const bool whole =
        l->model == MODEL_YCBCR || (r->row_bytes >= (samples * l->bits + 7) / 8 &&
                                  (r->by_rows || r->tile_bytes / l->tile_height >= r->row_bytes));
    if (row == 0 || tile == 0 || !whole || row > INT64_MAX / 2 || tile > INT64_MAX / 2)
        return fail(r);
    if (__builtin_mul_overflow(r->tile_bytes, l->across * r->planes, &bytes) ||
        !(r->tiles = calloc(1, (size_t)bytes)))
        return io_fail(r->error, "not enough memory");
    return true;
}

static bool reader_open(tiff_reader *r, const io_source *source, const io_request *request,
                        const io_limits *limits, io_error *error)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    uint64_t offset;
    pthread_once(&once, install_handlers);
    r->source = source;
    r->error = error;
    if (!io_tiff_find_page(source, &offset, error))
        return false;
    r->tiff = open_client(r);
    if (!r->tiff || !TIFFSetSubDirectory(r->tiff, offset))
        return fail(r);
    if (!io_tiff_layout(r->tiff, limits, &r->layout, error))
        return false;
    return !r->failed &&
           io_tiff_converter_init(&r->converter, r->tiff, &r->layout, request, error) &&
           plan_bands(r);
}

static void reader_close(tiff_reader *r)
{
    io_tiff_converter_free(&r->converter);
    if (r->tiff)
        TIFFClose(r->tiff);
    free(r->tiles);
}

/* Where the bytes of a strip or tile are; *size is 0 where it was never written: GDAL leaves
 * out those of zeros. */
static bool find_tile(tiff_reader *r, uint32_t number, uint64_t *offset, uint64_t *size)
{
    *offset = TIFFGetStrileOffset(r->tiff, number);
    *size = TIFFGetStrileByteCount(r->tiff, number);
    if (r->failed)
        return false;
    if (*offset == 0 && *size == 0)
        return true;
    if (*size == 0)
        return fail(r);
    return (*offset <= r->source->size && *size <= r->source->size - *offset) ||
           io_fail(r->error, "damaged TIFF: the file is truncated");
}

static void spend(tiff_reader *r, uint64_t from, uint64_t size)
{
    if (r->rows)
        io_rows_spend(r->rows, (size_t)from, (size_t)(from + size));
}

static bool read_tile(tiff_reader *r, int64_t band, int plane, int64_t column, uint8_t *to)
{
    const tiff_layout *l = &r->layout;
    const int sample = plane < l->colors ? plane : l->alpha;
    const int64_t down = (l->height + l->tile_height - 1) / l->tile_height;
    const uint32_t number =
        (uint32_t)(((l->planar ? sample * down : 0) + band) * l->across + column);
    uint64_t offset, size;
    if (!find_tile(r, number, &offset, &size))
        return false;
    if (size == 0) {
        memset(to, 0, (size_t)r->tile_bytes);
        return true;
    }
    const tmsize_t got = l->tiled
                             ? TIFFReadEncodedTile(r->tiff, number, to, (tmsize_t)r->tile_bytes)
                             : TIFFReadEncodedStrip(r->tiff, number, to, (tmsize_t)r->tile_bytes);
    if (got < 0 || r->failed)
        return fail(r);
    spend(r, offset, size);
    return true;
}

static bool read_scanline(tiff_reader *r, int64_t y)
{
    const tiff_layout *l = &r->layout;
    uint64_t offset, size;
    if (!find_tile(r, (uint32_t)(y / l->tile_height), &offset, &size))
        return false;
    if (size == 0) {
        memset(r->tiles, 0, (size_t)r->row_bytes);
        return true;
    }
    if (TIFFReadScanline(r->tiff, r->tiles, (uint32_t)y, 0) < 0 || r->failed)
        return fail(r);
    /* an estimate of how much of the strip has been read */
    const int64_t top = y / l->tile_height * l->tile_height;
    const int64_t rows = l->height - top < l->tile_height ? l->height - top : l->tile_height;
    const double step = (double)size / (double)rows;
    spend(r, offset + (uint64_t)(step * (double)(y - top)), (uint64_t)step);
    return true;
}

static bool read_band(tiff_reader *r, int64_t band)
{
    uint8_t *to = r->tiles;
    for (int plane = 0; plane < r->planes; plane++)
        for (int64_t column = 0; column < r->layout.across; column++, to += r->tile_bytes)
            if (io_source_late(r->source, r->error) || !read_tile(r, band, plane, column, to))
                return false;
    r->band = band;
    return true;
}

/* Reads row y; rows are asked for in order. mask may be NULL. */
static bool read_row(tiff_reader *r, int64_t y, uint8_t *to, uint8_t *mask)
{
    const tiff_layout *l = &r->layout;
    if (io_source_late(r->source, r->error))
        return false;
    const int pixel = (int)r->converter.color * io_tiff_converter_bits(&r->converter) / 8;
    if (r->by_rows ? !read_scanline(r, y)
                   : y / l->tile_height != r->band && !read_band(r, y / l->tile_height))
        return false;
    for (int64_t column = 0; column < l->across; column++) {
        const uint8_t *planes[TIFF_MOST_USED];
        const int64_t x = column * l->tile_width, left = l->width - x;
        for (int k = 0; k < r->planes; k++)
            planes[k] = r->tiles + (k * l->across + column) * r->tile_bytes;
        io_tiff_convert(&r->converter, planes, r->row_bytes, r->by_rows ? 0 : y % l->tile_height,
                        left < l->tile_width ? left : l->tile_width, to + x * pixel,
                        mask ? mask + x : NULL);
    }
    return !r->converter.inexact ||
           io_fail(r->error,
                   "a TIFF of %d-bit samples that are not 32-bit floats; "
                   "'gdal_translate -ot Float32 IN.tif OUT.tif' rounds them",
                   l->bits);
}

static bool read_picture(tiff_reader *r, const io_request *request, const io_limits *limits,
                         io_picture *picture)
{
    const tiff_layout *l = &r->layout;
    if (!io_picture_allocate(picture, l->width, l->height, request->color,
                             io_tiff_converter_bits(&r->converter), limits, r->error))
        return false;
    picture->colored = l->model != MODEL_GRAY;
    picture->alpha_ignored = l->alpha >= 0 && !request->alpha;
    if (r->converter.alpha && !(picture->mask = malloc((size_t)(l->width * l->height))))
        return io_fail(r->error, "not enough memory");
    const int64_t stride = l->width * picture->channels * io_sample_size(picture);
    for (int64_t y = 0; y < l->height; y++)
        if (!read_row(r, y, picture->samples + y * stride,
                      picture->mask ? picture->mask + y * l->width : NULL))
            return false;
    return l->depth != 32 || io_finish_floats(picture, request, r->error);
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    tiff_reader reader = {0};
    const bool good = reader_open(&reader, source, request, limits, error) &&
                      read_picture(&reader, request, limits, picture);
    reader_close(&reader);
    return good;
}

/* Whether a strip is decoded from its first row on: a large one, unless it is not compressed. */
static bool begins_strips_anew(const tiff_reader *r)
{
    uint16_t compression = COMPRESSION_NONE;
    TIFFGetFieldDefaulted(r->tiff, TIFFTAG_COMPRESSION, &compression);
    return r->by_rows && compression != COMPRESSION_NONE;
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    tiff_reader *r = rows->state;
    const io_request request = {.color = rows->color};
    if (!reader_open(r, rows->source, &request, limits, error))
        return false;
    const tiff_layout *l = &r->layout;
    r->rows = rows;
    rows->width = l->width;
    rows->height = l->height;
    rows->colored = l->model != MODEL_GRAY;
    rows->alpha_ignored = l->alpha >= 0;
    rows->deep = l->depth == 16;
    rows->floats = l->depth == 32;
    rows->onwards = begins_strips_anew(r) && l->tile_height >= l->height;
    rows->whole = l->format == SAMPLEFORMAT_IEEEFP ? "a TIFF of floats"
                  : l->format == SAMPLEFORMAT_INT  ? "a TIFF of signed samples"
                  : l->depth == 32                 ? "a TIFF of 32-bit samples"
                  : l->depth == 16                 ? "a TIFF of 16-bit samples"
                  : !r->by_rows && l->tile_height >= l->height &&
                          r->tile_bytes > BAND_BYTES / l->across / r->planes
                      ? "a TIFF of one row of tiles"
                      : NULL;
    return true;
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    tiff_reader *r = rows->state;
    r->error = error;
    return read_row(r, rows->next, to, NULL);
}

static int64_t rows_skip(io_rows *rows, int64_t count)
{
    const tiff_reader *r = rows->state;
    if (!begins_strips_anew(r))
        return count;
    const int64_t strip = (rows->next + count) / r->layout.tile_height * r->layout.tile_height;
    return strip > rows->next ? strip - rows->next : 0;
}

static void rows_close(io_rows *rows)
{
    reader_close(rows->state);
}

const io_format io_format_tiff = {
    .name = "TIFF",
    .library = "libtiff " TM_LIBTIFF_VERSION,
    .probe = io_is_tiff,
    .pages = io_tiff_count_pages,
    .end = io_tiff_end,
    .orientation = io_tiff_orientation,
    .decode = decode,
    .rows_state = sizeof(tiff_reader),
    .rows_open = rows_open,
    .rows_read = rows_read,
    .rows_skip = rows_skip,
    .rows_close = rows_close,
};
