/* SPDX-License-Identifier: MIT */
/* Rows forward, columns there and back, rows back: three kernels, with one array
 * of complex doubles between them.
 *
 * Why not cuFFT: its transforms leave nothing to fuse with, so bytes to doubles,
 * the product and the scores would each read and write the whole array once more;
 * it transforms columns twice where these stay in shared memory over the product;
 * it takes 0.15 s to load; and nobody outside knows its rounding errors, which the
 * proof of exactness needs.
 *
 * Rows of floats are f32_kernels.cu's. */
#include "fft/cuda/rows.cuh"
#include "lcc/reject.h"

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

template <class B>
static __global__ void __launch_bounds__(B::THREADS) rows_kernel(tm_fft_job job, bool of_template)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;
    const int64_t x = job.run.x + (int64_t)blockIdx.y * job.tiling.step_x, y = job.run.y + row;
    const samples real = samples_at(job, x, y);
    const samples imaginary = samples_at(job, x + job.tiling.shift_x, y + job.tiling.shift_y);
    const uint8_t *taps = job.job.taps + (int64_t)row * job.job.width;
    const int width = row < job.job.height ? job.job.width : 0;

    tm_row_forward(block, job, row, [&](int i) {
        if (of_template)
            return make_double2(i < width ? taps[i] : 0, 0);
        return make_double2(sample(real, i), sample(imaginary, i));
    });
}

/* A block has its columns for all tiles of a strip, from top to bottom: a tile's
 * results replace rows that no tile below reads. */
template <class B>
static __global__ void __launch_bounds__(B::THREADS) columns_kernel(tm_fft_job job,
                                                                    bool of_template)
{
    extern __shared__ double2 memory[];
    typedef typename B::passes P;
    constexpr int R = P::radix(P::LAST), BATCH = B::BATCH;
    const B block(memory, job.roots_y);
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

#ifdef TM_FFT_PROBE
/* For tests/fft/fft_error_cuda.c: the greatest distance of a sum from an integer so far,
 * as the bits of a double. */
static __device__ unsigned long long probe_worst;

extern "C" cudaError_t tm_fft_probe(double *worst)
{
    const unsigned long long zero = 0;
    cudaError_t error = cudaMemcpyFromSymbol(worst, probe_worst, sizeof *worst);
    return error == cudaSuccess ? cudaMemcpyToSymbol(probe_worst, &zero, sizeof zero) : error;
}
#endif

static __device__ __forceinline__ int64_t nearest(double sum)
{
    const int64_t integer = __double2ll_rn(sum);
#ifdef TM_FFT_PROBE
    atomicMax(&probe_worst, __double_as_longlong(fabs(sum - (double)integer)));
#endif
    return integer;
}

/* n * S_FT - S_F * S_T as binary32. Up to 2^18 pixels the products and their
 * difference are whole numbers below 2^53, so doubles have them exactly. */
static __device__ __forceinline__ float numerator(const tm_device_job &d, int64_t s_ft,
                                                  uint32_t s_f)
{
    if (d.n <= 1 << 18)
        return __double2float_rn(fma((double)d.n, (double)s_ft, -((double)s_f * (double)d.sum)));
    return __ll2float_rn(d.n * s_ft - (int64_t)s_f * d.sum);
}

/* What a window's num^2 / var_F must reach to come near a score that some window
 * has. Negative: it need not. */
static __device__ __forceinline__ float limit_of(const tm_fft_job &job, int64_t best)
{
    if (job.job.map || best <= 0)
        return -1;
    const float score = tm_score_of_order((int32_t)best);
    return tm_reject_boundf(score, job.job.variance);
}

template <class B>
static __device__ __forceinline__ void score_windows(const tm_fft_job &job,
                                                     const tm_row_windows<B> &w,
                                                     tm_candidate *best, float limit)
{
    constexpr int COUNT = tm_row_windows<B>::COUNT, STEP = tm_row_windows<B>::STEP;
    const tm_device_job &d = job.job;
    const tm_window *from = job.windows + w.place;
    tm_window windows[COUNT];

#pragma unroll
    for (int m = 0; m < COUNT; m++) {
        if (job.metric == TM_METRIC_LCC && w.has(m))
            windows[m] = from[m * STEP];
    }
#pragma unroll
    for (int m = 0; m < COUNT; m++) {
        if (!w.has(m))
            continue;
        const int64_t s_ft = nearest(w.sum(m)) + TM_FFT_CENTRE * d.sum;
        tm_candidate candidate = {s_ft, w.position + m * STEP};
        if (job.metric == TM_METRIC_LCC) {
            const float num = numerator(d, s_ft, windows[m].s_f);
            if (limit >= 0 && (num <= 0 || num * num < limit * windows[m].variance))
                continue;
            const float variance = windows[m].variance;
            const float score =
                tm_lcc_clamp(tm_lcc_quotient(num, variance, d.variance), variance == 0);
            if (d.map)
                ((float *)d.map)[candidate.position] = score;
            candidate.value = tm_score_order(score);
        } else if (d.map) {
            ((int64_t *)d.map)[candidate.position] = s_ft;
        }
        if (tm_candidate_beats(candidate, *best))
            *best = candidate;
    }
}

template <class B>
static __global__ void __launch_bounds__(B::THREADS) scores_kernel(tm_fft_job job)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;
    const float limit = limit_of(job, *(volatile int64_t *)job.best);
    tm_candidate best = TM_NO_CANDIDATE;

    tm_row_back(block, job, row, [&](const tm_row_windows<B> &windows) {
        score_windows(job, windows, &best, limit);
    });
    best = tm_block_best<B::THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0) {
        job.job.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
        atomicMax((long long *)job.best, (long long)best.value);
    }
}

template <class LENGTH>
struct launcher {
    typedef typename LENGTH::rows row_block;
    typedef typename LENGTH::columns column_block;
    typedef tm_f32_launcher<row_block> f32;

    static cudaError_t rows(const tm_fft_job *job, bool of_template, cudaStream_t stream)
    {
        rows_kernel<row_block><<<tm_row_grid<row_block>(job, job->run.input_rows),
                                 row_block::THREADS, row_block::BYTES, stream>>>(*job, of_template);
        return cudaGetLastError();
    }

    static cudaError_t columns(const tm_fft_job *job, bool of_template, cudaStream_t stream)
    {
        const dim3 grid((unsigned)(job->tiling.length_x / column_block::BATCH),
                        (unsigned)job->run.strips);
        columns_kernel<column_block>
            <<<grid, column_block::THREADS, column_block::BYTES, stream>>>(*job, of_template);
        return cudaGetLastError();
    }

    static cudaError_t scores(const tm_fft_job *job, cudaStream_t stream)
    {
        scores_kernel<row_block><<<tm_row_grid<row_block>(job, job->run.rows), row_block::THREADS,
                                   row_block::BYTES, stream>>>(*job);
        return cudaGetLastError();
    }

    static cudaError_t prepare(void)
    {
        cudaError_t error = row_block::allow((const void *)rows_kernel<row_block>);
        if (error == cudaSuccess)
            error = column_block::allow((const void *)columns_kernel<column_block>);
        if (error == cudaSuccess)
            error = row_block::allow((const void *)scores_kernel<row_block>);
        return error == cudaSuccess ? f32::prepare() : error;
    }

    static constexpr tm_fft_kernels kernels()
    {
        return {row_block::passes::N,
                row_block::BATCH,
                row_block::BYTES,
                column_block::BYTES,
                rows,
                columns,
                scores,
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
