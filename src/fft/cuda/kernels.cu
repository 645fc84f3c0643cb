/* SPDX-License-Identifier: MIT */
/* Three kernels, with one array of complex doubles between them: rows forward, columns forward and
 * back, rows back. Each of the last two waits for what it needs of the one before.
 *
 * Why not cuFFT, which cufft.cu has by name: its transforms leave nothing to fuse with,
 * so bytes to doubles, the product and the scores each read and write the whole array
 * once more; it transforms columns twice where these stay in shared memory over the
 * product; it takes 0.15 s to load; and nobody outside can count its rounding errors,
 * which the proof of exactness needs.
 *
 * The kernels for rows of floats are in f32_kernels.cu. */
#include "fft/cuda/rows.cuh"
#include "fft/cuda/samples.cuh"
#include "lcc/cuda/memory.cuh"

template <class B>
static __global__ void __launch_bounds__(B::THREADS, B::LEAST) rows_kernel(tm_fft_job job, bool of_template)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;
    const int64_t x = job.band.x + (int64_t)blockIdx.y * job.tiling.step_x, y = job.band.y + row;
    const tm_samples real = tm_samples_at(job, x, y);
    const tm_samples imaginary = tm_samples_at(job, x + job.tiling.shift_x, y + job.tiling.shift_y);
    const uint8_t *taps = job.job.taps + (int64_t)row * job.job.width;
    const int width = row < job.job.height ? job.job.width : 0;

    tm_row_forward(block, job, row, [&](int i) {
        if (of_template)
            return make_double2(i < width ? taps[i] : 0, 0);
        return make_double2(tm_sample(real, i), tm_sample(imaginary, i));
    });
}

/* A block takes some columns of points through all tiles of a column of tiles, from top to bottom:
 * a tile's results replace rows that no tile below reads. */
template <class B>
static __global__ void __launch_bounds__(B::THREADS, B::LEAST) columns_kernel(tm_fft_job job,
                                                                    bool of_template)
{
    extern __shared__ double2 memory[];
    typedef typename B::passes P;
    constexpr int R = P::radix(P::LAST), BATCH = B::BATCH;
    const B block(memory, job.roots_y);
    const tm_fft_band &band = job.band;
    const int64_t pitch = job.tiling.length_x;
    double2 *column = job.points + (int64_t)blockIdx.y * band.input_rows * pitch +
                      blockIdx.x * BATCH + block.item;
    double2 *spectrum = job.spectrum + (int64_t)blockIdx.x * (P::N * BATCH) + block.item;

    tm_early_let_next();
    tm_progress_wait(&job.progress[blockIdx.y].rows, (unsigned)band.input_rows);
    const auto factor = [&](int m, int q) { return __ldcg(&spectrum[(m * (P::N / R) + q) * BATCH]); };
    constexpr bool AHEAD = R <= 8 && P::N < 2048; /* else registers do not suffice */
    for (int tile = 0; tile < band.down; tile++) {
        const int top = tile * job.tiling.step_y;
        const int inputs = min(job.tiling.step_y + job.job.height - 1, band.input_rows - top);
        double2 factors[R] = {}; /* of this thread's next butterfly */
        const auto fetch = [&](int q) {
            if constexpr (AHEAD) {
                if (of_template || q >= P::N / R)
                    return;
#pragma unroll
                for (int m = 0; m < R; m++)
                    factors[m] = factor(m, q);
            }
        };
        tm_forward(
            block,
            [&](int i) { return i < inputs ? tm_progress_load(&column[(top + i) * pitch]) : make_double2(0, 0); },
            [&] { fetch(block.lane); });
        if (of_template) {
            const double scale = 1.0 / ((double)P::N * job.tiling.length_x);
            tm_forward_last(block, [&](auto &v, int q) {
#pragma unroll
                for (int m = 0; m < R; m++)
                    spectrum[(m * (P::N / R) + q) * BATCH] =
                        make_double2(v[m].x * scale, -v[m].y * scale);
            });
            break;
        }
        tm_forward_last(block, [&](auto &v, int q) {
#pragma unroll
            for (int m = 0; m < R; m++)
                v[m] = tm_mul(v[m], AHEAD ? factors[m] : factor(m, q));
            tm_inverse_first(block, v, q);
            fetch(q + P::THREADS);
        });
        const int rows = min(job.tiling.step_y, band.rows - top);
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
    tm_progress_add(&job.progress[blockIdx.y].columns, BATCH);
    tm_progress_end();
}

#ifdef TM_FFT_PROBE
extern "C" cudaError_t tm_fft_probe(double *worst)
{
    return tm_probe_read(worst);
}
#endif

template <class B>
static __global__ void __launch_bounds__(B::THREADS, B::LEAST) sums_kernel(tm_fft_job job)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;

    tm_row_back(block, job, row,
                [&](const tm_row_windows<B> &windows) { tm_store_sums(job, windows); });
}

/* Where sums are the metric. */
template <class B>
static __global__ void __launch_bounds__(B::THREADS, B::LEAST) ccorr_kernel(tm_fft_job job)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;
    tm_candidate best = TM_NO_CANDIDATE;

    tm_row_back(block, job, row,
                [&](const tm_row_windows<B> &windows) { tm_rank_sums(job, windows, &best); });
    best = tm_block_best<B::THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        job.job.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
}

template <class LENGTH>
struct launcher {
    typedef typename LENGTH::rows row_block;
    typedef typename LENGTH::columns column_block;
    typedef tm_f32_launcher<row_block> f32;

    static cudaError_t rows(const tm_fft_job *job, bool of_template, cudaStream_t stream)
    {
        const dim3 grid = tm_row_grid<row_block>(job, job->band.input_rows);
        return TM_LAUNCH(rows_kernel<row_block><<<grid, row_block::THREADS, row_block::BYTES, stream>>>(
            *job, of_template));
    }

    static cudaError_t columns(const tm_fft_job *job, bool of_template, cudaStream_t stream)
    {
        const dim3 grid((unsigned)(job->tiling.length_x / column_block::BATCH),
                        (unsigned)job->band.across);
        return tm_early_launch(columns_kernel<column_block>, grid, column_block::THREADS, column_block::BYTES,
                               job->early, stream, *job, of_template);
    }

    static cudaError_t sums(const tm_fft_job *job, cudaStream_t stream)
    {
        const dim3 grid = tm_row_grid<row_block>(job, job->band.rows);
        const auto kernel = job->metric == TM_METRIC_LCC ? sums_kernel<row_block> : ccorr_kernel<row_block>;
        return tm_early_launch(kernel, grid, row_block::THREADS, row_block::BYTES, job->early, stream, *job);
    }

    static cudaError_t prepare(void)
    {
        cudaError_t error = row_block::allow((const void *)rows_kernel<row_block>);
        if (error == cudaSuccess)
            error = column_block::allow((const void *)columns_kernel<column_block>);
        if (error == cudaSuccess)
            error = row_block::allow((const void *)sums_kernel<row_block>);
        if (error == cudaSuccess)
            error = row_block::allow((const void *)ccorr_kernel<row_block>);
        return error == cudaSuccess ? f32::prepare() : error;
    }

    static constexpr tm_fft_kernels kernels()
    {
        typedef typename row_block::passes P;
        return {P::N,
                {P::radix(0), P::radix(1), P::radix(2), P::radix(3)},
                row_block::BATCH,
                row_block::BYTES,
                column_block::BYTES,
                rows,
                columns,
                sums,
                f32::rows,
                f32::sums,
                prepare};
    }
};

#define KERNELS(...) launcher<tm_length<__VA_ARGS__>>::kernels(),

const tm_fft_kernels *tm_fft_kernel_table(void)
{
    static const tm_fft_kernels table[] = {
        TM_FFT_EACH_LENGTH(KERNELS) {},
    };
    return table;
}
