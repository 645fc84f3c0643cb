/* SPDX-License-Identifier: MIT */
#include "orientation.h"

#include <errno.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <jpeglib.h>
#include <jerror.h>

#define DEPTH_REASON "a JPEG of %d-bit samples; only those of 8 bits are read"
#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

enum { QUALITY = 92, SCAN = 0xda };

typedef struct jpeg_state {
    struct jpeg_error_mgr manager; /* first: libjpeg hands back a pointer to it */
    const io_source *source; /* what is decoded */
    io_error *error;
    jmp_buf escape;
} jpeg_state;

static bool probe(const uint8_t *data, size_t size)
{
    return size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0;
}

/* Looks for EXIF data before the scans; the first ones count. */
static int find_orientation(const io_source *source)
{
    size_t at = 2;
    while (source->size - at >= 4) {
        const uint8_t *marker = source->data + at;
        const size_t size = (size_t)(marker[2] << 8 | marker[3]);
        if (marker[0] != 0xff || marker[1] == 0 || marker[1] == 0xff) {
            at++; /* no marker: libjpeg passes over such a byte as well */
            continue;
        }
        if (marker[1] == JPEG_EOI || marker[1] == SCAN || size < 2 || size > source->size - at - 2)
            return 0;
        if (marker[1] == JPEG_APP0 + 1 && size >= 8 && memcmp(marker + 4, "Exif\0", 6) == 0)
            return io_exif_orientation(marker + 4, size - 2);
        at += 2 + size;
    }
    return 0;
}

/* A file that libjpeg cannot decode is not called damaged. */
static void describe_unsupported(jpeg_state *state, int marker)
{
    const bool lossless = marker % 4 == 3;
    io_fail(state->error, "a %s JPEG, which libjpeg does not decode",
            lossless ? "lossless" : "hierarchical");
}

static void describe(j_common_ptr codec)
{
    static const char corrupt[] = "Corrupt JPEG data: ";
    jpeg_state *state = (jpeg_state *)codec->err;
    char message[JMSG_LENGTH_MAX];
    int number = errno;
    state->manager.format_message(codec, message);
    const bool again = strncmp(message, corrupt, strlen(corrupt)) == 0;
    switch (state->manager.msg_code) {
    case JWRN_JPEG_EOF:
    case JERR_INPUT_EOF:
        io_fail(state->error, "damaged JPEG: the file is truncated");
        break;
    case JERR_BAD_PRECISION:
        io_fail(state->error, DEPTH_REASON, state->manager.msg_parm.i[0]);
        break;
    case JERR_SOF_UNSUPPORTED:
        describe_unsupported(state, state->manager.msg_parm.i[0]);
        break;
    case JERR_CONVERSION_NOTIMPL:
        io_fail(state->error, "a JPEG of %d channels of unknown meaning",
                ((j_decompress_ptr)codec)->num_components);
        break;
    case JERR_IMAGE_TOO_BIG:
        io_fail(state->error, "more than %ld pixels a side, which libjpeg does not decode",
                JPEG_MAX_DIMENSION);
        break;
    case JERR_FILE_WRITE:
        io_fail(state->error, "%s", strerror(number));
        break;
    case JERR_OUT_OF_MEMORY:
        io_fail(state->error, "not enough memory");
        break;
    default:
        io_fail(state->error, "%s%s", codec->is_decompressor ? "damaged JPEG: " : "",
                message + (again ? strlen(corrupt) : 0));
    }
}

static void on_error(j_common_ptr codec)
{
    describe(codec);
    longjmp(((jpeg_state *)codec->err)->escape, 1);
}

/* libjpeg calls damage a warning and invents samples for it. */
static void on_message(j_common_ptr codec, int level)
{
    if (level >= 0)
        return;
    switch (codec->err->msg_code) {
    case JWRN_JPEG_EOF:
    case JWRN_HIT_MARKER:
    case JWRN_HUFF_BAD_CODE:
    case JWRN_ARITH_BAD_CODE:
    case JWRN_MUST_RESYNC:
    case JWRN_NOT_SEQUENTIAL:
        on_error(codec);
    }
}

static void install(jpeg_state *state, io_error *error)
{
    jpeg_std_error(&state->manager);
    state->manager.error_exit = on_error;
    state->manager.emit_message = on_message;
    state->error = error;
}

/* Adobe's programs store ink inverted, and then 255 is no ink. */
static void rgb_from_cmyk(uint8_t *rgb, const uint8_t *cmyk, int64_t width, bool inverted)
{
    unsigned flip = inverted ? 0 : 255;
    for (int64_t x = 0; x < width; x++)
        for (int c = 0; c < 3; c++)
            rgb[3 * x + c] =
                (uint8_t)(((cmyk[4 * x + c] ^ flip) * (cmyk[4 * x + 3] ^ flip) + 127) / 255);
}

/* Reads a row of a CMYK file; cmyk has room for 7 bytes a pixel. */
static void read_cmyk_row(j_decompress_ptr codec, uint8_t *cmyk, uint8_t *to, int channels)
{
    int64_t width = codec->output_width;
    uint8_t *rgb = cmyk + 4 * width;
    jpeg_read_scanlines(codec, &cmyk, 1);
    rgb_from_cmyk(rgb, cmyk, width, codec->saw_Adobe_marker);
    io_put_row(to, channels, rgb, 3, width);
}

/* libjpeg calls it for each row of blocks. */
static void check_progress(j_common_ptr codec)
{
    jpeg_state *state = (jpeg_state *)codec->err;
    if (io_source_late(state->source, state->error))
        longjmp(state->escape, 1);
    if (((j_decompress_ptr)codec)->input_scan_number <= IO_JPEG_MOST_SCANS)
        return;
    io_fail(state->error, "damaged JPEG: more than %d scans", IO_JPEG_MOST_SCANS);
    longjmp(state->escape, 1);
}

/* A decoder, and room for a row of CMYK, which the codec frees. */
typedef struct jpeg_reader {
    jpeg_state state;
    struct jpeg_decompress_struct codec;
    struct jpeg_progress_mgr progress;
    uint8_t *cmyk; /* NULL: libjpeg converts the colours */
} jpeg_reader;

/* Reads the header, after setjmp. */
static bool begin(jpeg_reader *r, const io_source *source, const io_limits *limits)
{
    j_decompress_ptr codec = &r->codec;
    jpeg_create_decompress(codec);
    r->state.source = source;
    r->progress.progress_monitor = check_progress;
    codec->progress = &r->progress;
    jpeg_mem_src(codec, source->data, source->size);
    jpeg_read_header(codec, TRUE);
    if (codec->data_precision != 8)
        return io_fail(r->state.error, DEPTH_REASON, codec->data_precision);
    return io_check_size(codec->image_width, codec->image_height, limits, r->state.error);
}

static void start(jpeg_reader *r, io_color color)
{
    j_decompress_ptr codec = &r->codec;
    bool cmyk = codec->jpeg_color_space == JCS_CMYK || codec->jpeg_color_space == JCS_YCCK;
    codec->out_color_space = cmyk ? JCS_CMYK : color == IO_GRAY ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(codec);
    if (cmyk) /* from libjpeg's pool, so that an error frees it too */
        r->cmyk = codec->mem->alloc_large((j_common_ptr)codec, JPOOL_IMAGE,
                                          7 * (size_t)codec->output_width);
}

static void read_row(jpeg_reader *r, uint8_t *to, int channels)
{
    if (r->cmyk)
        read_cmyk_row(&r->codec, r->cmyk, to, channels);
    else
        jpeg_read_scanlines(&r->codec, &to, 1);
}

static bool read_picture(jpeg_reader *r, const io_source *source, io_color color,
                         const io_limits *limits, io_picture *picture)
{
    if (setjmp(r->state.escape))
        return false;
    if (!begin(r, source, limits) ||
        !io_picture_allocate(picture, r->codec.image_width, r->codec.image_height, color, 8,
                             limits, r->state.error))
        return false;
    picture->colored = r->codec.num_components > 1;
    start(r, color);
    size_t stride = (size_t)(picture->width * picture->channels);
    for (int64_t y = 0; y < picture->height; y++)
        read_row(r, picture->samples + (size_t)y * stride, picture->channels);
    jpeg_finish_decompress(&r->codec);
    return true;
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    jpeg_reader reader = {.codec = {.err = &reader.state.manager}};
    install(&reader.state, error);
    bool ok = read_picture(&reader, source, request->color, limits, picture);
    jpeg_destroy_decompress(&reader.codec);
    return ok;
}

/* Bytes that a pixel's coefficients take, which libjpeg holds until the last scan is read. */
static int coefficient_bytes(const struct jpeg_decompress_struct *codec)
{
    int most_h = 1, most_v = 1, samples = 0;
    for (int i = 0; i < codec->num_components; i++) {
        const jpeg_component_info *c = &codec->comp_info[i];
        most_h = c->h_samp_factor > most_h ? c->h_samp_factor : most_h;
        most_v = c->v_samp_factor > most_v ? c->v_samp_factor : most_v;
        samples += c->h_samp_factor * c->v_samp_factor;
    }
    const int most = most_h * most_v;
    return (samples * (int)sizeof(JCOEF) + most - 1) / most;
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    jpeg_reader *r = rows->state;
    r->codec.err = &r->state.manager;
    install(&r->state, error);
    if (setjmp(r->state.escape) || !begin(r, rows->source, limits))
        return false;
    rows->width = r->codec.image_width;
    rows->height = r->codec.image_height;
    rows->colored = r->codec.num_components > 1;
    if (jpeg_has_multiple_scans(&r->codec)) {
        rows->whole = "a progressive JPEG";
        rows->decoder_bytes = coefficient_bytes(&r->codec);
    }
    return true;
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    jpeg_reader *r = rows->state;
    r->state.error = error;
    if (setjmp(r->state.escape))
        return false;
    if (rows->next == 0)
        start(r, rows->color);
    read_row(r, to, rows->color);
    if (rows->next == rows->height - 1)
        jpeg_finish_decompress(&r->codec);
    else
        rows->used = rows->source->size - r->codec.src->bytes_in_buffer;
    return true;
}

static void rows_close(io_rows *rows)
{
    jpeg_reader *r = rows->state;
    jpeg_destroy_decompress(&r->codec);
}

static bool write_picture(j_compress_ptr codec, const io_picture *picture, int quality, FILE *file)
{
    jpeg_state *state = (jpeg_state *)codec->err;
    if (setjmp(state->escape))
        return false;
    jpeg_create_compress(codec);
    jpeg_stdio_dest(codec, file);
    if (picture->width > JPEG_MAX_DIMENSION || picture->height > JPEG_MAX_DIMENSION)
        return io_fail(state->error, "a JPEG has at most %ld pixels a side; PNG has room",
                       JPEG_MAX_DIMENSION);
    codec->image_width = (JDIMENSION)picture->width;
    codec->image_height = (JDIMENSION)picture->height;
    codec->input_components = picture->channels;
    codec->in_color_space = picture->channels == IO_RGB ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(codec);
    jpeg_set_quality(codec, quality, TRUE);
    /* At half the colour resolution a thin coloured line would bleed. */
    if (quality >= 90)
        codec->comp_info[0].h_samp_factor = codec->comp_info[0].v_samp_factor = 1;
    jpeg_start_compress(codec, TRUE);
    size_t stride = (size_t)(picture->width * picture->channels);
    while (codec->next_scanline < codec->image_height) {
        uint8_t *row = picture->samples + codec->next_scanline * stride;
        jpeg_write_scanlines(codec, &row, 1);
    }
    jpeg_finish_compress(codec);
    return true;
}

bool io_jpeg_encode(const io_picture *picture, int quality, FILE *file, io_error *error)
{
    jpeg_state state;
    struct jpeg_compress_struct codec = {.err = &state.manager};
    install(&state, error);
    bool ok = write_picture(&codec, picture, quality, file);
    jpeg_destroy_compress(&codec);
    return ok;
}

static bool encode(const io_picture *picture, FILE *file, io_error *error)
{
    return io_jpeg_encode(picture, QUALITY, file, error);
}

const io_format io_format_jpeg = {
    .name = "JPEG",
#ifdef LIBJPEG_TURBO_VERSION
    .library = "libjpeg-turbo " TEXT(LIBJPEG_TURBO_VERSION),
#else
    .library = "libjpeg " TEXT(JPEG_LIB_VERSION),
#endif
    .probe = probe,
    .orientation = find_orientation,
    .decode = decode,
    .rows_state = sizeof(jpeg_reader),
    .rows_open = rows_open,
    .rows_read = rows_read,
    .rows_close = rows_close,
    .encode = encode,
};
