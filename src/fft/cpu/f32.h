/* SPDX-License-Identifier: MIT */
/* What the files on strips of float frames share. */
#ifndef TMATCH_FFT_CPU_F32_H
#define TMATCH_FFT_CPU_F32_H

#include "fft/cpu/tile.h"

/* The columns of a part's row that lie in the frame, [first, last), if any, where the
 * strip's first column lies, and the row itself or NULL; y becomes the frame's. */
const float *tm_fft_f32_frame_row(const tm_fft_strip *strip, int part, int64_t *y, int64_t *left,
                                  int64_t *first, int64_t *last);

/* Map row y of one part into pixels, and left_out where the frame has a mask. */
void tm_fft_f32_fetch(const tm_fft_strip *strip, tm_fft_f32_scratch *scratch, int part, int64_t y);

/* A plane's values of the row that was fetched, 0 where no window is. */
const double *tm_fft_f32_plane_row(const tm_fft_strip *strip, const tm_fft_f32_scratch *scratch,
                                   const tm_fft_plane *plane, int part);

/* Adds row y of both parts to the columns' sums, or takes it away. */
void tm_fft_f32_slide(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y,
                      bool enters);

/* Empties the sums and adds the rows of the windows from top on but their last ones. */
void tm_fft_f32_fill_sums(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t top);

#endif
