/* SPDX-License-Identifier: MIT */
/* How long the algorithms take on the CPU. */
#ifndef TMATCH_CPU_ESTIMATE_H
#define TMATCH_CPU_ESTIMATE_H

#include "lcc/cpu/certified.h"
#include "lcc/device.h"

typedef struct tm_cpu_conditions {
    const char *kernels; /* the direct algorithm's */
    uint32_t features;   /* that transforms may use */
    int threads;
    bool started;      /* FFT has plans and memory */
    double missed_ms;  /* what it would have saved so far */
    int64_t fft_bytes; /* that it may use; 0: no limit */
    tm_strategy strategy; /* EXHAUSTIVE leaves certified search out */
    const tm_rates *rates; /* NULL: the usual ones */
} tm_cpu_conditions;

/* wants_fft: FFT is not left out where the direct algorithm takes next to no time. */
void tm_cpu_estimate(tm_estimate *estimate, const tm_cpu_conditions *conditions,
                     const tm_job *job, bool wants_fft);

/* The level that a certified search of such a job begins with, NULL if none, finer ones to try, and about how long
 * it takes, in milliseconds, where the template is in the picture. shared: of whose blocks there are sums already,
 * or NULL; a level of the same is taken unless it costs much more. */
double tm_cpu_certified_plan(tm_certified_plan *plan, const tm_cpu_conditions *conditions,
                             const tm_job *job, const tm_level *shared);

/* What the products of a window with a template of the job's size take, in nanoseconds. */
double tm_cpu_product_ns(const tm_cpu_conditions *conditions, const tm_job *job);

#endif
