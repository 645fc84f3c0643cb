/* SPDX-License-Identifier: MIT */
/* TIFFs in memory, written by libtiff. */
#ifndef TMATCH_TESTS_TIFF_SAMPLE_H
#define TMATCH_TESTS_TIFF_SAMPLE_H

#include <stdbool.h>
#include <tiffio.h>

#include "samples.h"

typedef struct tiff_sample {
    int width, height, bits, format, samples; /* format 0: unsigned */
    int photometric, compression;             /* compression 0: none */
    bool planar;
    int tile_width, tile_height; /* 0: strips */
    int rows_per_strip;          /* 0: all in one */
    int extra_count;
    uint16_t extras[2];
    int blocks; /* pixels each way that share a colour, of YCbCr; 0: not said */
    int subfile, inks, orientation;
    bool sparse;            /* the first strip or tile is left out */
    const char *mode;       /* of TIFFOpen; NULL: "wl" */
    uint16_t *palette;      /* all reds, greens and blues */
    const uint64_t *values; /* of every sample, pixel by pixel; the low bits count */
} tiff_sample;

/* Appends a page to a file, which may be empty. */
void add_tiff_page(bytes *file, const tiff_sample *sample);

bytes make_tiff(const tiff_sample *sample);

/* Fails the test where it cannot be read. */
io_picture decode_tiff(const tiff_sample *sample, bytes file, const io_request *request);

/* libtiff's own rendering, RGBA from the top; the caller frees it. */
uint8_t *read_tiff_rgba(bytes file, int width, int height);

#endif
