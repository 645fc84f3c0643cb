/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_FFT_CPU_H
#define TMATCH_FFT_CPU_H

#include "fft/tiling.h"
#include "lcc/cpu/f32_block.h"

/* The FFT algorithm's threads, plans, template spectra and memory, kept across
 * frames. */
typedef struct tm_fft_cpu tm_fft_cpu;

/* features are the TM_CPU_ bits that may be used. Errors: MEMORY. */
tm_status tm_fft_cpu_create(tm_fft_cpu **fft, int threads, uint32_t features);
void tm_fft_cpu_destroy(tm_fft_cpu **fft);

/* For a plain job the tiling's error bound must be below TM_FFT_MAX_ERROR; for one of
 * floats block does windows again whose sums are not near enough. Errors: MEMORY. */
tm_status tm_fft_cpu_match(tm_fft_cpu *fft, tm_job *job, const tm_fft_tiling *tiling,
                           tm_f32_block_fn *block);

/* How many windows of the last match were done again. */
int64_t tm_fft_cpu_again(const tm_fft_cpu *fft);

#endif
