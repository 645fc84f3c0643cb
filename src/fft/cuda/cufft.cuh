/* SPDX-License-Identifier: MIT */
/* What a device keeps of cuFFT across frames. */
#ifndef TMATCH_FFT_CUDA_CUFFT_CUH
#define TMATCH_FFT_CUDA_CUFFT_CUH

#include "fft/cuda/kernels.cuh"

enum { TM_CUFFT_PLANS = 8 };

/* A plan for a number of tiles at a time. length_x is 0 where there is none. */
typedef struct tm_cufft_plan {
    int plan; /* cuFFT's number of it */
    int length_x, length_y, batch;
    size_t work_bytes;
    uint64_t used; /* the clock when it was last asked for */
} tm_cufft_plan;

/* Zero-initialise. */
struct tm_cufft {
    tm_cufft_plan plans[TM_CUFFT_PLANS];
    tm_buffer work; /* of whichever plan runs */
    uint64_t clock;
    int error; /* the cufftResult that a call failed with last, or 0 */
};

/* Frees the plans and their memory; then it is as initialised, but for clock and error. */
void tm_cufft_free(tm_cufft *cufft);

#endif
