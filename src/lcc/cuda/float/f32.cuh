/* SPDX-License-Identifier: MIT */
/* Float pictures on a device. */
#ifndef TMATCH_LCC_CUDA_FLOAT_F32_CUH
#define TMATCH_LCC_CUDA_FLOAT_F32_CUH

#include "lcc/f32_rule.h"
#include "lcc/cuda/device.cuh"

/* The square of a norm is at most the sum of so many parts of it, each as the bits of a
 * double. */
enum { TM_F32_NORM_PARTS = 64 };

/* All pointers are device memory. */
typedef struct tm_f32_launch {
    const float *samples; /* of the frame, rows packed */
    const uint8_t *mask;  /* likewise; NULL: no pixel is left out */
    int64_t frame_width, frame_height, pad_x, pad_y;
    int64_t map_width, map_height; /* of the rows that are made */
    int64_t position;              /* of the first one's first window in the map */
    const double *taps;            /* T - mean of centred metrics, else T; in planes */
    const uint8_t *counts;         /* 0 where a pixel of the template doesn't count, or NULL */
    int width, height;             /* of the template */
    int first;                     /* the first pixel of it that counts */
    tm_f32_scorer scorer;
    /* The products, estimated by FFT, dense; NULL: the kernel makes them. The rest describes them:
     * their pivots, the rule that says whether they are near enough, their error as a multiple of
     * a pair of tiles' norm, what it grows by where a pivot is moved by 1, and the norms'
     * TM_F32_NORM_PARTS of each channel. */
    const double *products;
    double pivots[TM_MAX_CHANNELS];
    tm_f32_rule rule;
    double error, shift_error;
    const unsigned long long *norms;
    float *map;               /* the whole one, dense, or NULL */
    tm_candidate *candidates; /* one per block */
} tm_f32_launch;

int64_t tm_f32_blocks(const tm_f32_launch *launch);
cudaError_t tm_f32_start(const tm_f32_launch *launch, cudaStream_t stream);

#endif
