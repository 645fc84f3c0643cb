/* SPDX-License-Identifier: MIT */
#include "fft/cuda/fft.cuh"

#include "integers.h"

/* Points between the kernels take at most this much, if one tile does not take
 * more: the memory of a match does not grow with the frame. */
#ifndef TM_FFT_RUN_BYTES
#define TM_FFT_RUN_BYTES ((int64_t)1 << 30)
#endif

static const tm_fft_steps *steps_of(const tm_fft_job *job)
{
    return job->tiling.by_cufft ? &tm_cufft_steps : &tm_own_fft_steps;
}

static int64_t strip_bytes(const tm_fft_job *job, int64_t tiles)
{
    return steps_of(job)->strip_bytes(job, tiles);
}

/* The most strips and tiles of a run. */
static void run_size(const tm_fft_job *job, int64_t *strips, int64_t *tiles)
{
    const tm_fft_tiling *t = &job->tiling;
    *tiles = t->down;
    while (*tiles > 1 && strip_bytes(job, *tiles) > TM_FFT_RUN_BYTES)
        *tiles = ceil_div(*tiles, 2);
    *strips = TM_FFT_RUN_BYTES / strip_bytes(job, *tiles);
    *strips = *strips < 1 ? 1 : *strips > t->across ? t->across : *strips;
    /* runs of equal size, and no grid beyond its limit */
    if (*strips > 32768)
        *strips = 32768;
    *strips = ceil_div(t->across, ceil_div(t->across, *strips));
    *tiles = ceil_div(t->down, ceil_div(t->down, *tiles));
}

static tm_fft_run run_at(const tm_fft_job *job, int64_t strip, int64_t tile)
{
    const tm_fft_tiling *t = &job->tiling;
    int64_t strips, tiles;
    run_size(job, &strips, &tiles);
    tm_fft_run run = {};
    run.strips = (int)smaller(strips, t->across - strip);
    run.tiles = (int)smaller(tiles, t->down - tile);
    run.x = strip * t->step_x;
    run.y = tile * t->step_y;
    run.width = (int)smaller((int64_t)run.strips * t->step_x, t->range_x - run.x);
    run.rows = (int)smaller((int64_t)run.tiles * t->step_y, t->range_y - run.y);
    run.input_rows = run.rows + job->job.height - 1;
    return run;
}

int64_t tm_fft_candidates(const tm_fft_job *job)
{
    int64_t strips, tiles, count = 0;
    tm_fft_job own = *job;
    run_size(job, &strips, &tiles);
    for (int64_t tile = 0; tile < job->tiling.down; tile += tiles) {
        for (int64_t strip = 0; strip < job->tiling.across; strip += strips) {
            own.run = run_at(job, strip, tile);
            count += steps_of(job)->count_candidates(&own);
        }
    }
    return count;
}

static cudaError_t make_spectrum(const tm_fft_job *job, cudaStream_t stream)
{
    tm_fft_job own = *job;
    own.run = (tm_fft_run){};
    own.run.strips = own.run.tiles = 1;
    own.run.rows = 1;
    own.run.input_rows = job->job.height;
    return steps_of(job)->make_spectrum(&own, stream);
}

static cudaError_t prepare_side(tm_fft_device *fft, tm_fft_job *job)
{
    if (!fft->best) {
        TRY(tm_windows_prepare((size_t)fft->shared_bytes));
        TRY(tm_device_malloc((void **)&fft->best, sizeof *fft->best));
    }
    if (!fft->side)
        TRY(cudaStreamCreateWithFlags(&fft->side, cudaStreamNonBlocking));
    if (!fft->forked)
        TRY(cudaEventCreateWithFlags(&fft->forked, cudaEventDisableTiming));
    if (!fft->joined)
        TRY(cudaEventCreateWithFlags(&fft->joined, cudaEventDisableTiming));
    job->best = fft->best;
    job->side = fft->side;
    job->forked = fft->forked;
    job->joined = fft->joined;
    return cudaSuccess;
}

cudaError_t tm_fft_prepare(tm_fft_device *fft, tm_fft_job *job, tm_fft_spectrum *spectrum,
                           cudaStream_t stream)
{
    const tm_fft_tiling *t = &job->tiling;
    int64_t strips, tiles;

    run_size(job, &strips, &tiles);
    TRY(steps_of(job)->prepare(fft, job, strips * tiles, stream));
    TRY(prepare_side(fft, job));
    TRY(tm_buffer_fit(&fft->points, (size_t)(strips * strip_bytes(job, tiles))));
    if (job->metric == TM_METRIC_LCC)
        TRY(tm_buffer_fit(&fft->windows, 2 * (size_t)(tiles * t->step_y * strips * t->step_x) *
                                             sizeof(tm_window)));
    job->points = (double2 *)fft->points.data;
    job->windows = (tm_window *)fft->windows.data;

    if (spectrum->length_x != t->length_x || spectrum->length_y != t->length_y ||
        spectrum->by_cufft != t->by_cufft) {
        spectrum->length_x = spectrum->length_y = 0;
        TRY(tm_buffer_fit(&spectrum->points, tm_fft_spectrum_bytes(t)));
        job->spectrum = (double2 *)spectrum->points.data;
        TRY(make_spectrum(job, stream));
        spectrum->length_x = t->length_x;
        spectrum->length_y = t->length_y;
        spectrum->by_cufft = t->by_cufft;
    }
    job->spectrum = (double2 *)spectrum->points.data;
    return cudaSuccess;
}

/* Beside the transforms: these wait for memory, that for arithmetic. */
static cudaError_t launch_windows(const tm_fft_job *job, cudaStream_t stream)
{
    TRY(cudaEventRecord(job->forked, stream));
    TRY(cudaStreamWaitEvent(job->side, job->forked, 0));
    if (job->metric == TM_METRIC_LCC)
        TRY(tm_windows_launch(job, job->side));
    return cudaEventRecord(job->joined, job->side);
}

cudaError_t tm_fft_launch(const tm_fft_job *job, cudaStream_t stream)
{
    int64_t strips, tiles;
    tm_fft_job own = *job;

    /* negative: no window is spared before one has a positive score */
    TRY(cudaMemsetAsync(job->best, 0x80, sizeof *job->best, stream));
    run_size(job, &strips, &tiles);
    for (int64_t tile = 0; tile < job->tiling.down; tile += tiles) {
        for (int64_t strip = 0; strip < job->tiling.across; strip += strips) {
            own.run = run_at(job, strip, tile);
            TRY(launch_windows(&own, stream));
            TRY(steps_of(job)->correlate(&own, stream));
            TRY(cudaStreamWaitEvent(stream, job->joined, 0));
            TRY(steps_of(job)->finish(&own, stream));
            own.job.candidates += steps_of(job)->count_candidates(&own);
        }
    }
    return cudaSuccess;
}

cudaError_t tm_fft_prepare_f32(tm_fft_device *fft, tm_fft_job *job, tm_fft_spectrum *spectrum,
                               cudaStream_t stream)
{
    spectrum->length_x = 0;
    return tm_fft_prepare(fft, job, spectrum, stream);
}

cudaError_t tm_fft_launch_f32(const tm_fft_job *job, cudaStream_t stream)
{
    int64_t strips, tiles;
    tm_fft_job own = *job;

    run_size(job, &strips, &tiles);
    for (int64_t tile = 0; tile < job->tiling.down; tile += tiles) {
        for (int64_t strip = 0; strip < job->tiling.across; strip += strips) {
            own.run = run_at(job, strip, tile);
            TRY(steps_of(job)->correlate(&own, stream));
            TRY(steps_of(job)->finish(&own, stream));
        }
    }
    return cudaSuccess;
}

size_t tm_fft_spectrum_bytes(const tm_fft_tiling *tiling)
{
    return (size_t)tiling->length_x * (size_t)tiling->length_y * sizeof(double2);
}

void tm_fft_drop_spectrum(tm_fft_spectrum *spectrum)
{
    tm_device_free(spectrum->points.data);
    *spectrum = (tm_fft_spectrum){};
}

void tm_fft_give_back(tm_fft_device *fft)
{
    tm_buffer_free(&fft->points);
    tm_buffer_free(&fft->windows);
    tm_cufft_free(&fft->cufft);
}

void tm_fft_device_free(tm_fft_device *fft)
{
    for (int i = 0; i < TM_FFT_LENGTHS; i++)
        tm_device_free(fft->roots[i]);
    tm_fft_give_back(fft);
    tm_device_free(fft->best);
    if (fft->joined)
        cudaEventDestroy(fft->joined);
    if (fft->forked)
        cudaEventDestroy(fft->forked);
    if (fft->side)
        cudaStreamDestroy(fft->side);
    *fft = (tm_fft_device){};
}
