/* SPDX-License-Identifier: MIT */
/* Which algorithm a match takes on the CPU, by what each is estimated to cost. */
#ifndef TMATCH_MATCH_PLAN_H
#define TMATCH_MATCH_PLAN_H

#include "fft/tiling.h"

/* A window costs window + h * (row + w * tap) nanoseconds. */
typedef struct tm_direct_costs {
    const char *kernels;
    double window, row, tap;
} tm_direct_costs;

/* The CPU that a match could run on. */
typedef struct tm_site {
    const char *kernels; /* the direct algorithm's */
    int threads;
    bool started;     /* the FFT has plans and memory */
    double missed_ms; /* what it would have saved so far */
} tm_site;

typedef struct tm_plan {
    tm_algorithm algorithm; /* DIRECT or FFT */
    double ms;              /* estimate of it */
    double direct_ms, fft_ms; /* INFINITY where it cannot run */
    double missed_ms;       /* FFT would save that if it were started */
    const char *fault;      /* why FFT cannot run, or NULL */
    tm_fft_tiling tiling;   /* where FFT can run */
} tm_plan;

/* Plans a job whose geometry and template are set. wanted: AUTO, DIRECT or FFT;
 * FFT stays FFT where plan.fault is set. */
void tm_plan_make(tm_plan *plan, const tm_site *site, const tm_job *job, tm_algorithm wanted);

#endif
