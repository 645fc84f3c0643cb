/* SPDX-License-Identifier: MIT */
/* Float pictures on a device. */
#ifndef TMATCH_LCC_CUDA_REAL_CUH
#define TMATCH_LCC_CUDA_REAL_CUH

#include "lcc/cuda/device.cuh"
#include "lcc/real_score.h"

/* All pointers are device memory. */
typedef struct tm_real_launch {
    const float *samples; /* of the frame, rows packed */
    const uint8_t *mask;  /* likewise; NULL: no pixel is left out */
    int64_t frame_width, frame_height;
    int64_t pad_x, pad_y, map_width, map_height;
    const double *taps;    /* T - mean of centred metrics, else T; in planes */
    const uint8_t *counts; /* 0 where a pixel of the template doesn't count, or NULL */
    int width, height;     /* of the template */
    int first;             /* pixel that counts */
    tm_real_scorer scorer;
    float *map;               /* dense, or NULL */
    tm_candidate *candidates; /* one per block */
} tm_real_launch;

int64_t tm_real_blocks(const tm_real_launch *launch);
cudaError_t tm_real_start(const tm_real_launch *launch, cudaStream_t stream);

#endif
