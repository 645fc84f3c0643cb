/* SPDX-License-Identifier: MIT */
/* Reading PNG by libpng, for the files that do it. */
#ifndef TMATCH_IO_PNG_STATE_H
#define TMATCH_IO_PNG_STATE_H

#include "format.h"

#include <png.h>
#include <setjmp.h>

/* What the header says, and how the samples are wanted. */
typedef struct png_samples {
    int type, channels, bits;
    bool alpha, transparent, colored, deep_file, interlaced;
} png_samples;

typedef struct png_bytes {
    const uint8_t *data;
    size_t size;
} png_bytes;

typedef struct png_state {
    png_samples samples;
    png_structp png;
    png_infop info;
    const io_source *source;
    png_bytes left;        /* to decode */
    const png_bytes *next; /* what follows it, each after a whole chunk, up to NULL; or NULL */
    FILE *file; /* where to encode to */
    io_error *error;
    const char *trouble; /* what a message of libpng is introduced with */
    jmp_buf escape;
} png_state;

/* io_png_close is called whatever create returned. */
bool io_png_create(png_state *state, const io_source *source, io_error *error);
void io_png_close(png_state *state);

/* Reads up to the samples, after setjmp. libpng holds no row yet. */
bool io_png_begin(png_state *state, const io_request *request, const io_limits *limits);

/* Says in picture what the header does, but for the size. */
void io_png_describe(const png_state *state, const io_request *request, io_picture *picture);

/* Decodes with libdeflate, which inflates much faster than zlib but needs memory for all samples at
 * once. False, with the picture as it was, where the file is of a rare kind, too large, or has any
 * fault: then libpng decodes it, or says what is wrong. */
#if TM_HAVE_DEFLATE
bool io_png_decode_at_once(const io_source *source, const io_request *request, const io_limits *limits,
                           io_picture *picture);
#else
static inline bool io_png_decode_at_once(const io_source *source, const io_request *request,
                                         const io_limits *limits, io_picture *picture)
{
    (void)source, (void)request, (void)limits, (void)picture;
    return false;
}
#endif

#endif
