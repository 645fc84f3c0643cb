/* SPDX-License-Identifier: MIT */
/* The FFT algorithm by cuFFT's transforms: whole tiles, two-dimensional, as many at a time
 * as a run has. */
#ifndef TMATCH_FFT_CUDA_CUFFT_CUH
#define TMATCH_FFT_CUDA_CUFFT_CUH

#include "fft/cuda/kernels.cuh"

enum { TM_CUFFT_PLANS = 8 };

/* length_x 0: none. */
typedef struct tm_cufft_plan {
    int plan; /* cuFFT's number of it */
    int length_x, length_y, batch;
    size_t work_bytes;
    uint64_t used; /* the clock when it was last asked for */
} tm_cufft_plan;

/* What is kept across frames. Zero-initialise. */
struct tm_cufft {
    tm_cufft_plan plans[TM_CUFFT_PLANS];
    tm_buffer work; /* of whichever plan runs */
    uint64_t clock;
    int error; /* the cufftResult that a call failed with last, or 0 */
};

/* Plans for runs of so many tiles, and memory for them. Fills in the job's fields of cuFFT.
 * The library has been opened. */
cudaError_t tm_cufft_prepare(tm_cufft *cufft, tm_fft_job *job, int64_t tiles, cudaStream_t stream);

/* As the steps of fft.cu have them, for job->run. */
int64_t tm_cufft_strip_bytes(const tm_fft_job *job, int64_t tiles);
int64_t tm_cufft_candidates(const tm_fft_job *job);
cudaError_t tm_cufft_make_spectrum(const tm_fft_job *job, cudaStream_t stream);
cudaError_t tm_cufft_correlate(const tm_fft_job *job, cudaStream_t stream);
cudaError_t tm_cufft_finish(const tm_fft_job *job, cudaStream_t stream);

/* Frees the plans and their memory; then it is as initialised, but for the error. */
void tm_cufft_free(tm_cufft *cufft);

#endif
