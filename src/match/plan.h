/* SPDX-License-Identifier: MIT */
/* Which algorithm a match takes, by what its device estimates that each costs. */
#ifndef TMATCH_MATCH_PLAN_H
#define TMATCH_MATCH_PLAN_H

#include <math.h>

#include "lcc/device.h"

typedef struct tm_plan {
    tm_algorithm algorithm; /* DIRECT; FFT, whose tiling says by whose transforms; REFERENCE,
                               which is not estimated */
    bool certified;         /* DIRECT: windows may be left out */
    double ms;              /* the estimate of that */
    tm_estimate estimate;
} tm_plan;

/* Takes certified search out of the estimate where no device has it for the job. */
static inline void tm_estimate_limit(tm_estimate *estimate, const tm_job *job)
{
    const char *fault = tm_certified_fault(job);
    if (!fault)
        return;
    estimate->certified_fault = fault;
    estimate->certified_ms = INFINITY;
}

/* Whether the direct algorithm is to leave windows out. */
static inline bool tm_plan_certifies(const tm_estimate *estimate, tm_strategy strategy)
{
    return strategy == TM_STRATEGY_CERTIFIED
               ? isfinite(estimate->certified_ms)
               : strategy == TM_STRATEGY_AUTO && estimate->certified_ms < estimate->direct_ms;
}

/* wanted: AUTO, DIRECT, FFT or CUFFT; the last two become FFT, also where the estimate has a
 * fault. Certified search that is asked for goes before FFT where the algorithm is AUTO. */
static inline tm_plan tm_plan_choose(const tm_estimate *estimate, tm_algorithm wanted,
                                     tm_strategy strategy)
{
    const bool certified = tm_plan_certifies(estimate, strategy);
    const double direct_ms = certified ? estimate->certified_ms : estimate->direct_ms;
    const bool by_fft = wanted == TM_ALGORITHM_FFT || wanted == TM_ALGORITHM_CUFFT ||
                        (wanted == TM_ALGORITHM_AUTO && estimate->fft_ms < direct_ms &&
                         !(certified && strategy == TM_STRATEGY_CERTIFIED));

    return (tm_plan){.algorithm = by_fft ? TM_ALGORITHM_FFT : TM_ALGORITHM_DIRECT,
                     .certified = certified && !by_fft,
                     .ms = by_fft ? estimate->fft_ms : direct_ms,
                     .estimate = *estimate};
}

/* How much longer the program takes where it opens a CUDA device, in milliseconds: with a frame
 * of 1920x1080 given three times, the median of 11 starts. The library's, as it is asked before
 * the backend is loaded, which takes part of that time. */
#define TM_CUDA_START_MS 250.0

#endif
