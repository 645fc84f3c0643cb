/* SPDX-License-Identifier: MIT */
/* What a matcher keeps across frames: plans of transforms, and templates' spectra. */
#ifndef TMATCH_FFT_CPU_PLANS_H
#define TMATCH_FFT_CPU_PLANS_H

#include "fft/cpu/tile.h"

enum { TM_FFT_PLANS = 8, TM_FFT_SPECTRA = 8 };

/* Zero-initialise; free at the end. */
typedef struct tm_fft_plans {
    tm_fft_plan plans[TM_FFT_PLANS];
    int next;
} tm_fft_plans;

void tm_fft_plans_free(tm_fft_plans *plans);

/* Returns a plan, made if there is none, without dropping the other plan of the running match. For
 * features see tm_fft_transform_make. NULL if memory ran out. */
const tm_fft_plan *tm_fft_plan_fetch(tm_fft_plans *plans, int length, bool measure,
                                     uint32_t features, const tm_fft_plan *other);

/* A template's spectra, one after the other. */
typedef struct tm_fft_spectrum_set {
    tm_template *key; /* an own copy */
    int length_x, length_y;
    tm_metric metric;     /* floats: makes the taps, */
    unsigned taps;        /* and which: tm_fft_f32.taken */
    tm_fft_point *points; /* NULL: free */
    size_t size;
    uint64_t used;
} tm_fft_spectrum_set;

/* Likewise. */
typedef struct tm_fft_spectra {
    tm_fft_spectrum_set sets[TM_FFT_SPECTRA];
    uint64_t clock;
} tm_fft_spectra;

void tm_fft_spectra_free(tm_fft_spectra *spectra);

/* The spectra of the taps that f32 takes, or for NULL that of integers, in the order of
 * the taps, tm_fft_spectrum_points apart. NULL if memory ran out. */
const tm_fft_point *tm_fft_spectra_fetch(tm_fft_spectra *spectra, const tm_fft_tile_column *tiles,
                                         const tm_fft_scratch *scratch);

static inline size_t tm_fft_spectrum_points(const tm_fft_tiling *t)
{
    return (size_t)(t->length_x + TM_FFT_COLUMNS) * (size_t)t->length_y;
}

#endif
