/* SPDX-License-Identifier: MIT */
/* Writes a frame of noise by rows, however large. */
#include <inttypes.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "noise.h"
#include "options.h"

static bool write_pgm(FILE *file, uint8_t *row, int64_t width, int64_t height)
{
    fprintf(file, "P5\n%" PRId64 " %" PRId64 "\n255\n", width, height);
    for (int64_t y = 0; y < height; y++) {
        noise_bytes(row, (size_t)width, (uint64_t)y << 32);
        fwrite(row, 1, (size_t)width, file);
    }
    return !ferror(file);
}

static bool write_png(FILE *file, uint8_t *row, int64_t width, int64_t height)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png)))
        return false;
    png_init_io(png, file);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png, 0);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int64_t y = 0; y < height; y++) {
        noise_bytes(row, (size_t)width, (uint64_t)y << 32);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return true;
}

bool bench_frame(bench_options *o, bench_report *report)
{
    int64_t width, height;
    (void)report;
    if (o->word_count != 2 || !bench_parse_size(o->words[0], &width, &height))
        return bench_fail("frame", "wants a size and a file");
    const char *name = o->words[1], *ending = strrchr(name, '.');
    uint8_t *row = malloc((size_t)width);
    FILE *file = row ? fopen(name, "wb") : NULL;
    if (!file) {
        free(row);
        return bench_fail(name, "cannot be written");
    }
    bool good = ending && strcmp(ending, ".png") == 0 ? write_png(file, row, width, height)
                                                      : write_pgm(file, row, width, height);
    good = fclose(file) == 0 && good;
    free(row);
    return good || bench_fail(name, "cannot be written");
}
