/* SPDX-License-Identifier: MIT */
/* Rows of floats there and back, and their norms. Their columns are kernels.cu's. */
#include "fft/cuda/rows.cuh"
#include "fft/cuda/samples.cuh"
#include "lcc/cuda/memory.cuh"

template <class B>
static __global__ void __launch_bounds__(B::THREADS, B::LEAST)
    f32_rows_kernel(tm_fft_job job, bool of_template)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;
    const int64_t x = job.band.x + (int64_t)blockIdx.y * job.tiling.step_x, y = job.band.y + row;

    tm_row_forward(block, job, row, [&](int i) {
        if (of_template)
            return make_double2(tm_f32_tap(job, row, i), 0);
        return make_double2(tm_f32_at(job, x + i, y),
                            tm_f32_at(job, x + job.tiling.shift_x + i, y + job.tiling.shift_y));
    });
}

template <class B>
static __global__ void __launch_bounds__(B::THREADS, B::LEAST) f32_sums_kernel(tm_fft_job job)
{
    extern __shared__ double2 memory[];
    const B block(memory, job.roots_x);
    const int row = blockIdx.x * B::BATCH + block.item;

    tm_row_back(block, job, row, [&](const tm_row_windows<B> &w) {
        double *sums = job.f32.sums + w.position;
#pragma unroll
        for (int m = 0; m < w.COUNT; m++) {
            if (w.has(m))
                sums[m * w.STEP] = job.f32.channel ? sums[m * w.STEP] + w.sum(m) : w.sum(m);
        }
    });
}

#define NORM_THREADS 256

/* A block sums the squares of some rows of a pair of tiles. */
static __global__ void __launch_bounds__(NORM_THREADS)
    norms_kernel(tm_fft_job job, unsigned long long *norms)
{
    const tm_fft_tiling &t = job.tiling;
    const int64_t left = blockIdx.x * (int64_t)t.step_x, top = blockIdx.y * (int64_t)t.step_y;
    double sum = 0;

    for (int y = blockIdx.z; y < t.length_y; y += TM_F32_NORM_PARTS) {
        for (int x = threadIdx.x; x < t.length_x; x += NORM_THREADS) {
            const double a = tm_f32_at(job, left + x, top + y);
            const double b = tm_f32_at(job, left + x + t.shift_x, top + y + t.shift_y);
            sum += a * a + b * b;
        }
    }
    for (int offset = 16; offset > 0; offset /= 2)
        sum += __shfl_xor_sync(0xffffffffu, sum, offset);
    __shared__ double warps[NORM_THREADS / 32];
    if (threadIdx.x % 32 == 0)
        warps[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < NORM_THREADS / 32; i++)
        sum += warps[i];
    atomicMax(&norms[blockIdx.z], (unsigned long long)__double_as_longlong(sum * (1 + 0x1p-20)));
}

cudaError_t tm_fft_norms_launch(const tm_fft_job *job, unsigned long long norms[TM_F32_NORM_PARTS],
                                cudaStream_t stream)
{
    const dim3 grid((unsigned)job->tiling.across, (unsigned)job->tiling.down, TM_F32_NORM_PARTS);
    return TM_LAUNCH(norms_kernel<<<grid, NORM_THREADS, 0, stream>>>(*job, norms));
}

template <class B>
cudaError_t tm_f32_launcher<B>::rows(const tm_fft_job *job, bool of_template, cudaStream_t stream)
{
    const dim3 grid = tm_row_grid<B>(job, job->band.input_rows);
    return TM_LAUNCH(f32_rows_kernel<B><<<grid, B::THREADS, B::BYTES, stream>>>(*job, of_template));
}

template <class B>
cudaError_t tm_f32_launcher<B>::sums(const tm_fft_job *job, cudaStream_t stream)
{
    const dim3 grid = tm_row_grid<B>(job, job->band.rows);
    return tm_early_launch(f32_sums_kernel<B>, grid, B::THREADS, B::BYTES, job->early, stream, *job);
}

template <class B>
cudaError_t tm_f32_launcher<B>::prepare(void)
{
    cudaError_t error = B::allow((const void *)f32_rows_kernel<B>);
    return error == cudaSuccess ? B::allow((const void *)f32_sums_kernel<B>) : error;
}

#define INSTANCE(...) template struct tm_f32_launcher<tm_length<__VA_ARGS__>::rows>;
TM_FFT_EACH_LENGTH(INSTANCE)
