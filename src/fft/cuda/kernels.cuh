/* SPDX-License-Identifier: MIT */
/* What the FFT algorithm's kernels are given. */
#ifndef TMATCH_FFT_CUDA_KERNELS_CUH
#define TMATCH_FFT_CUDA_KERNELS_CUH

#include "fft/tiling.h"
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/float/f32.cuh"

/* A band of the map, which is transformed at a time so that its memory is bounded: columns of tiles
 * beside each other, and of each some tiles above each other. */
typedef struct tm_fft_band {
    int64_t x, y;     /* its first window, among those of the real parts */
    int across, down; /* tiles */
    int rows;         /* rows of windows */
    int width;        /* columns of windows */
    int input_rows;   /* rows + template height - 1 */
} tm_fft_band;

/* A channel of a float frame. Its sums of products are stored, or added to those of the channels
 * before it. */
typedef struct tm_fft_f32_channel {
    const float *samples; /* rows packed */
    int64_t width, height, pad_x, pad_y;
    int channels, channel;
    double pivot;       /* taken off samples */
    const double *taps; /* of the channel; NULL: the job is of 8-bit gray */
    double mean;        /* taken off taps */
    double *sums;       /* dense */
} tm_fft_f32_channel;

/* How much of a column of tiles a band's kernels have done: see progress.cuh. */
typedef struct tm_fft_progress {
    unsigned rows;    /* forward, by whole blocks: at the end some more than there are */
    unsigned columns; /* there and back */
} tm_fft_progress;

typedef struct tm_fft_states tm_fft_states;

typedef struct tm_fft_job {
    tm_device_job job;
    tm_fft_f32_channel f32;
    int64_t frame_rows; /* readable rows of job.frame */
    tm_metric metric;
    tm_fft_tiling tiling;
    int most_across, most_down; /* tiles of a band */
    tm_fft_band band;
    const double2 *roots_x, *roots_y; /* as tm_block has them */
    double2 *points;   /* [column of tiles][input row][length_x] */
    double2 *spectrum; /* the template's, conjugate and scaled, as columns take it */
    void *sums;     /* where windows are scored from them, of the band: the sums of products with F - TM_FFT_CENTRE */
    bool narrow;    /* these have 32 bits, else 64 */
    tm_fft_states *states;
    bool early; /* blocks come while the kernel before still runs */
    /* A launch's, in device memory, all 0 before it: the greatest value of a candidate so far, by which windows are rejected,
     * if above 0; and of the band's columns of tiles. */
    int64_t *best;
    tm_fft_progress *progress;
    int multiprocessors;
    /* Where the tiling is cuFFT's, spectrum and points are in its order: points are
     * [column of tiles][tile][length_y][length_x]. */
    struct tm_cufft *cufft;
    int cufft_batch; /* tiles of cufft_plan, at least the band's */
    int cufft_plan, cufft_single_plan;
} tm_fft_job;

/* Sums are [part][row][pitch]. */
static __host__ __device__ inline int tm_fft_sums_pitch(const tm_fft_band &band)
{
    return (band.width + 31) / 32 * 32;
}

static __host__ __device__ inline int64_t tm_fft_sums_place(const tm_fft_band &band, int part, int row)
{
    return ((int64_t)part * band.rows + row) * tm_fft_sums_pitch(band);
}

typedef struct tm_cufft tm_cufft;

/* Kernels of one length. Each returns the launch's error. */
typedef struct tm_fft_kernels {
    int length;
    int radices[4];     /* of the passes; 1: none */
    int rows_at_once;   /* of a block */
    size_t row_bytes, column_bytes; /* shared memory */
    /* Rows of the frame, or of the template, into points. */
    cudaError_t (*rows)(const tm_fft_job *job, bool of_template, cudaStream_t stream);
    /* Columns: multiplied with the spectrum in place, or made the spectrum. */
    cudaError_t (*columns)(const tm_fft_job *job, bool of_template, cudaStream_t stream);
    /* Rows back; the sums, or where these are the metric the map and a candidate for each block. */
    cudaError_t (*sums)(const tm_fft_job *job, cudaStream_t stream);
    /* The same of floats. */
    cudaError_t (*f32_rows)(const tm_fft_job *job, bool of_template, cudaStream_t stream);
    cudaError_t (*f32_sums)(const tm_fft_job *job, cudaStream_t stream);
    /* Lets the kernels use that much shared memory. */
    cudaError_t (*prepare)(void);
} tm_fft_kernels;

/* The table, ascending by length, ended by length 0. */
const tm_fft_kernels *tm_fft_kernel_table(void);

/* The square of the norm of any pair of tiles, in parts, each of which takes some of a
 * tile's rows. They are 0 before. */
cudaError_t tm_fft_norms_launch(const tm_fft_job *job, unsigned long long norms[TM_F32_NORM_PARTS],
                                cudaStream_t stream);

/* Scores the band's windows of both parts from job->sums: the map, and a candidate for each block. */
cudaError_t tm_windows_launch(const tm_fft_job *job, cudaStream_t stream);
cudaError_t tm_windows_prepare(size_t shared_bytes);
bool tm_windows_can_be_early(void);
int64_t tm_windows_candidates(const tm_fft_job *job);
int64_t tm_windows_most_candidates(const tm_fft_job *job); /* of any band that is no larger */
bool tm_windows_are_narrow(const tm_device_job *job);

/* Columns of the widest template that those kernels take. */
int tm_windows_widest(size_t shared_bytes);

#endif
