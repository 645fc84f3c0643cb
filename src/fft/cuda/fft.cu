/* SPDX-License-Identifier: MIT */
#include "fft/cuda/fft.cuh"

#include "integers.h"
#include "lcc/cuda/memory.cuh"

/* A band's points take at most so much, unless one tile takes more: the memory of a match does not
 * grow with the frame. */
#ifndef TM_FFT_BAND_BYTES
#define TM_FFT_BAND_BYTES ((int64_t)1 << 30)
#endif

static const tm_fft_steps *steps_of(const tm_fft_job *job)
{
    return job->tiling.by_cufft ? &tm_cufft_steps : &tm_own_fft_steps;
}

static int64_t tile_column_bytes(const tm_fft_job *job, int64_t down)
{
    return steps_of(job)->tile_column_bytes(job, down);
}

/* Sets the most tiles of a band, across and down. */
static void limit_bands(tm_fft_job *job)
{
    const tm_fft_tiling *t = &job->tiling;
    int64_t down = t->down;

    while (down > 1 && tile_column_bytes(job, down) > TM_FFT_BAND_BYTES)
        down = ceil_div(down, 2);
    /* no grid beyond its limit */
    int64_t across = smaller(TM_FFT_BAND_BYTES / tile_column_bytes(job, down), 32768);
    across = across < 1 ? 1 : smaller(across, t->across);
    /* bands of equal size */
    job->most_across = (int)ceil_div(t->across, ceil_div(t->across, across));
    job->most_down = (int)ceil_div(t->down, ceil_div(t->down, down));
}

/* The band whose first tile is this one. */
static tm_fft_band band_at(const tm_fft_job *job, int64_t left, int64_t top)
{
    const tm_fft_tiling *t = &job->tiling;
    tm_fft_band band = {};
    band.across = (int)smaller(job->most_across, t->across - left);
    band.down = (int)smaller(job->most_down, t->down - top);
    band.x = left * t->step_x;
    band.y = top * t->step_y;
    band.width = (int)smaller((int64_t)band.across * t->step_x, t->range_x - band.x);
    band.rows = (int)smaller((int64_t)band.down * t->step_y, t->range_y - band.y);
    band.input_rows = band.rows + job->job.height - 1;
    return band;
}

/* The job for one band after the other, along the rows of tiles. */
static tm_fft_job before_bands(const tm_fft_job *job)
{
    tm_fft_job own = *job;
    own.band = (tm_fft_band){};
    return own;
}

static bool next_band(tm_fft_job *own)
{
    const tm_fft_tiling *t = &own->tiling;
    const tm_fft_band *band = &own->band;
    int64_t left = band->x / t->step_x + band->across, top = band->y / t->step_y;

    if (left >= t->across) {
        left = 0;
        top += band->down;
    }
    if (top >= t->down)
        return false;
    own->band = band_at(own, left, top);
    return true;
}

static int64_t count_candidates(const tm_fft_job *job)
{
    return job->metric == TM_METRIC_LCC ? tm_windows_candidates(job) : steps_of(job)->count_candidates(job);
}

int64_t tm_fft_candidates(const tm_fft_job *job)
{
    int64_t count = 0;
    for (tm_fft_job own = before_bands(job); next_band(&own);)
        count += count_candidates(&own);
    return count;
}

int64_t tm_fft_most_candidates(const tm_fft_job *job)
{
    int64_t count = 0;
    for (tm_fft_job own = before_bands(job); next_band(&own);)
        count += job->metric == TM_METRIC_LCC ? tm_windows_most_candidates(&own) : count_candidates(&own);
    return count;
}

/* Words of a launch. Progress is of columns of tiles, of one band after the other. */
static int64_t state_words(const tm_fft_job *job)
{
    static_assert(sizeof *job->best == 8 && sizeof *job->progress == 8, "one word each");
    return 1 + job->tiling.across * ceil_div(job->tiling.down, job->most_down);
}

enum { LAUNCHES = 16 }; /* that are cleared at once */

static cudaError_t fit_states(tm_fft_states *states, int64_t words)
{
    const size_t size = (size_t)words * (8 * LAUNCHES);
    if (states->words.size >= size)
        return cudaSuccess;
    states->used = INT64_MAX; /* none is cleared */
    return tm_buffer_fit(&states->words, size);
}

static cudaError_t take_state(tm_fft_job *job, cudaStream_t stream)
{
    tm_fft_states *const states = job->states;
    const int64_t words = state_words(job);

    if (states->used > (int64_t)(states->words.size / 8) - words) {
        TRY_CUDA(cudaMemsetAsync(states->words.data, 0, states->words.size, stream));
        states->used = 0;
    }
    job->best = (int64_t *)states->words.data + states->used;
    job->progress = (tm_fft_progress *)(job->best + 1);
    states->used += words;
    return cudaSuccess;
}

static cudaError_t make_spectrum(const tm_fft_job *job, cudaStream_t stream)
{
    tm_fft_job own = *job;
    TRY(take_state(&own, stream));
    own.band = (tm_fft_band){};
    own.band.across = own.band.down = 1;
    own.band.rows = 1;
    own.band.input_rows = job->job.height;
    return steps_of(job)->make_spectrum(&own, stream);
}

static cudaError_t prepare_windows(tm_fft_device *fft)
{
    if (fft->windows_ready)
        return cudaSuccess;
    TRY(tm_windows_prepare((size_t)fft->shared_bytes));
    fft->early = tm_windows_can_be_early();
    fft->windows_ready = true;
    return cudaSuccess;
}

/* Room for the sums of a band of so many tiles. */
static size_t sums_bytes(const tm_fft_job *job, int64_t across, int64_t down)
{
    tm_fft_band most = {};
    most.rows = (int)(down * job->tiling.step_y);
    most.width = (int)(across * job->tiling.step_x);
    return (size_t)tm_fft_sums_place(most, 2, 0) * (job->narrow ? sizeof(int32_t) : sizeof(int64_t));
}

cudaError_t tm_fft_prepare(tm_fft_device *fft, tm_fft_job *job, tm_fft_spectrum *spectrum,
                           cudaStream_t stream)
{
    const tm_fft_tiling *t = &job->tiling;

    limit_bands(job);
    const int64_t across = job->most_across, down = job->most_down;
    TRY(steps_of(job)->prepare(fft, job, across * down, stream));
    TRY(prepare_windows(fft));
    TRY(fit_states(&fft->states, state_words(job)));
    TRY(tm_buffer_fit(&fft->points, (size_t)(across * tile_column_bytes(job, down))));
    job->narrow = tm_windows_are_narrow(&job->job);
    if (job->metric == TM_METRIC_LCC)
        TRY(tm_buffer_fit(&fft->sums, sums_bytes(job, across, down)));
    job->points = (double2 *)fft->points.data;
    job->sums = fft->sums.data;
    job->states = &fft->states;
    job->early = fft->early;
    job->multiprocessors = fft->multiprocessors;

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

static cudaError_t launch_band(const tm_fft_job *job, cudaStream_t stream)
{
    TRY(steps_of(job)->correlate(job, stream));
    TRY(steps_of(job)->finish(job, stream));
    return job->metric == TM_METRIC_LCC ? tm_windows_launch(job, stream) : cudaSuccess;
}

cudaError_t tm_fft_launch(const tm_fft_job *job, cudaStream_t stream)
{
    tm_fft_job own = before_bands(job);
    TRY(take_state(&own, stream));
    while (next_band(&own)) {
        TRY(launch_band(&own, stream));
        if (own.job.candidates) /* floats have none */
            own.job.candidates += count_candidates(&own);
        own.progress += own.band.across;
    }
    return cudaSuccess;
}

cudaError_t tm_fft_prepare_f32(tm_fft_device *fft, tm_fft_job *job, tm_fft_spectrum *spectrum,
                               cudaStream_t stream)
{
    spectrum->length_x = 0;
    return tm_fft_prepare(fft, job, spectrum, stream);
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
    tm_buffer_free(&fft->sums);
    tm_cufft_free(&fft->cufft);
}

void tm_fft_device_free(tm_fft_device *fft)
{
    for (int i = 0; i < TM_FFT_LENGTHS; i++)
        tm_device_free(fft->roots[i]);
    tm_fft_give_back(fft);
    tm_buffer_free(&fft->states.words);
    *fft = (tm_fft_device){};
}
