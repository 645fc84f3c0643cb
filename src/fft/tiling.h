/* SPDX-License-Identifier: MIT */
/* How a score map is cut into tiles that are correlated by FFT (overlap-save),
 * and the bound on the rounding error there. The CPU and CUDA share it.
 *
 * The template is real, so the correlation of a complex picture with it is that
 * of its real part plus i times that of its imaginary part: one complex transform
 * serves two tiles, which are never taken apart before the end. Real parts hold
 * one half of the map, imaginary parts the other half, (shift_x, shift_y) away. */
#ifndef TMATCH_FFT_TILING_H
#define TMATCH_FFT_TILING_H

#include "lcc/lcc.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Frame samples are transformed as F - 128: S_FT = sum((F - 128) * T) + 128 * S_T. */
#define TM_FFT_CENTRE 128

/* A length that transforms well, with the measured time per point. */
typedef struct tm_fft_length {
    int length;
    double ns;
} tm_fft_length;

/* What a device's transforms cost and the work around them. The reads and writes of a
 * point between two transforms are in a length's time: fits found nothing besides. */
typedef struct tm_fft_costs {
    const tm_fft_length *lengths; /* ascending */
    int count;
    double window_ns; /* a window's sums and score */
    double memory_ns; /* a point of a tile's length_x * length_y, once */
    int64_t max_points; /* of a tile; bounds memory */
} tm_fft_costs;

/* The cheapest tiling for workers that each take whole tiles, by our own transforms. False
 * where no length is long enough for the template. */
bool tm_fft_tile_map(tm_fft_tiling *tiling, const tm_geometry *geometry,
                     const tm_fft_costs *costs, int workers);

/* An upper bound of |computed - true| over all sums of a tile before they are
 * rounded to integers: docs/exactness.md has the proof. */
double tm_fft_error_bound(const tm_fft_tiling *tiling, const tm_template *tmpl);

/* Why integers by this tiling would not be exact, or NULL. A job of floats has no such bound:
 * windows that are not near enough are made directly. */
const char *tm_fft_fault(const tm_fft_tiling *tiling, const tm_job *job);

/* The same of floats, of tiles and of taps with these norms. */
double tm_fft_f32_error(const tm_fft_tiling *tiling, double tile_norm, double taps_norm);

/* Rounding to the nearest integer is exact below 1/2; half of that is kept. */
#define TM_FFT_MAX_ERROR 0.25

#ifdef __cplusplus
}
#endif

#endif
