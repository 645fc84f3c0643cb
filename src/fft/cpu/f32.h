/* SPDX-License-Identifier: MIT */
/* What f32.c, f32_sums.c and f32_score.c share: rows of a column of tiles of a float frame. */
#ifndef TMATCH_FFT_CPU_F32_H
#define TMATCH_FFT_CPU_F32_H

#include "fft/cpu/tile.h"

/* Returns the frame's row that map row *y of a part begins with, or NULL where the frame has no
 * pixel of it. *y becomes the row's number in the frame, *left the frame's column below the
 * first window, and [*first, *last) the columns from there on that lie in the frame. */
const float *tm_fft_f32_frame_row(const tm_fft_tile_column *tiles, int part, int64_t *y,
                                  int64_t *left, int64_t *first, int64_t *last);

/* Copies map row y of a part to scratch->pixels, and where the frame has a mask to left_out. */
void tm_fft_f32_fetch(const tm_fft_tile_column *tiles, tm_fft_f32_scratch *scratch, int part,
                      int64_t y);

/* Returns the values of a plane in the row that was fetched last, 0 beyond all windows. They
 * stand until the next call. */
const double *tm_fft_f32_plane_row(const tm_fft_tile_column *tiles,
                                   const tm_fft_f32_scratch *scratch, const tm_fft_plane *plane,
                                   int part);

/* Adds map row y of both parts to the columns' sums, or takes it away. */
void tm_fft_f32_slide(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y,
                      bool enters);

/* Empties the columns' sums and adds all rows of the windows at row top but the last. */
void tm_fft_f32_fill_sums(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                          int64_t top);

#endif
