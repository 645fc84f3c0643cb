/* SPDX-License-Identifier: MIT */
/* A strip of tiles above each other, which one thread correlates. */
#ifndef TMATCH_FFT_CPU_TILE_H
#define TMATCH_FFT_CPU_TILE_H

#include <fftw3.h>

#include "fft/f32.h"
#include "fft/tiling.h"
#include "lcc/cpu/f32_patch.h"
#include "lcc/peak_scan.h"

/* Columns that are transformed side by side: a cache line of a row. */
#define TM_FFT_COLUMNS 4

/* In place, over consecutive points. */
typedef struct tm_fft_plan {
    int length;
    bool measured;
    fftw_plan forward, backward;
} tm_fft_plan;

/* A float strip's memory besides, for rows of length_x where not said otherwise. Sums
 * of columns are pairs: a double, and what its additions have rounded off. */
typedef struct tm_fft_f32_scratch {
    float *pixels[TM_MAX_CHANNELS];    /* a row of the frame, */
    float *before[2][TM_MAX_CHANNELS]; /* each part's last one */
    int covered;                       /* columns of it that windows have */
    double *left_out, *values;
    double *column[2][TM_F32_SUMS], *rest[2][TM_F32_SUMS];
    double *sums[TM_F32_SUMS]; /* of a row of windows */
    double *suffix;
    int32_t *same[2];   /* rows up to the last whose w samples from here on are equal */
    double *norms;      /* of length_y rows: each plane's, then F''s and F's */
    tm_f32_patch patch; /* for windows that are done again */
    /* The strip's and its tile's: */
    double pivots[2][TM_MAX_CHANNELS];
    double seen[2], steps; /* norms of what went through the sums since they were empty */
    tm_f32_rule rule;
    int64_t again; /* windows that were done again, so far */
} tm_fft_f32_scratch;

/* One thread's memory. */
typedef struct tm_fft_scratch {
    fftw_complex *tile;    /* of each plane length_y rows, tm_fft_row_stride points apart */
    fftw_complex *columns; /* TM_FFT_COLUMNS of each plane, and where there are several of a sum */
    uint8_t *row;          /* samples of a row */
    uint32_t *sum[2], *sum_sq[2]; /* column sums, for the real and imaginary part */
    uint32_t *prefix;             /* length_x + 1 sums over them */
    uint64_t *prefix_sq;
    tm_fft_f32_scratch *f32; /* floats; instead of the four before */
} tm_fft_scratch;

/* Points from a row to the next. An even number of 4 KiB between rows would put a
 * column into few of the cache's sets. */
static inline int64_t tm_fft_row_stride(int length_x)
{
    return (length_x + TM_FFT_COLUMNS - 1) / TM_FFT_COLUMNS * TM_FFT_COLUMNS + TM_FFT_COLUMNS;
}

/* sums[sum] += correlation of the plane with the taps of this spectrum, which is
 * conjugate and scaled, column by column. Terms are in the sums' order. */
typedef struct tm_fft_term {
    int plane, sum;
    const fftw_complex *spectrum;
} tm_fft_term;

typedef struct tm_fft_mix {
    int planes, sums, terms;
    tm_fft_term term[TM_F32_TERMS];
} tm_fft_mix;

typedef struct tm_fft_samples tm_fft_samples;

typedef struct tm_fft_strip {
    const tm_job *job;
    const tm_fft_tiling *tiling;
    const tm_fft_plan *plan_x, *plan_y;
    const tm_fft_samples *samples;
    const tm_fft_mix *mix;
    const tm_fft_f32 *f32; /* floats; else NULL */
    int64_t x;             /* of the first window */
    int64_t first, last;   /* tiles, [first, last) */
    tm_peak_scan *scans;   /* one a part, or NULL; begun on the parts that are not empty */
} tm_fft_strip;

/* Correlates the strip and ranks its windows. */
void tm_fft_strip_match(const tm_fft_strip *strip, const tm_fft_scratch *scratch,
                        tm_candidate *best);

/* Writes a spectrum as strips take it, of taps that metric makes of a float template,
 * or of an integer one's samples. */
void tm_fft_spectrum(const tm_template *tmpl, tm_metric metric, int taps,
                     const tm_fft_tiling *tiling, const tm_fft_plan *plan_x,
                     const tm_fft_plan *plan_y, const tm_fft_scratch *scratch,
                     fftw_complex *spectrum);

/* One part (0 real, 1 imaginary) of a row of sums. */
typedef struct tm_fft_row {
    const tm_job *job;
    int part;
    const double *sums; /* the first one's, every second element; integers: sum((F - 128) * T) */
    const uint32_t *sum, *sum_sq; /* of the columns; integers */
    uint32_t *prefix;             /* scratch */
    uint64_t *prefix_sq;
    int64_t x, y; /* of the first window, in the map */
    int64_t count;
    /* Where peaks alone are wanted: windows below its floor may be rejected. Else NULL. */
    const tm_peak_scan *scan;
} tm_fft_row;

/* What a strip does that depends on its samples. */
struct tm_fft_samples {
    /* Rows of the frame from map row y on: before all windows' sums, the first of a strip, */
    void (*start)(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y);
    /* and to the tiles, whose row is number at. */
    void (*load)(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y, int64_t at);
    /* All rows of the tile from y on are there; NULL: nothing is to be done. */
    void (*loaded)(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y);
    /* Adds row y of both parts to the column sums, or takes it away. */
    void (*slide)(const tm_fft_strip *strip, const tm_fft_scratch *scratch, int64_t y, bool enters);
    void (*score)(const tm_fft_strip *strip, const tm_fft_scratch *scratch, const tm_fft_row *row,
                  tm_candidate *best);
};

extern const tm_fft_samples tm_fft_integers, tm_fft_f32_samples;

/* For integers. */
void tm_fft_score_row(const tm_fft_row *row, tm_candidate *best);

/* For floats. */
void tm_fft_score_f32_row(const tm_fft_strip *strip, const tm_fft_scratch *scratch,
                          const tm_fft_row *row, tm_candidate *best);

/* Lays out a thread's memory of floats, and returns its size; with data NULL only that. */
size_t tm_fft_f32_carve(tm_fft_f32_scratch *scratch, char *data, const tm_fft_f32 *f32,
                        tm_f32_block_fn *block, const tm_fft_tiling *tiling);

#endif
