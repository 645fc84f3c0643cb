/* SPDX-License-Identifier: MIT */
#include "samples.h"

#include "check.h"

#include <png.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <jpeglib.h>

size_t png_row_size(const png_sample *sample)
{
    static const int channels[] = {1, 0, 3, 1, 2, 0, 4};
    return ((size_t)sample->width * (size_t)(channels[sample->type] * sample->depth) + 7) / 8;
}

static void append(png_structp png, png_bytep data, size_t size)
{
    bytes *file = png_get_io_ptr(png);
    file->data = realloc(file->data, file->size + size);
    memcpy(file->data + file->size, data, size);
    file->size += size;
}

static void write_transparency(png_structp png, png_infop info, const png_sample *sample)
{
    png_byte alpha[] = {0, 128};
    png_color_16 color = {.gray = 1, .red = 1, .green = 1, .blue = 1};
    png_set_tRNS(png, info, alpha, sample->palette_size < 2 ? sample->palette_size : 2, &color);
}

bytes make_png(const png_sample *sample)
{
    bytes file = {0};
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png_create_info_struct(png);
    png_set_write_fn(png, &file, append, NULL);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_IHDR(png, info, (png_uint_32)sample->width, (png_uint_32)sample->height,
                 sample->depth, sample->type, sample->interlace, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_color palette[256];
    for (int i = 0; i < sample->palette_size; i++)
        palette[i] = (png_color){sample->palette[3 * i], sample->palette[3 * i + 1],
                                 sample->palette[3 * i + 2]};
    if (sample->palette_size)
        png_set_PLTE(png, info, palette, sample->palette_size);
    if (sample->transparency)
        write_transparency(png, info, sample);
    png_write_info_before_PLTE(png, info);
    if (sample->chunk && !sample->chunk_last)
        png_write_chunk(png, (png_const_bytep)sample->chunk, sample->chunk_data,
                        sample->chunk_size);
    png_write_info(png, info);
    int passes = png_set_interlace_handling(png);
    for (int pass = 0; pass < passes; pass++)
        for (int y = 0; y < sample->height; y++)
            png_write_row(png, sample->rows + (size_t)y * png_row_size(sample));
    if (sample->chunk && sample->chunk_last)
        png_write_chunk(png, (png_const_bytep)sample->chunk, sample->chunk_data,
                        sample->chunk_size);
    png_write_end(png, info);
    png_destroy_write_struct(&png, &info);
    return file;
}

void patch_png_size(bytes file, uint32_t width, uint32_t height)
{
    png_save_uint_32(file.data + 16, width);
    png_save_uint_32(file.data + 20, height);
    png_save_uint_32(file.data + 29, (png_uint_32)crc32(0, file.data + 12, 17));
}

bytes make_jpeg(const jpeg_sample *sample)
{
    struct jpeg_compress_struct codec;
    struct jpeg_error_mgr manager;
    unsigned char *data = NULL;
    unsigned long size = 0;
    codec.err = jpeg_std_error(&manager);
    jpeg_create_compress(&codec);
    jpeg_mem_dest(&codec, &data, &size);
    codec.image_width = (JDIMENSION)sample->width;
    codec.image_height = (JDIMENSION)sample->height;
    codec.input_components = sample->channels;
    codec.in_color_space = (J_COLOR_SPACE)sample->in_space;
    jpeg_set_defaults(&codec);
    jpeg_set_colorspace(&codec, (J_COLOR_SPACE)sample->file_space);
    jpeg_set_quality(&codec, 98, TRUE);
    if (sample->progressive)
        jpeg_simple_progression(&codec);
    if (sample->no_adobe)
        codec.write_Adobe_marker = FALSE;
    jpeg_start_compress(&codec, TRUE);
    if (sample->app1)
        jpeg_write_marker(&codec, JPEG_APP0 + 1, sample->app1, (unsigned)sample->app1_size);
    for (int y = 0; y < sample->height; y++) {
        JSAMPROW row = (JSAMPROW)(uintptr_t)(sample->samples +
                                             (size_t)y * (size_t)(sample->width * sample->channels));
        jpeg_write_scanlines(&codec, &row, 1);
    }
    jpeg_finish_compress(&codec);
    jpeg_destroy_compress(&codec);
    return (bytes){data, size};
}

bytes copy_text(const char *text)
{
    return (bytes){(uint8_t *)strdup(text), strlen(text)};
}

bool decode_bytes(bytes file, io_color color, int64_t max_pixels, io_picture *picture,
                  io_error *error)
{
    uint8_t *copy = malloc(file.size ? file.size : 1);
    if (file.size)
        memcpy(copy, file.data, file.size);
    io_source source = {.data = copy, .size = file.size};
    bool ok = io_decode(&source, color, &(io_limits){max_pixels}, picture, error);
    free(copy);
    return ok;
}

void check_refused(bytes file, const char *part)
{
    io_picture picture;
    io_error error;
    for (int color = IO_GRAY; color <= IO_RGB; color += IO_RGB - IO_GRAY) {
        error.reason[0] = '\0';
        CHECK(!decode_bytes(file, (io_color)color, IO_DEFAULT_MAX_PIXELS, &picture, &error));
        if (!strstr(error.reason, part))
            check_fail(__FILE__, __LINE__, "\"%s\" does not say \"%s\"", error.reason, part);
    }
}

void check_truncations(bytes file, size_t may_pass_from)
{
    for (size_t size = 0; size < file.size; size++) {
        io_picture picture;
        io_error error = {.reason = ""};
        bool ok = decode_bytes((bytes){file.data, size}, IO_GRAY, 1 << 20, &picture, &error);
        if (ok && size < may_pass_from)
            check_fail(__FILE__, __LINE__, "%zu of %zu bytes pass", size, file.size);
        if (!ok && !error.reason[0])
            check_fail(__FILE__, __LINE__, "%zu of %zu bytes: no reason", size, file.size);
        if (ok)
            io_picture_free(&picture);
    }
}

void check_damage(bytes file)
{
    uint8_t *copy = malloc(file.size);
    for (int64_t i = check_cases(300); i > 0; i--) {
        io_picture picture;
        io_error error = {.reason = ""};
        memcpy(copy, file.data, file.size);
        for (int64_t changes = check_random_in(1, 4); changes > 0; changes--)
            copy[check_random_in(0, (int64_t)file.size - 1)] = (uint8_t)check_random();
        bool ok = decode_bytes((bytes){copy, file.size}, i % 2 ? IO_GRAY : IO_RGB, 1 << 20,
                               &picture, &error);
        if (!ok && !error.reason[0])
            check_fail(__FILE__, __LINE__, "no reason");
        if (ok)
            io_picture_free(&picture);
    }
    free(copy);
}
