/* SPDX-License-Identifier: MIT */
/* Complex transforms of one length in binary64, in place: FFTW's, or our own (own.h), as the build
 * has it (-Dfft). docs/exactness.md says what is assumed of their rounding. */
#ifndef TMATCH_FFT_CPU_TRANSFORM_H
#define TMATCH_FFT_CPU_TRANSFORM_H

#include <stdbool.h>
#include <stdint.h>

typedef double tm_fft_point[2]; /* real and imaginary part */

typedef struct tm_fft_transform tm_fft_transform;

/* Whether measured, below, changes anything. */
extern const bool tm_fft_measures;

/* length is one of the lengths in cpu/costs.h; features are the TM_CPU_ bits that may be
 * used. measured: takes some 0.1 s where the library can find a quicker way so. NULL if memory ran
 * out. tm_fft_transform_free takes NULL too. */
tm_fft_transform *tm_fft_transform_make(int length, bool measured, uint32_t features);
void tm_fft_transform_free(tm_fft_transform *transform);

/* Replace length points, aligned to 64 bytes, by sum(points[j] * exp(-2 pi i j k / length)), or with
 * a positive sign. work has room for as many points, aligned likewise. Several threads may use one
 * transform at a time, each with work of its own. */
void tm_fft_forward(const tm_fft_transform *transform, tm_fft_point *points, tm_fft_point *work);
void tm_fft_backward(const tm_fft_transform *transform, tm_fft_point *points, tm_fft_point *work);

#endif
