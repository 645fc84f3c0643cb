/* SPDX-License-Identifier: MIT */
/* How long the algorithms take on a CUDA device. Plain C, without CUDA's headers: tests plan
 * for devices that they do not have. */
#ifndef TMATCH_CUDA_ESTIMATE_H
#define TMATCH_CUDA_ESTIMATE_H

#include "lcc/device.h"

#ifdef __cplusplus
extern "C" {
#endif

/* How a frame comes to the device, or a map back. */
typedef enum tm_transfer {
    TM_TRANSFER_NONE, /* it is there, or stays there */
    TM_TRANSFER_PINNED,
    TM_TRANSFER_PAGEABLE
} tm_transfer;

typedef struct tm_cuda_conditions {
    tm_device_traits traits;
    tm_transfer frame, map;
    bool chunks;     /* the direct algorithm takes the frame in chunks */
    size_t together; /* templates that share a launch; 0 as 1 */
    const tm_rates *rates; /* NULL: the usual ones */
} tm_cuda_conditions;

/* Why windows of the job cannot be left out on such a device, or NULL. */
const char *tm_cuda_certified_fault(const tm_device_traits *traits, const tm_job *job);

/* wanted: with FFT or CUFFT, FFT is not left out where the direct algorithm takes next to no
 * time. EXHAUSTIVE leaves certified search out. */
void tm_cuda_estimate(tm_estimate *estimate, const tm_cuda_conditions *conditions,
                      const tm_job *job, tm_algorithm wanted, tm_strategy strategy);

/* Tells whether the device copies from and to these rows directly. False where the thread was given up
 * meanwhile. */
typedef struct tm_pinned_memory {
    bool (*holds)(void *context, const void *rows, ptrdiff_t stride, int64_t count,
                  size_t row_bytes, bool *pinned);
    void *context;
} tm_pinned_memory;

/* Estimates the jobs of one call, under the conditions that each will meet; rates: the device's. Neighbours that
 * share a launch share an estimate if it was made for the one with the greater norm: the
 * bound on the error is the smaller for the other. Where the thread was given up, which its guard says,
 * estimates are missing, and nothing of the jobs is looked at any more. */
void tm_cuda_estimate_jobs(tm_estimate *estimates, const tm_device_traits *traits, const tm_rates *rates,
                           const tm_job *jobs, size_t count,
                           const tm_estimate_request *request, const tm_pinned_memory *pinned);

#ifdef __cplusplus
}
#endif

#endif
