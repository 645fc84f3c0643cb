/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_IO_VIRIDIS_H
#define TMATCH_IO_VIRIDIS_H

#include <stdint.h>

extern const uint8_t io_viridis[256][3];

#endif
