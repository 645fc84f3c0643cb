/* SPDX-License-Identifier: MIT */
/* Files in memory for the tests of src/io, made with libpng and libjpeg. */
#ifndef TMATCH_TESTS_IO_SAMPLES_H
#define TMATCH_TESTS_IO_SAMPLES_H

#include "io/io.h"

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

typedef struct png_sample {
    int width, height, depth, type, interlace; /* as libpng numbers them */
    const uint8_t *rows;                       /* packed as in the file */
    const uint8_t *palette;                    /* RGB triples */
    int palette_size;
    bool transparency;                         /* a tRNS chunk */
    const char *chunk;                         /* name of a chunk before PLTE, or NULL */
    bool chunk_last;                           /* but after the samples */
    const uint8_t *chunk_data;
    size_t chunk_size;
} png_sample;

size_t png_row_size(const png_sample *sample);
bytes make_png(const png_sample *sample);
/* Replaces the size in the header. */
void patch_png_size(bytes file, uint32_t width, uint32_t height);

typedef struct jpeg_sample {
    int width, height, channels;
    int in_space, file_space; /* J_COLOR_SPACE */
    bool progressive, no_adobe;
    const uint8_t *samples;
    const uint8_t *app1; /* what such a marker holds, or NULL */
    size_t app1_size;
} jpeg_sample;

bytes make_jpeg(const jpeg_sample *sample);

bytes copy_text(const char *text);

/* Decodes a copy whose end is the end of its allocation. Frees nothing of file. */
bool decode_bytes(bytes file, io_color color, int64_t max_pixels, io_picture *picture,
                  io_error *error);

/* Decoding fails and the reason contains part. */
void check_refused(bytes file, const char *part);

/* Cut after each byte it is refused, but where may_pass says otherwise. */
void check_truncations(bytes file, size_t may_pass_from);

/* Some bytes changed at random: anything but a crash is right. */
void check_damage(bytes file);

#endif
