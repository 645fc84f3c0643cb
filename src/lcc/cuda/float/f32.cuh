/* SPDX-License-Identifier: MIT */
/* Float pictures on a device. */
#ifndef TMATCH_LCC_CUDA_REAL_CUH
#define TMATCH_LCC_CUDA_REAL_CUH

#include "lcc/f32_rule.h"
#include "lcc/cuda/device.cuh"

/* The square of a norm is at most the sum of so many parts of it, each as the bits of a
 * double. */
enum { TM_F32_NORM_PARTS = 64 };

/* All pointers are device memory. */
typedef struct tm_f32_launch {
    const float *samples; /* of the frame, rows packed */
    const uint8_t *mask;  /* likewise; NULL: no pixel is left out */
    int64_t frame_width, frame_height;
    int64_t pad_x, pad_y, map_width, map_height; /* rows of the map */
    int64_t position;                            /* of their first element */
    const double *taps;    /* T - mean of centred metrics, else T; in planes */
    const uint8_t *counts; /* 0 where a pixel of the template doesn't count, or NULL */
    int width, height;     /* of the template */
    int first;             /* pixel that counts */
    tm_f32_scorer scorer;
    const double *products;          /* by FFT, dense; NULL: the kernel makes them */
    double pivots[TM_MAX_CHANNELS];  /* of those */
    tm_f32_rule rule;            /* likewise, */
    double error;                    /* and their error as a multiple of a pair of tiles' norm, */
    double shift_error;              /* what a pivot that is moved by 1 adds to that, */
    const unsigned long long *norms; /* TM_F32_NORM_PARTS of each channel */
    float *map;                      /* the whole one, dense, or NULL */
    tm_candidate *candidates;        /* one per block */
} tm_f32_launch;

int64_t tm_f32_blocks(const tm_f32_launch *launch);
cudaError_t tm_f32_start(const tm_f32_launch *launch, cudaStream_t stream);

#endif
