/* SPDX-License-Identifier: MIT */
/* What the files of the TIFF reader share: tiff.c opens and reads, tiff_layout.c says what
 * a file has, tiff_pages.c finds its pages, tiff_samples.c makes pixels. */
#ifndef TMATCH_IO_TIFF_H
#define TMATCH_IO_TIFF_H

#include <tiffio.h>

#include "format.h"

typedef enum tiff_model {
    MODEL_GRAY,
    MODEL_PALETTE,
    MODEL_RGB,
    MODEL_CMYK,
    MODEL_YCBCR /* in blocks that share a colour; libtiff turns other YCbCr into RGB */
} tiff_model;

enum { TIFF_MOST_SAMPLES = 64, TIFF_MOST_USED = 5 };

/* How the samples of a page lie in its file. */
typedef struct tiff_layout {
    int64_t width, height;
    tiff_model model;
    int bits, format; /* bits of a sample, and its SAMPLEFORMAT_ */
    int samples;      /* samples of a pixel */
    int colors;       /* the first so many samples are colours */
    int alpha;        /* the number of the sample that is alpha, or -1 */
    bool associated;  /* colours were multiplied by alpha */
    bool white_is_zero, planar, tiled;
    int depth;            /* how deep decoded samples are: 8, 16 or 32 (float) */
    int blocks[2];        /* MODEL_YCBCR: pixels across and down that share a colour */
    uint16_t *palette[3]; /* libtiff's; as deep as depth says */
    int palette_shift;    /* shifted right by so much, entries are that deep */
    /* Strips are tiles as wide as the picture. */
    int64_t tile_width, tile_height, across;
} tiff_layout;

/* Reads the layout; false with a reason where tmatch or libtiff cannot read the page. */
bool io_tiff_layout(TIFF *tiff, const io_limits *limits, tiff_layout *layout, io_error *error);

/* Where the directory of the source's page lies; overviews and masks are none. */
bool io_tiff_find_page(const io_source *source, uint64_t *offset, io_error *error);

/* The page's orientation, 0 where it has none. */
int io_tiff_orientation(const io_source *source);

/* Pages, or those before the chain of directories breaks and one more: that fails. */
int64_t io_tiff_count_pages(const io_source *source);

/* Where the last byte ends that the pages' directories name; 0 where one of them is damaged. */
uint64_t io_tiff_end(const io_source *source);

/* Makes pixels of the samples of a part of a row. */
typedef struct tiff_converter {
    const tiff_layout *layout;
    io_color color;
    bool deep; /* 16 bits stay */
    bool alpha;
    TIFFYCbCrToRGB *ycbcr;
    void *samples, *pixels; /* a part's, as in the file and as colours */
    bool inexact;           /* a sample is no float */
} tiff_converter;

bool io_tiff_converter_init(tiff_converter *converter, TIFF *tiff, const tiff_layout *layout,
                            const io_request *request, io_error *error);
void io_tiff_converter_free(tiff_converter *converter);

/* Bits of the samples that it makes: 8, 16 or 32. */
int io_tiff_converter_bits(const tiff_converter *converter);

/* Converts pixels of row y of a tile, of which planes has the samples: one, or one for
 * each used sample. mask is NULL where none is wanted. */
void io_tiff_convert(tiff_converter *converter, const uint8_t *const *planes, int64_t row_bytes,
                     int64_t y, int64_t count, uint8_t *to, uint8_t *mask);

/* How many samples of a pixel are looked at: its colours and its alpha. */
int io_tiff_used(const tiff_layout *layout);

#endif
