/* SPDX-License-Identifier: MIT */
/* A strip of tiles above each other, which one thread correlates. */
#ifndef TMATCH_FFT_CPU_TILE_H
#define TMATCH_FFT_CPU_TILE_H

#include <fftw3.h>

#include "fft/tiling.h"
#include "lcc/peak_scan.h"

/* Columns that are transformed side by side: a cache line of a row. */
#define TM_FFT_COLUMNS 4

/* In place, over consecutive points. */
typedef struct tm_fft_plan {
    int length;
    bool measured;
    fftw_plan forward, backward;
} tm_fft_plan;

/* One thread's memory. */
typedef struct tm_fft_scratch {
    fftw_complex *tile;    /* length_y rows, tm_fft_row_stride points apart */
    fftw_complex *columns; /* TM_FFT_COLUMNS columns */
    uint8_t *row;          /* samples of a row */
    uint32_t *sum[2], *sum_sq[2]; /* column sums, for the real and imaginary part */
    uint32_t *prefix;             /* length_x + 1 sums over them */
    uint64_t *prefix_sq;
} tm_fft_scratch;

/* Points from a row to the next. An even number of 4 KiB between rows would put a
 * column into few of the cache's sets. */
static inline int64_t tm_fft_row_stride(int length_x)
{
    return (length_x + TM_FFT_COLUMNS - 1) / TM_FFT_COLUMNS * TM_FFT_COLUMNS + TM_FFT_COLUMNS;
}

typedef struct tm_fft_strip {
    const tm_job *job;
    const tm_fft_tiling *tiling;
    const tm_fft_plan *plan_x, *plan_y;
    const fftw_complex *spectrum; /* conjugate and scaled, column by column; written by prepare */
    int64_t x;                    /* of the first window */
    int64_t first, last;          /* tiles, [first, last) */
    tm_peak_scan *scans;          /* one a part, or NULL; begun on the parts that are not empty */
} tm_fft_strip;

/* Correlates the strip and ranks its windows. */
void tm_fft_strip_match(const tm_fft_strip *strip, const tm_fft_scratch *scratch,
                        tm_candidate *best);

/* Writes the template's spectrum as strips take it. */
void tm_fft_spectrum(const tm_template *tmpl, const tm_fft_tiling *tiling,
                     const tm_fft_plan *plan_x, const tm_fft_plan *plan_y,
                     const tm_fft_scratch *scratch, fftw_complex *spectrum);

/* One part (0 real, 1 imaginary) of a row of sums. */
typedef struct tm_fft_row {
    const tm_job *job;
    const double *sums; /* sum((F - 128) * T), every second element */
    const uint32_t *sum, *sum_sq; /* of the columns */
    uint32_t *prefix;             /* scratch */
    uint64_t *prefix_sq;
    int64_t x, y; /* of the first window, in the map */
    int64_t count;
    const tm_peak_scan *skim; /* the map is for this one's eyes only; or NULL */
} tm_fft_row;

void tm_fft_score_row(const tm_fft_row *row, tm_candidate *best);

#endif
