/* SPDX-License-Identifier: MIT */
/* How much longer a device takes than the one that costs.h is of, by what its driver says of it. */
#ifndef TMATCH_CUDA_SCALES_H
#define TMATCH_CUDA_SCALES_H

#include "cuda/costs.h"
#include "lcc/device.h"

/* One multiprocessor. */
static inline double tm_clock_scale(const tm_device_traits *t)
{
    return t->clock_ghz > 0 ? TM_CUDA_FITTED_GHZ / t->clock_ghz : 1;
}

/* All of them. */
static inline double tm_scale_of(const tm_device_traits *t)
{
    return tm_clock_scale(t) * TM_CUDA_FITTED_MULTIPROCESSORS / t->multiprocessors;
}

/* A multiprocessor's tensor cores; chips for graphics, of compute capability 8.6, 8.9 and 12.0 for example, have
 * smaller ones. */
static inline double tm_product_scale(const tm_device_traits *t)
{
    const int capability = t->capability;
    const bool few = capability > 80 && capability != 90 && capability != 100 && capability != 103;
    return tm_clock_scale(t) * (few ? TM_CUDA_FEW_PRODUCTS : 1);
}

/* Transforms: their arithmetic, in double precision, and their ways through memory. */
static inline double tm_fft_scale(const tm_device_traits *t)
{
    const double arithmetic = tm_scale_of(t) * (t->fast_double ? 1 : TM_CUDA_SLOW_DOUBLE);
    const double memory = t->memory_gbs > 0 ? TM_CUDA_FITTED_GBS / t->memory_gbs : arithmetic;
    return arithmetic * (1 - TM_CUDA_FFT_MEMORY) + memory * TM_CUDA_FFT_MEMORY;
}

#endif
