/* SPDX-License-Identifier: MIT */
/* Writes a frame of noise by rows, however large:
 *
 *     make_frame WIDTH HEIGHT FILE.pgm|FILE.png
 *
 * A PNG is stored, not compressed: noise has nothing to compress. */
#include <inttypes.h>
#include <png.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void draw(uint8_t *row, int64_t width, int64_t y)
{
    uint64_t state = (uint64_t)y * UINT64_C(0x9e3779b97f4a7c15) + 1;
    for (int64_t x = 0; x < width; x += 8) { /* xorshift64 */
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        memcpy(row + x, &state, 8);
    }
}

static int write_pgm(FILE *file, uint8_t *row, int64_t width, int64_t height)
{
    fprintf(file, "P5\n%" PRId64 " %" PRId64 "\n255\n", width, height);
    for (int64_t y = 0; y < height; y++) {
        draw(row, width, y);
        fwrite(row, 1, (size_t)width, file);
    }
    return ferror(file);
}

static int write_png(FILE *file, uint8_t *row, int64_t width, int64_t height)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
    png_infop info = png ? png_create_info_struct(png) : NULL;
    if (!info || setjmp(png_jmpbuf(png)))
        return 1;
    png_init_io(png, file);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_set_compression_level(png, 0);
    png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_NONE);
    png_set_IHDR(png, info, (png_uint_32)width, (png_uint_32)height, 8, PNG_COLOR_TYPE_GRAY,
                 PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    png_write_info(png, info);
    for (int64_t y = 0; y < height; y++) {
        draw(row, width, y);
        png_write_row(png, row);
    }
    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return 0;
}

int main(int argc, char **argv)
{
    const int64_t width = argc == 4 ? strtoll(argv[1], NULL, 10) : 0;
    const int64_t height = argc == 4 ? strtoll(argv[2], NULL, 10) : 0;
    uint8_t *row = width > 0 && height > 0 ? malloc((size_t)width + 8) : NULL;
    FILE *file = row ? fopen(argv[3], "wb") : NULL;

    if (!file) {
        fprintf(stderr, "make_frame WIDTH HEIGHT FILE.pgm|FILE.png\n");
        return 2;
    }
    const char *ending = strrchr(argv[3], '.');
    int failed = ending && strcmp(ending, ".png") == 0 ? write_png(file, row, width, height)
                                                       : write_pgm(file, row, width, height);
    failed |= fclose(file) != 0;
    free(row);
    return failed ? 2 : 0;
}
