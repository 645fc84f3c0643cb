/* SPDX-License-Identifier: MIT */
/* The headers of YUV4MPEG2, the uncompressed movies of mjpegtools and ffmpeg. */
#ifndef TMATCH_IO_Y4M_H
#define TMATCH_IO_Y4M_H

#include "io.h"

enum { IO_Y4M_LONGEST_HEADER = 4096 };

/* What the line that a stream begins with says. */
typedef struct io_y4m {
    int64_t width, height;
    int64_t chroma_width, chroma_height; /* the size of each of two planes; 0: there is only luma */
    bool alpha;                          /* a fourth plane, of the luma's size */
    int bits;                            /* bits of a sample; above 8 it takes two bytes, the low one first */
    bool full_range;
    int64_t rate, scale; /* rate / scale frames a second; 0: not said */
    size_t frame_size;   /* in bytes, without the frame's header */
} io_y4m;

/* line: without its newline, and beginning with the signature. */
bool io_y4m_parse(io_y4m *video, const uint8_t *line, size_t length, io_error *error);

bool io_y4m_begins(const uint8_t *data, size_t size);

#endif
