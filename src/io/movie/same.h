/* SPDX-License-Identifier: MIT */
/* Frames of a movie that are the same picture once more, as slides and recorded screens have them. */
#ifndef TMATCH_IO_MOVIE_SAME_H
#define TMATCH_IO_MOVIE_SAME_H

#include "libav.h"

/* Whether two decoded frames have the same samples, bit by bit, and these mean the same. False also where that cannot be
 * told, as of samples that are not in this memory. */
bool movie_same_samples(const io_libav *libav, const AVFrame *a, const AVFrame *b);

#endif
