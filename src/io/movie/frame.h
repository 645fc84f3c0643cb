/* SPDX-License-Identifier: MIT */
/* A movie's frame as its codec has decoded it, to become a picture when it is wanted. */
#ifndef TMATCH_IO_MOVIE_FRAME_H
#define TMATCH_IO_MOVIE_FRAME_H

#include "libav.h"

/* Makes a frame of what was decoded, whose content it takes over. orientation: as in io_picture. False
 * if memory ran out. */
bool io_movie_keep(io_source *source, const io_libav *libav, AVFrame *decoded, int orientation);

#endif
