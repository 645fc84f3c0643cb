/* SPDX-License-Identifier: MIT */
/* Where a codec of the host puts its frames. */
#ifndef TMATCH_IO_MOVIE_BUFFERS_H
#define TMATCH_IO_MOVIE_BUFFERS_H

#include "state.h"

/* Before the codec is opened: its luma goes to the settings' memory, as far as that has room, from which a device copies
 * it without the host's help. */
void movie_place_luma(io_movie *movie, const AVCodec *codec);

#endif
