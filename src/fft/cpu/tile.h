/* SPDX-License-Identifier: MIT */
/* A column of tiles, from top to bottom, which one thread correlates. */
#ifndef TMATCH_FFT_CPU_TILE_H
#define TMATCH_FFT_CPU_TILE_H

#include "fft/cpu/transform.h"
#include "fft/f32.h"
#include "fft/tiling.h"
#include "lcc/cpu/f32_staged.h"
#include "lcc/peak_scan.h"

/* Columns of points that are transformed side by side: a cache line of a row. */
#define TM_FFT_COLUMNS 4

/* Transforms of consecutive points, in place. */
typedef struct tm_fft_plan {
    int length;
    bool measured;
    tm_fft_transform *transform;
} tm_fft_plan;

/* What floats need besides, rows of length_x unless said otherwise. A column's sum is a pair: a
 * double, and the rest that its additions have rounded off. */
typedef struct tm_fft_f32_scratch {
    float *pixels[TM_MAX_CHANNELS];    /* the row of the frame that was fetched */
    float *before[2][TM_MAX_CHANNELS]; /* and each part's row before it */
    int covered;                       /* columns of that row that windows have */
    double *left_out, *values;
    double *column[2][TM_F32_SUMS], *rest[2][TM_F32_SUMS];
    double *sums[TM_F32_SUMS]; /* of a row of windows */
    double *suffix;
    int32_t *same[2];   /* rows, up to the last, whose w pixels from here on are all equal */
    double *norms;      /* squared, of length_y rows: each plane's, then F''s and F's */
    tm_f32_staged staged;              /* windows that are done again */
    double pivots[2][TM_MAX_CHANNELS]; /* of the column of tiles */
    double seen[2], steps; /* since the sums were empty: squared norms of rows loaded, rows slid */
    tm_f32_rule rule;      /* of the tile */
    int64_t again; /* windows that were done again, so far */
} tm_fft_f32_scratch;

/* One thread's memory. */
typedef struct tm_fft_scratch {
    tm_fft_point *tile;    /* of each plane length_y rows, tm_fft_row_stride points apart */
    tm_fft_point *columns; /* TM_FFT_COLUMNS of each plane; of floats, then as many of a sum */
    tm_fft_point *work;    /* of a transform */
    uint8_t *row;          /* samples of a row */
    uint32_t *sum[2], *sum_sq[2]; /* of each column's samples, for the real and imaginary part */
    uint32_t *prefix;             /* length_x + 1 sums over them */
    uint64_t *prefix_sq;
    tm_fft_f32_scratch *f32; /* floats have this instead of the four before */
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
    const tm_fft_point *spectrum;
} tm_fft_term;

typedef struct tm_fft_mix {
    int planes, sums, terms;
    tm_fft_term term[TM_F32_TERMS];
} tm_fft_mix;

typedef struct tm_fft_samples tm_fft_samples;

typedef struct tm_fft_tile_column {
    const tm_job *job;
    const tm_fft_tiling *tiling;
    const tm_fft_plan *plan_x, *plan_y;
    const tm_fft_samples *samples;
    const tm_fft_mix *mix;
    const tm_fft_f32 *f32; /* floats; else NULL */
    int64_t x;             /* of the first window */
    int64_t first, last;   /* tiles [first, last) of those above each other */
    tm_peak_scan *scans;   /* one a part, or NULL; begun on the parts that are not empty */
} tm_fft_tile_column;

/* Correlates the column's tiles and ranks their windows. */
void tm_fft_tile_column_match(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                              tm_candidate *best);

/* Writes the spectrum of a template's taps, in the form of tm_fft_term: of the samples of an
 * integer template, of the taps that the metric makes of a float one's. */
void tm_fft_spectrum(const tm_template *tmpl, tm_metric metric, int taps,
                     const tm_fft_tiling *tiling, const tm_fft_plan *plan_x,
                     const tm_fft_plan *plan_y, const tm_fft_scratch *scratch,
                     tm_fft_point *spectrum);

/* A row of windows of one part (0 real, 1 imaginary) with what its scores are made of. */
typedef struct tm_fft_row {
    const tm_job *job;
    int part;
    const double *sums;           /* every second element; integers: sum((F - 128) * T) */
    const uint32_t *sum, *sum_sq; /* of the columns; integers */
    uint32_t *prefix;             /* scratch */
    uint64_t *prefix_sq;
    int64_t x, y; /* of the first window, in the map */
    int64_t count;
    /* Where only peaks are wanted: windows below its floor may be rejected. Else NULL. */
    const tm_peak_scan *scan;
} tm_fft_row;

/* The steps that depend on the type of samples. */
struct tm_fft_samples {
    /* Before the first tile, whose first row is y: makes the column sums but for the last row. */
    void (*start)(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y);
    /* Writes map row y to row number at of the planes' tiles. */
    void (*load)(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y,
                 int64_t at);
    /* After the last row of the tile whose first row is y; may be NULL. */
    void (*loaded)(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y);
    /* Adds row y of both parts to the column sums, or takes it away. */
    void (*slide)(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch, int64_t y,
                  bool enters);
    /* Scores and ranks a row of windows, whose sums are there. */
    void (*score)(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                  const tm_fft_row *row, tm_candidate *best);
};

extern const tm_fft_samples tm_fft_integers, tm_fft_f32_samples;

/* Scores and ranks a row of windows of an integer frame. */
void tm_fft_score_row(const tm_fft_row *row, tm_candidate *best);

/* The same of a float frame. */
void tm_fft_score_f32_row(const tm_fft_tile_column *tiles, const tm_fft_scratch *scratch,
                          const tm_fft_row *row, tm_candidate *best);

/* Lays out what floats need of a thread's memory and returns its size, for data NULL only that. */
size_t tm_fft_f32_carve(tm_fft_f32_scratch *scratch, char *data, const tm_fft_f32 *f32,
                        tm_f32_block_fn *block, const tm_fft_tiling *tiling);

#endif
