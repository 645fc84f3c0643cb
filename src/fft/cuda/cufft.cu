/* SPDX-License-Identifier: MIT */
/* Each tile is filled with samples, transformed by cuFFT in place, multiplied with the
 * template's spectrum and transformed back; then its windows are scored from the sums. The
 * tiling, the bound on the error and the scores are those of our own transforms. */
#include "fft/cuda/butterfly.cuh"
#include "fft/cuda/cufft_library.cuh"
#include "fft/cuda/fft.cuh"
#include "fft/cuda/samples.cuh"
#include "fft/cuda/scores.cuh"
#include "integers.h"
#include "lcc/cuda/memory.cuh"

#define THREADS 256
#define ROWS 8 /* of windows, a block */

static __host__ __device__ int64_t points_of(const tm_fft_tiling &t)
{
    return (int64_t)t.length_x * t.length_y;
}

/* A block loads some neighbouring points of a row of a tile. */
static __global__ void __launch_bounds__(THREADS) load_kernel(tm_fft_job job)
{
    const tm_fft_band &band = job.band;
    const tm_fft_tiling &t = job.tiling;
    const int column = blockIdx.x * THREADS + threadIdx.x;
    const int tile = blockIdx.z, row = tile % band.down * t.step_y + blockIdx.y;
    const int64_t x = band.x + (int64_t)(tile / band.down) * t.step_x, y = band.y + row;
    double2 value = make_double2(0, 0);

    if (column >= t.length_x)
        return;
    if (tile < band.across * band.down && row < band.input_rows) {
        if (job.f32.taps)
            value = make_double2(tm_f32_at(job, x + column, y),
                                 tm_f32_at(job, x + column + t.shift_x, y + t.shift_y));
        else
            value = make_double2(
                tm_sample(tm_samples_at(job, x, y), column),
                tm_sample(tm_samples_at(job, x + t.shift_x, y + t.shift_y), column));
    }
    job.points[tile * points_of(t) + (int64_t)blockIdx.y * t.length_x + column] = value;
}

static __global__ void __launch_bounds__(THREADS) load_template_kernel(tm_fft_job job)
{
    const int column = blockIdx.x * THREADS + threadIdx.x, row = blockIdx.y;
    double tap = 0;

    if (column >= job.tiling.length_x)
        return;
    if (job.f32.taps)
        tap = tm_f32_tap(job, row, column);
    else if (row < job.job.height && column < job.job.width)
        tap = job.job.taps[(int64_t)row * job.job.width + column];
    job.spectrum[(int64_t)row * job.tiling.length_x + column] = make_double2(tap, 0);
}

/* What transforms back divide by is in the spectrum. */
static __global__ void __launch_bounds__(THREADS) conjugate_kernel(tm_fft_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    const double scale = 1.0 / (double)points_of(job.tiling);

    if (i < points_of(job.tiling))
        job.spectrum[i] = make_double2(job.spectrum[i].x * scale, -job.spectrum[i].y * scale);
}

static __global__ void __launch_bounds__(THREADS) product_kernel(tm_fft_job job)
{
    const int64_t i = (int64_t)blockIdx.x * THREADS + threadIdx.x;
    double2 *points = job.points + blockIdx.y * points_of(job.tiling);

    if (i < points_of(job.tiling))
        points[i] = tm_mul(points[i], job.spectrum[i]);
}

/* One window, as tm_store_sums takes them. */
typedef struct lone_window {
    static constexpr int COUNT = 1, STEP = 1;

    double value;
    int64_t place, position;
    bool there;

    __device__ bool has(int) const
    {
        return there;
    }

    __device__ double sum(int) const
    {
        return value;
    }
} lone_window;

/* Calls use(window) for the windows of the tile's points that this thread has. */
template <class Use>
static __device__ __forceinline__ void each_window(const tm_fft_job &job, Use use)
{
    const tm_fft_tiling &t = job.tiling;
    const int column = blockIdx.x * THREADS + threadIdx.x;
    const int tile = blockIdx.z % job.band.down;
    const int64_t left = (int64_t)(blockIdx.z / job.band.down) * t.step_x;
    const double2 *sums = job.points + blockIdx.z * points_of(t) + column;
    const int first = blockIdx.y * ROWS, end = min(first + ROWS, t.step_y);

    for (int row = first; row < end; row++) {
        tm_each_part(job, left, tile * t.step_y + row, column,
                     [&](int part, int64_t place, int64_t position, int columns) {
                         const double2 sum = sums[(int64_t)row * t.length_x];
                         use(lone_window{part ? sum.y : sum.x, place, position, columns > 0});
                     });
    }
}

static __global__ void __launch_bounds__(THREADS) sums_kernel(tm_fft_job job)
{
    each_window(job, [&](const lone_window &w) { tm_store_sums(job, w); });
}

static __global__ void __launch_bounds__(THREADS) ccorr_kernel(tm_fft_job job)
{
    tm_candidate best = TM_NO_CANDIDATE;

    each_window(job, [&](const lone_window &w) { tm_rank_sums(job, w, &best); });
    best = tm_block_best<THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0) {
        const int64_t block = ((int64_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x;
        job.job.candidates[block + blockIdx.x] = best;
    }
}

/* The same of floats, which are scored when all channels' sums are there. */
static __global__ void __launch_bounds__(THREADS) f32_sums_kernel(tm_fft_job job)
{
    each_window(job, [&](const lone_window &w) {
        double *sum = job.f32.sums + w.position;
        if (w.there)
            *sum = job.f32.channel ? *sum + w.value : w.value;
    });
}

#ifdef TM_FFT_PROBE
extern "C" cudaError_t tm_cufft_probe(double *worst)
{
    return tm_probe_read(worst);
}
#endif

/* As CUDA's own errors have it. */
static cudaError_t error_of(tm_cufft *cufft, int result)
{
    if (result == TM_CUFFT_SUCCESS)
        return cudaSuccess;
    cufft->error = result;
    return result == TM_CUFFT_ALLOC_FAILED ? cudaErrorMemoryAllocation : cudaErrorUnknown;
}

static const tm_cufft_library *library(void)
{
    return tm_cufft_open(NULL, 0);
}

static void drop_plan(tm_cufft_plan *p)
{
    if (p->length_x)
        library()->destroy(p->plan);
    *p = {};
}

static cudaError_t make_plan(tm_cufft *cufft, tm_cufft_plan *p, const tm_fft_tiling *t, int batch)
{
    long long lengths[2] = {t->length_y, t->length_x};
    tm_cufft_plan made = {0, t->length_x, t->length_y, batch, 0, 0};

    TRY(error_of(cufft, library()->create(&made.plan)));
    *p = made;
    TRY(error_of(cufft, library()->set_auto_allocation(p->plan, 0)));
    return error_of(cufft, library()->make_plan(p->plan, 2, lengths, NULL, 1, 0, NULL, 1, 0,
                                                TM_CUFFT_Z2Z, batch, &p->work_bytes));
}

/* A plan for so many tiles at a time, in place of the one that was not used for longest. */
static cudaError_t find_plan(tm_cufft *cufft, const tm_fft_tiling *t, int batch,
                             cudaStream_t stream, tm_cufft_plan **found)
{
    tm_cufft_plan *oldest = cufft->plans;

    for (tm_cufft_plan &p : cufft->plans) {
        if (p.length_x == t->length_x && p.length_y == t->length_y && p.batch == batch) {
            p.used = ++cufft->clock;
            *found = &p;
            return cudaSuccess;
        }
        if (p.used < oldest->used)
            oldest = &p;
    }
    if (oldest->length_x) /* it may still run */
        TRY_CUDA(cudaStreamSynchronize(stream));
    drop_plan(oldest);
    const cudaError_t error = make_plan(cufft, oldest, t, batch);
    if (error != cudaSuccess) {
        drop_plan(oldest);
        return error;
    }
    oldest->used = ++cufft->clock;
    *found = oldest;
    return cudaSuccess;
}

/* Plans do not allocate what they work in: so a bound of memory holds over that too. */
static cudaError_t use_plan(tm_cufft *cufft, const tm_cufft_plan *p, cudaStream_t stream)
{
    TRY(error_of(cufft, library()->set_work_area(p->plan, cufft->work.data)));
    return error_of(cufft, library()->set_stream(p->plan, stream));
}

static cudaError_t prepare(tm_fft_device *fft, tm_fft_job *job, int64_t tiles, cudaStream_t stream)
{
    tm_cufft *cufft = &fft->cufft;
    tm_cufft_plan *all, *one;

    TRY(find_plan(cufft, &job->tiling, (int)tiles, stream, &all));
    TRY(find_plan(cufft, &job->tiling, 1, stream, &one));
    /* Never empty: cuFFT is given a place also where it wants no bytes there. */
    const int64_t most = larger((int64_t)all->work_bytes, (int64_t)one->work_bytes);
    TRY(tm_buffer_fit(&cufft->work, (size_t)larger(most, 1)));
    TRY(use_plan(cufft, all, stream));
    TRY(use_plan(cufft, one, stream));
    job->cufft = cufft;
    job->cufft_batch = (int)tiles;
    job->cufft_plan = all->plan;
    job->cufft_single_plan = one->plan;
    return cudaSuccess;
}

static int64_t tile_column_bytes(const tm_fft_job *job, int64_t tiles)
{
    return tiles * points_of(job->tiling) * (int64_t)sizeof(double2);
}

static dim3 windows_grid(const tm_fft_job *job)
{
    return dim3((unsigned)ceil_div(job->tiling.step_x, THREADS),
                (unsigned)ceil_div(job->tiling.step_y, ROWS),
                (unsigned)(job->band.across * job->band.down));
}

static int64_t count_candidates(const tm_fft_job *job)
{
    const dim3 grid = windows_grid(job);
    return (int64_t)grid.x * grid.y * grid.z;
}

static dim3 tiles_grid(const tm_fft_job *job, int batch)
{
    return dim3((unsigned)ceil_div(job->tiling.length_x, THREADS), (unsigned)job->tiling.length_y,
                (unsigned)batch);
}

static dim3 points_grid(const tm_fft_job *job, int batch)
{
    return dim3((unsigned)ceil_div(points_of(job->tiling), THREADS), (unsigned)batch);
}

static cudaError_t make_spectrum(const tm_fft_job *job, cudaStream_t stream)
{
    TRY(TM_LAUNCH(load_template_kernel<<<tiles_grid(job, 1), THREADS, 0, stream>>>(*job)));
    TRY(error_of(job->cufft, library()->execute(job->cufft_single_plan, job->spectrum,
                                                job->spectrum, TM_CUFFT_FORWARD)));
    return TM_LAUNCH(conjugate_kernel<<<points_grid(job, 1), THREADS, 0, stream>>>(*job));
}

/* The plan takes as many tiles as a band has at most; those that this one lacks are 0. */
static cudaError_t correlate(const tm_fft_job *job, cudaStream_t stream)
{
    TRY(TM_LAUNCH(load_kernel<<<tiles_grid(job, job->cufft_batch), THREADS, 0, stream>>>(*job)));
    TRY(error_of(job->cufft, library()->execute(job->cufft_plan, job->points, job->points,
                                                TM_CUFFT_FORWARD)));
    TRY(TM_LAUNCH(product_kernel<<<points_grid(job, job->cufft_batch), THREADS, 0, stream>>>(*job)));
    return error_of(job->cufft, library()->execute(job->cufft_plan, job->points, job->points,
                                                   TM_CUFFT_INVERSE));
}

static cudaError_t finish(const tm_fft_job *job, cudaStream_t stream)
{
    auto kernel = job->f32.taps ? f32_sums_kernel : job->metric == TM_METRIC_LCC ? sums_kernel : ccorr_kernel;
    return TM_LAUNCH(kernel<<<windows_grid(job), THREADS, 0, stream>>>(*job));
}

const tm_fft_steps tm_cufft_steps = {tile_column_bytes, prepare, make_spectrum,
                                     correlate,   finish,  count_candidates};

void tm_cufft_free(tm_cufft *cufft)
{
    for (tm_cufft_plan &p : cufft->plans)
        drop_plan(&p);
    tm_buffer_free(&cufft->work);
}
