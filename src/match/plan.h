/* SPDX-License-Identifier: MIT */
/* Which algorithm a match takes, by what each is estimated to cost. */
#ifndef TMATCH_MATCH_PLAN_H
#define TMATCH_MATCH_PLAN_H

#include "fft/tiling.h"
#include "cuda/plugin.h"

/* A window costs window + h * (row + w * tap) nanoseconds. */
typedef struct tm_direct_costs {
    const char *kernels;
    double window, row, tap;
} tm_direct_costs;

/* How a frame comes to a CUDA device, or a map back. */
typedef enum tm_transfer {
    TM_TRANSFER_NONE, /* it is there, or stays there */
    TM_TRANSFER_PINNED,
    TM_TRANSFER_PAGEABLE
} tm_transfer;

/* Where a match could run. */
typedef struct tm_site {
    tm_device_kind device; /* CPU or CUDA */
    const char *kernels;   /* the direct algorithm's on the CPU */
    int threads;           /* CPU */
    bool started;          /* CPU: the FFT has plans and memory */
    double missed_ms;      /* CPU: what it would have saved so far */
    int64_t fft_bytes;     /* CPU: that the FFT may use; 0: no limit */
    tm_cuda_traits cuda;
    tm_transfer frame, map; /* CUDA */
    bool chunks;            /* CUDA: the direct algorithm takes the frame in chunks */
    size_t together;        /* CUDA: templates that share a launch; 0 as 1 */
} tm_site;

typedef struct tm_plan {
    tm_algorithm algorithm; /* DIRECT; or FFT, whose tiling says by whose transforms */
    double ms;              /* estimate of it: the whole call's, transfers included */
    double direct_ms, fft_ms; /* INFINITY where it cannot run */
    double missed_ms;       /* FFT would save that if it were started */
    const char *fault;      /* why FFT cannot run, or NULL */
    tm_fft_tiling tiling;   /* where FFT can run */
} tm_plan;

/* Plans a job whose geometry and template are set. wanted: AUTO, DIRECT, FFT, or on CUDA
 * CUFFT; the last two become FFT, also where plan.fault is set. */
void tm_plan_make(tm_plan *plan, const tm_site *site, const tm_job *job, tm_algorithm wanted);

/* How long opening a CUDA device and its first match take. */
double tm_plan_cuda_start_ms(void);

#endif
