/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_IO_MOVIE_CONVERT_H
#define TMATCH_IO_MOVIE_CONVERT_H

#include "libav.h"

/* Fills a frame in 4:2:0 or 4:4:4 of 8 bits, in the limited range, by its own matrix, from an RGB picture at least as
 * large. */
void movie_convert(AVFrame *frame, const io_picture *picture);

#endif
