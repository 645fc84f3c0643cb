/* SPDX-License-Identifier: MIT */
/* Nanoseconds of what a certified search leaves, by which a device chooses how to score it. */
#ifndef TMATCH_CUDA_CERTIFIED_COSTS_H
#define TMATCH_CUDA_CERTIFIED_COSTS_H

/* A window that is left, and each of its pixels; a tile of the tensor cores, and each of the template's
 * pixels; and what tiles take besides. Set by hand. */
#define TM_CUDA_CERTIFIED_WINDOW_NS 0.55
#define TM_CUDA_CERTIFIED_WINDOW_TAP_NS 4e-5
#define TM_CUDA_CERTIFIED_TILE_NS 12
#define TM_CUDA_CERTIFIED_TILE_TAP_NS 0.016
#define TM_CUDA_CERTIFIED_TILES_NS 6000

#endif
