/* SPDX-License-Identifier: MIT */
/* Which of libavcodec's encoders a movie is written by, and how. */
#ifndef TMATCH_IO_MOVIE_ENCODERS_H
#define TMATCH_IO_MOVIE_ENCODERS_H

#include "libav.h"

typedef struct movie_encoder {
    const char *name;
    const char *options[3][2]; /* of its own: names and values */
    int quantizer;       /* a fixed one, or 0 */
    int bits_a_pixel;    /* for a second of 25 frames; 0: it has no bit rate */
    int ticks;           /* of a second: MPEG-4 has 16 bits for them */
    bool even;           /* with 4:2:0, both sizes have to be even: odd ones get 4:4:4 */
} movie_encoder;

/* The first that the ending allows and libavcodec has; NULL with the reason. */
const movie_encoder *movie_find_encoder(const io_libav *libav, const char *name, io_error *error);

/* Opens it for pictures of this size. A negative status of libav's where that fails. */
int movie_open_encoder(AVCodecContext **codec, const movie_encoder *encoder, const io_libav *libav, int width,
                       int height, int threads, bool global_header, io_libav_log *log);

#endif
