/* SPDX-License-Identifier: MIT */
/* Rows forward, columns there and back, rows back: three kernels, with one array
 * of complex doubles between them.
 *
 * Why not cuFFT: its transforms leave nothing to fuse with, so bytes to doubles,
 * the product and the scores would each read and write the whole array once more;
 * it transforms columns twice where these stay in shared memory over the product;
 * it takes 0.15 s to load; and nobody outside knows its rounding errors, which the
 * proof of exactness needs. */
#include "fft/cuda/kernels.cuh"
#include "fft/cuda/transform.cuh"

/* Samples from a place in the frame on, as far as there are any. */
typedef struct samples {
    const uint8_t *at;
    int count;
} samples;

static __device__ __forceinline__ samples samples_at(const tm_fft_job &job, int64_t x, int64_t y)
{
    const int64_t count = (int64_t)job.job.pitch - x;
    samples s = {job.job.frame + y * (int64_t)job.job.pitch + x, 0};
    if (y < job.frame_rows && count > 0)
        s.count = (int)min(count, (int64_t)INT32_MAX);
    return s;
}

/* What lies beyond is in no window. */
static __device__ __forceinline__ double sample(const samples &s, int i)
{
    return i < s.count ? s.at[i] - TM_FFT_CENTRE : 0;
}

template <class P, int BATCH>
static __global__ void __launch_bounds__(P::THREADS * BATCH) rows_kernel(tm_fft_job job,
                                                                         bool of_template)
{
    extern __shared__ double2 memory[];
    const tm_block<P, BATCH, false> block(memory, job.roots_x);
    const tm_fft_run &run = job.run;
    const int row = blockIdx.x * BATCH + block.item;
    const int64_t x = run.x + (int64_t)blockIdx.y * job.tiling.step_x, y = run.y + row;
    const samples real = samples_at(job, x, y);
    const samples imaginary = samples_at(job, x + job.tiling.shift_x, y + job.tiling.shift_y);
    const uint8_t *taps = job.job.taps + (int64_t)row * job.job.width;
    const int width = row < job.job.height ? job.job.width : 0;
    double2 *out = job.points + ((int64_t)blockIdx.y * run.input_rows + row) * P::N;

    tm_forward(block, [&](int i) {
        if (of_template)
            return make_double2(i < width ? taps[i] : 0, 0);
        return make_double2(sample(real, i), sample(imaginary, i));
    });
    tm_forward_last(block, [&](auto &v, int q) {
        constexpr int R = P::radix(P::LAST);
        if (row >= run.input_rows)
            return;
#pragma unroll
        for (int m = 0; m < R; m++)
            out[m * (P::N / R) + q] = v[m];
    });
}

/* A block has its columns for all tiles of a strip, from top to bottom: a tile's
 * results replace rows that no tile below reads. */
template <class P, int BATCH>
static __global__ void __launch_bounds__(P::THREADS * BATCH) columns_kernel(tm_fft_job job,
                                                                            bool of_template)
{
    extern __shared__ double2 memory[];
    constexpr int R = P::radix(P::LAST);
    const tm_block<P, BATCH, true> block(memory, job.roots_y);
    const tm_fft_run &run = job.run;
    const int64_t pitch = job.tiling.length_x;
    double2 *column = job.points + (int64_t)blockIdx.y * run.input_rows * pitch +
                      blockIdx.x * BATCH + block.item;
    double2 *spectrum = job.spectrum + (int64_t)blockIdx.x * (P::N * BATCH) + block.item;

    for (int tile = 0; tile < run.tiles; tile++) {
        const int top = tile * job.tiling.step_y;
        tm_forward(block, [&](int i) {
            return top + i < run.input_rows ? column[(top + i) * pitch] : make_double2(0, 0);
        });
        if (of_template) {
            const double scale = 1.0 / ((double)P::N * job.tiling.length_x);
            tm_forward_last(block, [&](auto &v, int q) {
#pragma unroll
                for (int m = 0; m < R; m++)
                    spectrum[(m * (P::N / R) + q) * BATCH] =
                        make_double2(v[m].x * scale, -v[m].y * scale);
            });
            return;
        }
        tm_forward_last(block, [&](auto &v, int q) {
#pragma unroll
            for (int m = 0; m < R; m++)
                v[m] = tm_mul(v[m], __ldg(&spectrum[(m * (P::N / R) + q) * BATCH]));
            tm_inverse_first(block, v, q);
        });
        const int rows = min(job.tiling.step_y, run.rows - top);
        tm_inverse(block, [&](auto &v, int q) {
            constexpr int R0 = P::radix(0);
#pragma unroll
            for (int m = 0; m < R0; m++) {
                const int i = q + m * (P::N / R0);
                if (i < rows)
                    column[(top + i) * pitch] = v[m];
            }
        });
        __syncthreads();
    }
}

static __device__ __forceinline__ tm_candidate score_window(const tm_fft_job &job, int part,
                                                            int64_t x, int row, int64_t s_f_column,
                                                            double sum)
{
    const tm_device_job &d = job.job;
    const int64_t s_ft = __double2ll_rn(sum) + TM_FFT_CENTRE * d.sum;
    const int64_t map_x = x + part * job.tiling.shift_x;
    const int64_t map_y = job.run.y + row + part * job.tiling.shift_y;
    tm_candidate candidate = {s_ft, map_y * d.map_width + map_x};

    if (map_x >= d.map_width || map_y >= d.map_height)
        return TM_NO_CANDIDATE;
    if (job.metric == TM_METRIC_CCORR) {
        if (d.map)
            ((int64_t *)d.map)[candidate.position] = s_ft;
        return candidate;
    }
    const tm_window window =
        job.windows[((int64_t)part * job.run.rows + row) * job.run.width + s_f_column];
    const float score = tm_lcc_quotient(d.n * s_ft - (int64_t)window.s_f * d.sum, window.variance,
                                        d.variance);
    if (d.map)
        ((float *)d.map)[candidate.position] = score;
    candidate.value = tm_score_order(score);
    return candidate;
}

template <class P, int BATCH>
static __global__ void __launch_bounds__(P::THREADS * BATCH) scores_kernel(tm_fft_job job)
{
    extern __shared__ double2 memory[];
    constexpr int R = P::radix(P::LAST);
    const tm_block<P, BATCH, false> block(memory, job.roots_x);
    const tm_fft_run &run = job.run;
    const int row = blockIdx.x * BATCH + block.item;
    const int64_t column = (int64_t)blockIdx.y * job.tiling.step_x;
    const double2 *in = job.points + ((int64_t)blockIdx.y * run.input_rows + row) * P::N;
    tm_candidate best = TM_NO_CANDIDATE;

    tm_each_butterfly<decltype(block), P::LAST>(block, [&](int, int, int q) {
        double2 v[R];
#pragma unroll
        for (int m = 0; m < R; m++)
            v[m] = row < run.rows ? in[m * (P::N / R) + q] : make_double2(0, 0);
        tm_inverse_first(block, v, q);
    });
    tm_inverse(block, [&](auto &v, int q) {
        constexpr int R0 = P::radix(0);
#pragma unroll
        for (int m = 0; m < R0; m++) {
            const int64_t i = q + m * (P::N / R0);
            if (row >= run.rows || i >= job.tiling.step_x || column + i >= run.width)
                continue;
            for (int part = 0; part < 2; part++) {
                tm_candidate candidate = score_window(job, part, run.x + column + i, row,
                                                      column + i, part ? v[m].y : v[m].x);
                if (tm_candidate_beats(candidate, best))
                    best = candidate;
            }
        }
    });
    best = tm_block_best<P::THREADS * BATCH>(best, threadIdx.x);
    if (threadIdx.x == 0)
        job.job.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
}

template <class P, int ROWS, int COLUMNS>
struct launcher {
    typedef tm_block<P, ROWS, false> row_block;
    typedef tm_block<P, COLUMNS, true> column_block;

    static dim3 row_grid(const tm_fft_job *job, int rows)
    {
        return dim3((unsigned)((rows + ROWS - 1) / ROWS), (unsigned)job->run.strips);
    }

    static cudaError_t rows(const tm_fft_job *job, bool of_template, cudaStream_t stream)
    {
        rows_kernel<P, ROWS><<<row_grid(job, job->run.input_rows), row_block::THREADS,
                               row_block::BYTES, stream>>>(*job, of_template);
        return cudaGetLastError();
    }

    static cudaError_t columns(const tm_fft_job *job, bool of_template, cudaStream_t stream)
    {
        const dim3 grid((unsigned)(job->tiling.length_x / COLUMNS), (unsigned)job->run.strips);
        columns_kernel<P, COLUMNS>
            <<<grid, column_block::THREADS, column_block::BYTES, stream>>>(*job, of_template);
        return cudaGetLastError();
    }

    static cudaError_t scores(const tm_fft_job *job, cudaStream_t stream)
    {
        scores_kernel<P, ROWS><<<row_grid(job, job->run.rows), row_block::THREADS,
                                 row_block::BYTES, stream>>>(*job);
        return cudaGetLastError();
    }

    static cudaError_t allow(const void *kernel, size_t bytes)
    {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    }

    static cudaError_t prepare(void)
    {
        cudaError_t error = allow((const void *)rows_kernel<P, ROWS>, row_block::BYTES);
        if (error == cudaSuccess)
            error = allow((const void *)scores_kernel<P, ROWS>, row_block::BYTES);
        if (error == cudaSuccess)
            error = allow((const void *)columns_kernel<P, COLUMNS>, column_block::BYTES);
        return error;
    }

    static constexpr tm_fft_kernels kernels()
    {
        return {P::N, ROWS, row_block::BYTES, column_block::BYTES, rows, columns, scores, prepare};
    }
};

/* threads a transform, radices; transforms of a block as rows and as columns */
#define LENGTH(threads, r0, r1, r2, r3, rows, columns) \
    launcher<tm_passes<threads, r0, r1, r2, r3>, rows, columns>::kernels()

const tm_fft_kernels *tm_fft_kernel_table(void)
{
    static const tm_fft_kernels table[] = {
        LENGTH(16, 16, 16, 1, 1, 8, 8),   /* 256 */
        LENGTH(64, 8, 8, 8, 1, 2, 4),     /* 512 */
        LENGTH(64, 12, 8, 8, 1, 2, 4),    /* 768 */
        LENGTH(64, 16, 8, 8, 1, 2, 4),    /* 1024 */
        LENGTH(48, 12, 12, 8, 1, 4, 4),   /* 1152 */
        LENGTH(96, 12, 16, 8, 1, 2, 4),   /* 1536 */
        LENGTH(128, 16, 16, 8, 1, 1, 2),  /* 2048 */
        LENGTH(192, 12, 12, 16, 1, 1, 2), /* 2304 */
        LENGTH(192, 12, 16, 16, 1, 1, 2), /* 3072 */
        LENGTH(256, 16, 16, 16, 1, 1, 2), /* 4096 */
        LENGTH(192, 12, 12, 8, 4, 1, 2),  /* 4608 */
        LENGTH(256, 16, 8, 8, 8, 1, 1),   /* 8192 */
        {},
    };
    return table;
}
