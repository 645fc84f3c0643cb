/* SPDX-License-Identifier: MIT */
/* Movies decoded by NVDEC, a GPU's own decoder, whose frames stay in the device's memory. */
#ifndef TMATCH_IO_MOVIE_DEVICE_H
#define TMATCH_IO_MOVIE_DEVICE_H

#include "state.h"

/* Before the codec is opened. False with the reason. */
bool movie_device_open(io_movie *movie, io_error *error);
void movie_device_close(io_movie *movie);

/* Makes a frame of what was decoded on the device, as io_movie_keep does. False with the reason. */
bool movie_device_keep(io_source *source, const io_movie *movie, io_error *error);

#endif
