/* SPDX-License-Identifier: MIT */
/* The colour map of heat maps. */
#ifndef TMATCH_IO_VIRIDIS_H
#define TMATCH_IO_VIRIDIS_H

#include <stdint.h>

extern const uint8_t io_viridis[256][3];

#endif
