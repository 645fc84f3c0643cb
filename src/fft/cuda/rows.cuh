/* SPDX-License-Identifier: MIT */
/* Rows forward and back, whatever their samples are and whatever becomes of the sums. */
#ifndef TMATCH_FFT_CUDA_ROWS_CUH
#define TMATCH_FFT_CUDA_ROWS_CUH

#include "fft/cuda/kernels.cuh"
#include "fft/cuda/lengths.cuh"
#include "fft/cuda/progress.cuh"
#include "fft/cuda/scores.cuh"

/* Transforms a row of the band forward, from load(column of the tile), into points. */
template <class B, class Load>
static __device__ __forceinline__ void tm_row_forward(const B &block, const tm_fft_job &job,
                                                      int row, Load load)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(P::LAST);
    double2 *out = job.points + ((int64_t)blockIdx.y * job.band.input_rows + row) * P::N;

    tm_early_let_next();
    tm_forward(block, load, [] {});
    tm_forward_last(block, [&](auto &v, int q) {
        if (row >= job.band.input_rows)
            return;
#pragma unroll
        for (int m = 0; m < R; m++)
            out[m * (P::N / R) + q] = v[m];
    });
    tm_progress_add(&job.progress[blockIdx.y].rows, B::BATCH);
}

/* The windows of one part whose sums a thread has: every STEP-th from the first on. */
template <class B>
struct tm_row_windows {
    static constexpr int COUNT = B::passes::radix(0), STEP = B::passes::N / COUNT;

    const double2 (&sums)[COUNT]; /* of both parts */
    int part;
    int64_t place;    /* of the first, in job.sums */
    int64_t position; /* of the first, in the map */
    int columns;      /* from the first on, with all those between */

    __device__ bool has(int m) const
    {
        return m * STEP < columns;
    }

    __device__ double sum(int m) const
    {
        return part ? sums[m].y : sums[m].x;
    }
};

/* Waits for a row's points, transforms it back and calls use(windows) for either part, where the
 * map has such rows. */
template <class B, class Use>
static __device__ __forceinline__ void tm_row_back(const B &block, const tm_fft_job &job, int row,
                                                   Use use)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(P::LAST);
    const tm_fft_band &band = job.band;
    const int64_t left = (int64_t)blockIdx.y * job.tiling.step_x;
    const double2 *in = job.points + ((int64_t)blockIdx.y * band.input_rows + row) * P::N;

    tm_early_let_next();
    tm_progress_wait(&job.progress[blockIdx.y].columns, P::N);
    tm_each_butterfly<B, P::LAST>(block, [&](int, int, int q) {
        double2 v[R];
#pragma unroll
        for (int m = 0; m < R; m++)
            v[m] = row < band.rows ? tm_progress_load(&in[m * (P::N / R) + q]) : make_double2(0, 0);
        tm_inverse_first(block, v, q);
    });
    tm_inverse(block, [&](auto &v, int q) {
        tm_each_part(job, left, row, q,
                     [&](int part, int64_t place, int64_t position, int columns) {
                         const tm_row_windows<B> windows = {v, part, place, position, columns};
                         use(windows);
                     });
    });
    tm_progress_end();
}

/* Blocks for so many rows of every column of tiles. */
template <class B>
static dim3 tm_row_grid(const tm_fft_job *job, int rows)
{
    return dim3((unsigned)((rows + B::BATCH - 1) / B::BATCH), (unsigned)job->band.across);
}

/* A length's kernels for floats, which f32_kernels.cu has. */
template <class B>
struct tm_f32_launcher {
    static cudaError_t rows(const tm_fft_job *job, bool of_template, cudaStream_t stream);
    static cudaError_t sums(const tm_fft_job *job, cudaStream_t stream);
    static cudaError_t prepare(void);
};

#endif
