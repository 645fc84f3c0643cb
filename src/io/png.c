/* SPDX-License-Identifier: MIT */
#include "png_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "orientation.h"

static bool probe(const uint8_t *data, size_t size)
{
    /* Half the signature is enough: libpng says what is wrong with the other half. */
    return size >= 4 && memcmp(data, "\x89PNG", 4) == 0;
}

/* eXIf may stand before the samples or after them. To find it after them, each chunk's beginning is
 * looked at; the memory is given back meanwhile, as a file that is read by rows may be large. */
static int find_orientation(const io_source *source)
{
    enum { SIGNATURE = 8, FRAME = 12, HOLD = 8 << 20 }; /* FRAME: length, type and checksum */
    size_t at = SIGNATURE, released = 0;
    int orientation = 0;
    while (at <= source->size && source->size - at >= FRAME) {
        const uint8_t *chunk = source->data + at;
        const size_t size = png_get_uint_32(chunk);
        if (size > source->size - at - FRAME || memcmp(chunk + 4, "IEND", 4) == 0)
            break;
        if (memcmp(chunk + 4, "eXIf", 4) == 0) {
            orientation = io_exif_orientation(chunk + 8, size);
            break;
        }
        at += FRAME + size;
        if (at - released > HOLD) {
            io_source_release_range(source, released, at);
            released = at;
        }
    }
    return orientation;
}

_Noreturn static void on_error(png_structp png, png_const_charp message)
{
    png_state *state = png_get_error_ptr(png);
    if (strstr(message, "memory")) /* "Out of memory", "Insufficient memory ..." */
        io_fail(state->error, "not enough memory");
    else
        io_fail(state->error, "%s%s", state->trouble, message);
    longjmp(state->escape, 1);
}

static void on_warning(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

static void read_bytes(png_structp png, png_bytep to, size_t count)
{
    png_state *state = png_get_io_ptr(png);
    /* One part ends, and another begins, only where a chunk does. */
    while (state->left.size == 0 && state->next && state->next->data)
        state->left = *state->next++;
    if (count > state->left.size)
        png_error(png, "the file is truncated");
    if (io_source_late(state->source, state->error))
        longjmp(state->escape, 1);
    memcpy(to, state->left.data, count);
    state->left.data += count;
    state->left.size -= count;
}

static void write_bytes(png_structp png, png_bytep from, size_t count)
{
    png_state *state = png_get_io_ptr(png);
    if (fwrite(from, 1, count, state->file) != count)
        png_error(png, strerror(errno));
}

static void flush_nothing(png_structp png)
{
    (void)png;
}

/* Moves the last channel out of the picture's rows into its mask. */
static bool split_alpha(io_picture *picture, int channels)
{
    const int size = io_sample_size(picture);
    const size_t pixel = (size_t)(channels * size), count = (size_t)(picture->width * picture->height);
    uint8_t *to = picture->samples;
    picture->mask = malloc(count);
    if (!picture->mask)
        return false;
    for (size_t i = 0; i < count; i++, to += pixel) {
        const uint8_t *from = picture->samples + i * (pixel + (size_t)size);
        picture->mask[i] = from[pixel] | from[pixel + (size_t)size - 1];
        memmove(to, from, pixel);
    }
    return true;
}

bool io_png_begin(png_state *state, const io_request *request, const io_limits *limits)
{
    png_samples *l = &state->samples;
    png_set_read_fn(state->png, state, read_bytes);
    /* The size is checked below, with a better message. */
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_crc_action(state->png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
    /* Only chunks that the samples need are read; above all not gAMA, sRGB and iCCP: with them
     * libpng computes the gray of linear light instead of luma. */
    png_set_keep_unknown_chunks(state->png, PNG_HANDLE_CHUNK_NEVER, NULL, -1);
    png_read_info(state->png, state->info);
    if (!io_check_size(png_get_image_width(state->png, state->info),
                       png_get_image_height(state->png, state->info), limits, state->error))
        return false;

    l->type = png_get_color_type(state->png, state->info);
    l->deep_file = png_get_bit_depth(state->png, state->info) == 16;
    l->interlaced = png_get_interlace_type(state->png, state->info) != PNG_INTERLACE_NONE;
    l->transparent = (l->type & PNG_COLOR_MASK_ALPHA) ||
                     png_get_valid(state->png, state->info, PNG_INFO_tRNS);
    l->alpha = l->transparent && request->alpha;
    l->colored = (l->type & PNG_COLOR_MASK_COLOR) != 0;
    l->channels = request->color + l->alpha;
    /* alpha scaled to 8 bits could become 0 where it is not */
    l->bits = l->deep_file && (request->deep || l->alpha) ? 16 : 8;
    return true;
}

/* Sets up the conversion from the file's samples to those that are wanted; alpha comes last in a
 * pixel. From here on libpng holds two rows. Returns the number of passes. */
static int start(png_state *state, io_color color)
{
    const png_samples *l = &state->samples;
    if (l->type == PNG_COLOR_TYPE_PALETTE)
        png_set_palette_to_rgb(state->png);
    else if (l->type == PNG_COLOR_TYPE_GRAY)
        png_set_expand_gray_1_2_4_to_8(state->png);
    if (!l->alpha)
        png_set_strip_alpha(state->png);
    else if (png_get_valid(state->png, state->info, PNG_INFO_tRNS))
        png_set_tRNS_to_alpha(state->png);
    if (l->bits == 16)
        png_set_swap(state->png); /* PNG is big-endian, and matrix.c makes sure we are not */
    else if (l->deep_file)
        png_set_scale_16(state->png);
    if (color == IO_GRAY && l->colored)
        png_set_rgb_to_gray_fixed(state->png, PNG_ERROR_ACTION_NONE, 29900, 58700);
    if (color == IO_RGB && !l->colored)
        png_set_gray_to_rgb(state->png);
    const int passes = png_set_interlace_handling(state->png);
    png_read_update_info(state->png, state->info);
    const size_t width = png_get_image_width(state->png, state->info);
    if (png_get_rowbytes(state->png, state->info) != width * (size_t)(l->channels * l->bits / 8))
        png_error(state->png, "unexpected row size");
    return passes;
}

void io_png_describe(const png_state *state, const io_request *request, io_picture *picture)
{
    picture->channels = request->color;
    picture->alpha_ignored = state->samples.transparent && !state->samples.alpha;
    picture->colored = state->samples.colored;
}

static bool read_picture(png_state *state, const io_request *request, const io_limits *limits,
                         io_picture *picture)
{
    const png_samples *l = &state->samples;
    if (setjmp(state->escape))
        return false;
    if (!io_png_begin(state, request, limits) ||
        !io_picture_allocate(picture, png_get_image_width(state->png, state->info),
                             png_get_image_height(state->png, state->info), (io_color)l->channels,
                             l->bits, limits, state->error))
        return false;
    io_png_describe(state, request, picture);
    const size_t stride = (size_t)(picture->width * l->channels * l->bits / 8);
    for (int passes = start(state, request->color); passes > 0; passes--)
        for (int64_t y = 0; y < picture->height; y++) {
            if (io_source_late(state->source, state->error))
                return false;
            png_read_row(state->png, picture->samples + (size_t)y * stride, NULL);
        }
    png_read_end(state->png, NULL);
    if (l->alpha && !split_alpha(picture, request->color))
        return io_fail(state->error, "not enough memory");
    return request->deep || io_set_bits(picture, 8, state->error);
}

bool io_png_create(png_state *state, const io_source *source, io_error *error)
{
    *state = (png_state){.source = source,
                         .left = {source->data, source->size},
                         .error = error,
                         .trouble = "damaged PNG: "};
    state->png = png_create_read_struct(PNG_LIBPNG_VER_STRING, state, on_error, on_warning);
    state->info = state->png ? png_create_info_struct(state->png) : NULL;
    return state->info || io_fail(error, "not enough memory");
}

void io_png_close(png_state *state)
{
    png_destroy_read_struct(&state->png, &state->info, NULL);
}

static bool decode(const io_source *source, const io_request *request, const io_limits *limits,
                   io_picture *picture, io_error *error)
{
    png_state state;
    if (!request->frugal && io_png_decode_at_once(source, request, limits, picture))
        return true;
    bool ok = io_png_create(&state, source, error) &&
              read_picture(&state, request, limits, picture);
    io_png_close(&state);
    return ok;
}

static bool rows_open(io_rows *rows, const io_limits *limits, io_error *error)
{
    png_state *state = rows->state;
    if (!io_png_create(state, rows->source, error) || setjmp(state->escape))
        return false;
    const io_request request = {.color = rows->color};
    const png_samples *l = &state->samples;
    if (!io_png_begin(state, &request, limits))
        return false;
    rows->alpha_ignored = l->transparent;
    rows->colored = l->colored;
    rows->deep = l->deep_file;
    rows->width = png_get_image_width(state->png, state->info);
    rows->height = png_get_image_height(state->png, state->info);
    rows->whole = l->interlaced  ? "an interlaced PNG"
                  : l->deep_file ? "a PNG of 16-bit samples"
                                 : NULL;
    return true;
}

static bool rows_read(io_rows *rows, uint8_t *to, io_error *error)
{
    png_state *state = rows->state;
    state->error = error;
    if (setjmp(state->escape))
        return false;
    if (rows->next == 0)
        start(state, rows->color);
    png_read_row(state->png, to, NULL);
    if (rows->next == rows->height - 1)
        png_read_end(state->png, NULL);
    rows->used = (size_t)(state->left.data - rows->source->data);
    return true;
}

static void rows_close(io_rows *rows)
{
    io_png_close(rows->state);
}

/* By the number of channels. */
static const int color_types[] = {0, PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA,
                                  PNG_COLOR_TYPE_RGB, PNG_COLOR_TYPE_RGB_ALPHA};

static bool write_picture(png_state *state, const io_picture *picture)
{
    if (setjmp(state->escape))
        return false;
    if (picture->width > PNG_UINT_31_MAX || picture->height > PNG_UINT_31_MAX)
        png_error(state->png, "the picture is too large for PNG");
    png_set_write_fn(state->png, state, write_bytes, flush_nothing);
    png_set_user_limits(state->png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    /* This takes a third of the time of libpng's defaults, for files a tenth larger. */
    png_set_compression_level(state->png, 3);
    png_set_filter(state->png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB | PNG_FILTER_UP);
    png_set_IHDR(state->png, state->info, (png_uint_32)picture->width,
                 (png_uint_32)picture->height, 8 * io_sample_size(picture),
                 color_types[picture->channels], PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_write_info(state->png, state->info);
    if (picture->bits == 16)
        png_set_swap(state->png); /* as in start */
    size_t stride = (size_t)(picture->width * picture->channels * io_sample_size(picture));
    for (int64_t y = 0; y < picture->height; y++)
        png_write_row(state->png, picture->samples + (size_t)y * stride);
    png_write_end(state->png, NULL);
    return true;
}

static bool encode(const io_picture *picture, FILE *file, io_error *error)
{
    png_state state = {.file = file, .error = error, .trouble = ""};
    state.png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &state, on_error, on_warning);
    state.info = state.png ? png_create_info_struct(state.png) : NULL;
    bool ok = state.info ? write_picture(&state, picture) : io_fail(error, "not enough memory");
    png_destroy_write_struct(&state.png, &state.info);
    return ok;
}

const io_format io_format_png = {
    .name = "PNG",
    .library = "libpng " PNG_LIBPNG_VER_STRING,
    .probe = probe,
    .orientation = find_orientation,
    .decode = decode,
    .rows_state = sizeof(png_state),
    .rows_open = rows_open,
    .rows_read = rows_read,
    .rows_close = rows_close,
    .encode = encode,
};
