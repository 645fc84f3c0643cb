/* SPDX-License-Identifier: MIT */
/* Which algorithm a match takes, by what each is estimated to cost. */
#ifndef TMATCH_MATCH_PLAN_H
#define TMATCH_MATCH_PLAN_H

#include "fft/tiling.h"
#include "lcc/cuda/plugin.h"

/* A window costs window + h * (row + w * tap) nanoseconds. */
typedef struct tm_direct_costs {
    const char *kernels;
    double window, row, tap;
} tm_direct_costs;

/* Where a match could run. */
typedef struct tm_site {
    tm_device_kind device; /* CPU or CUDA */
    const char *kernels;   /* the direct algorithm's on the CPU */
    int threads;           /* CPU */
    bool started;          /* CPU: the FFT has plans and memory */
    double missed_ms;      /* CPU: what it would have saved so far */
    int64_t fft_bytes;     /* CPU: that the FFT may use; 0: no limit */
    tm_cuda_traits cuda;
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

/* How long opening a CUDA device and its first match take. */
double tm_plan_cuda_start_ms(void);

#endif
