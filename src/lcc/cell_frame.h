/* SPDX-License-Identifier: MIT */
/* A frame of cells, squares of pixels side by side, the first of which begins side pixels at most left of and above
 * the frame: sums of pixels, as whole means and what is left over. */
#ifndef TMATCH_LCC_CELL_FRAME_H
#define TMATCH_LCC_CELL_FRAME_H

#include <stdint.h>

typedef struct tm_cell_frame {
    int64_t x, y; /* of its first pixel in the frame */
    int64_t width, height; /* in cells */
    int64_t pitch;
    uint8_t *means, *rests;
} tm_cell_frame;

#endif
