/* SPDX-License-Identifier: MIT */
/* Which algorithm a match takes, by what its device estimates that each costs. */
#ifndef TMATCH_MATCH_PLAN_H
#define TMATCH_MATCH_PLAN_H

#include "lcc/device.h"

typedef struct tm_plan {
    tm_algorithm algorithm; /* DIRECT; or FFT, whose tiling says by whose transforms */
    double ms;              /* the estimate of that */
    tm_estimate estimate;
} tm_plan;

/* wanted: AUTO, DIRECT, FFT or CUFFT; the last two become FFT, also where the estimate has a
 * fault. */
void tm_plan_choose(tm_plan *plan, const tm_estimate *estimate, tm_algorithm wanted);

/* How much longer the program takes where it opens a CUDA device, in milliseconds: with a frame
 * of 1920x1080 given three times, the median of 11 starts. The library's, as it is asked before
 * the backend is loaded, which takes part of that time. */
#define TM_CUDA_START_MS 250.0

#endif
