/* SPDX-License-Identifier: MIT */
/* The FFT algorithm on a device: its memory, kept across frames, and its launches. */
#ifndef TMATCH_FFT_CUDA_FFT_CUH
#define TMATCH_FFT_CUDA_FFT_CUH

#include "fft/cuda/cufft.cuh"

enum { TM_FFT_LENGTHS = 16 };

/* A template's spectrum for one pair of lengths. Zero: none. */
typedef struct tm_fft_spectrum {
    tm_buffer points;
    int length_x, length_y;
    bool by_cufft;
} tm_fft_spectrum;

/* What the kernels of launches tell each other: each launch takes 8 bytes of 0 for its best value, and as many for each
 * column of tiles. They are cleared for many launches at once, because that takes as long as for one. */
struct tm_fft_states {
    tm_buffer words; /* of 8 bytes */
    int64_t used;
};

/* Zero-initialise. */
typedef struct tm_fft_device {
    bool ready[TM_FFT_LENGTHS]; /* by place in the table */
    double2 *roots[TM_FFT_LENGTHS];
    tm_buffer points, sums;
    tm_fft_states states;
    bool windows_ready; /* their kernels may be launched */
    bool early;         /* and their like early; set when they are ready */
    int shared_bytes;   /* that a block may have */
    int multiprocessors;
    tm_cufft cufft;
} tm_fft_device;

/* The steps of a match that differ by whose transforms it takes. All but prepare are for job->band,
 * and allocate nothing. */
typedef struct tm_fft_steps {
    /* Bytes of the points of so many tiles above each other. */
    int64_t (*tile_column_bytes)(const tm_fft_job *job, int64_t tiles);
    /* Prepares what bands of up to so many tiles need besides points. */
    cudaError_t (*prepare)(tm_fft_device *fft, tm_fft_job *job, int64_t tiles, cudaStream_t stream);
    /* Makes the template's spectrum; then points of the frame, multiplied with it and
     * transformed back as far as points go; */
    cudaError_t (*make_spectrum)(const tm_fft_job *job, cudaStream_t stream);
    cudaError_t (*correlate)(const tm_fft_job *job, cudaStream_t stream);
    /* and of those the sums, or where these are the metric the map and candidates. */
    cudaError_t (*finish)(const tm_fft_job *job, cudaStream_t stream);
    /* How many of these. */
    int64_t (*count_candidates)(const tm_fft_job *job);
} tm_fft_steps;

extern const tm_fft_steps tm_own_fft_steps; /* transforms.cu */
extern const tm_fft_steps tm_cufft_steps;   /* cufft.cu; its library has been opened */

/* Points of the longest transform that a device has kernels for, 0 for none. */
int tm_fft_longest(int shared_bytes);

/* Allocates what the job needs and brings the template's spectrum about. Fills in
 * all of *job but the band from job->job, frame_rows, metric and tiling. */
cudaError_t tm_fft_prepare(tm_fft_device *fft, tm_fft_job *job, tm_fft_spectrum *spectrum,
                           cudaStream_t stream);

size_t tm_fft_spectrum_bytes(const tm_fft_tiling *tiling);

/* Number of candidates that tm_fft_launch writes to job->job.candidates; and as many as that may be where it is
 * launched for some of its rows of tiles. */
int64_t tm_fft_candidates(const tm_fft_job *job);
int64_t tm_fft_most_candidates(const tm_fft_job *job);

/* Correlates a prepared job; allocates nothing. */
cudaError_t tm_fft_launch(const tm_fft_job *job, cudaStream_t stream);

/* Prepares the same of a channel of floats, whose spectrum is made each time. The job's metric is CCORR, and it has no
 * candidates. */
cudaError_t tm_fft_prepare_f32(tm_fft_device *fft, tm_fft_job *job, tm_fft_spectrum *spectrum,
                               cudaStream_t stream);

void tm_fft_drop_spectrum(tm_fft_spectrum *spectrum);

/* Frees what grows with a match; it is allocated again when a match needs it. */
void tm_fft_give_back(tm_fft_device *fft);
void tm_fft_device_free(tm_fft_device *fft);

#endif
