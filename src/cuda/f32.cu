/* SPDX-License-Identifier: MIT */
#include "cuda/f32.cuh"

#include <math.h>

#include <algorithm>

#include "cuda/context.cuh"
#include "fft/f32.h"
#include "lcc/cuda/float/f32.cuh"

/* The mask stands behind the taps. */
static size_t taps_bytes(const tm_template *t)
{
    return (size_t)(t->n * t->channels) * sizeof(double);
}

cudaError_t tm_f32_bring_taps(tm_cuda *cuda, const tm_job *job)
{
    const tm_template *t = job->tmpl;
    const size_t bytes = taps_bytes(t), row = (size_t)t->width * sizeof(double);
    const double *taps = tm_needs_s_f(job->metric) ? t->f32->taps : t->f32->samples;

    TRY(tm_buffer_fit(&cuda->taps, bytes + (size_t)t->n));
    /* kernels of another template may still read its taps */
    TRY(tm_wait_for(cuda, cuda->in, cuda->stream));
    uint8_t *to = (uint8_t *)cuda->taps.data;
    TRY(tm_upload(cuda, to, row, (const uint8_t *)taps, (ptrdiff_t)row, row,
                  t->height * t->channels));
    if (t->mask)
        TRY(tm_upload(cuda, to + bytes, (size_t)t->width, t->mask, (ptrdiff_t)t->width,
                      (size_t)t->width, t->height));
    return tm_await_upload(cuda);
}

static int first_that_counts(const tm_template *t)
{
    int i = 0;
    while (t->mask && !t->mask[i])
        i++;
    return i;
}

/* The median of some samples of a channel. With a pivot near it, most windows' errors are small. Of a
 * frame that the host cannot read, the template's mean is about as near. */
static double some_median(const tm_image *frame, int channel)
{
    enum { SOME = 16 };
    float samples[SOME * SOME];
    for (int i = 0; i < SOME; i++)
        for (int j = 0; j < SOME; j++)
            samples[i * SOME + j] =
                tm_f32_sample(frame, frame->width * j / SOME, frame->height * i / SOME, channel);
    std::nth_element(samples, samples + SOME * SOME / 2, samples + SOME * SOME);
    return (double)samples[SOME * SOME / 2];
}

/* The error of the sums of F' and of its squares, relative to their magnitudes': a column's
 * rows are added up in partial sums, then the columns are. */
static double added_error(const tm_f32_launch *l)
{
    const double height = l->height;
    const double width = l->width * ceil(height / TM_PARTIAL_TERMS) * l->scorer.channels;
    const double rows = fmin(height, TM_PARTIAL_TERMS),
                 columns = fmin(width, TM_PARTIAL_TERMS + 32);
    return (rows + columns + width / TM_PARTIAL_TERMS + 8) * 0x1p-53;
}

/* The error of the taps' sum, as a multiple of their norm. */
static double taps_error(const tm_template *t)
{
    const double n = (double)t->n;
    return (TM_PARTIAL_TERMS + n / TM_PARTIAL_TERMS + 8) * 0x1p-53 * sqrt(n);
}

/* Estimates the products of all windows by FFT, channel by channel. */
static cudaError_t transform(tm_cuda *cuda, const tm_job *job, tm_f32_launch *l)
{
    const tm_template *t = job->tmpl;
    const size_t windows = (size_t)(l->map_width * l->map_height);
    const bool distance = tm_is_distance(job->metric);
    tm_fft_job fft = {};

    TRY(tm_buffer_fit(&cuda->correlations,
                      (windows + TM_MAX_CHANNELS * TM_F32_NORM_PARTS) * sizeof(double)));
    double *products = (double *)cuda->correlations.data;
    unsigned long long *norms = (unsigned long long *)(products + windows);
    TRY_CUDA(cudaMemsetAsync(norms, 0, TM_MAX_CHANNELS * TM_F32_NORM_PARTS * sizeof *norms,
                             cuda->stream));
    l->rule = tm_f32_rule_make(t, job->metric);
    l->rule.added = added_error(l);
    l->error = tm_fft_f32_error(job->tiling, 1, l->rule.norm);
    l->shift_error = taps_error(t) * l->rule.norm;
    l->products = products;
    l->norms = norms;
    fft.job.map_width = l->map_width;
    fft.job.map_height = l->map_height;
    fft.job.width = l->width;
    fft.job.height = l->height;
    fft.metric = TM_METRIC_CCORR;
    fft.tiling = *job->tiling;
    fft.f32.samples = l->samples;
    fft.f32.width = l->frame_width;
    fft.f32.height = l->frame_height;
    fft.f32.pad_x = l->pad_x;
    fft.f32.pad_y = l->pad_y;
    fft.f32.channels = t->channels;
    fft.f32.sums = products;
    for (int c = 0; c < t->channels; c++) {
        l->pivots[c] = distance                     ? t->f32->means[c]
                       : !tm_needs_s_f(job->metric) ? 0
                       : job->on_device             ? t->f32->means[c]
                                                    : some_median(&job->frame, c);
        fft.f32.channel = c;
        fft.f32.pivot = l->pivots[c];
        fft.f32.mean = distance ? t->f32->means[c] : 0;
        fft.f32.taps = l->taps + c * t->n;
        TRY(tm_fft_prepare_f32(&cuda->fft, &fft, &cuda->f32_spectrum, cuda->stream));
        TRY(tm_fft_norms_launch(&fft, norms + c * TM_F32_NORM_PARTS, cuda->stream));
        TRY(tm_fft_launch(&fft, cuda->stream));
    }
    return cudaSuccess;
}

static tm_f32_launch launch_of(const tm_cuda *cuda, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    const uint8_t *taps = (const uint8_t *)cuda->taps.data;
    const tm_raw_frame raw = tm_raw_rows(cuda, &job->frame, 0, g->frame_height);
    tm_f32_launch l = {};

    l.samples = (const float *)raw.samples;
    l.mask = job->frame.mask ? raw.mask : NULL;
    l.frame_width = g->frame_width;
    l.frame_height = g->frame_height;
    l.pad_x = g->pad_x;
    l.pad_y = g->pad_y;
    l.map_width = g->map_width;
    l.map_height = g->map_height;
    l.taps = (const double *)taps;
    l.counts = t->mask ? taps + taps_bytes(t) : NULL;
    l.width = (int)t->width;
    l.height = (int)t->height;
    l.first = first_that_counts(t);
    l.scorer = tm_f32_scorer_make(t, job->metric);
    l.map = tm_job_has_map(job) ? (float *)cuda->map.data : NULL;
    return l;
}

/* The launch for rows [first, end) of the map, when so many rows of the frame are there. */
static tm_f32_launch rows_of(const tm_f32_launch *whole, int64_t first, int64_t end,
                             int64_t frame_rows)
{
    tm_f32_launch l = *whole;
    l.frame_height = frame_rows;
    l.pad_y -= first;
    l.map_height = end - first;
    l.position = first * l.map_width;
    return l;
}

typedef struct f32_run {
    tm_cuda *cuda;
    const tm_job *job;
    tm_f32_launch whole;
    int64_t candidates; /* that the chunks before write */
} f32_run;

static cudaError_t launch_chunk(void *context, int64_t first, int64_t end, int64_t frame_rows)
{
    f32_run *run = (f32_run *)context;
    tm_cuda *cuda = run->cuda;

    if (run->job->tiling)
        TRY(transform(cuda, run->job, &run->whole));
    tm_f32_launch l = rows_of(&run->whole, first, end, frame_rows);
    l.candidates = (tm_candidate *)cuda->found.data + run->candidates;
    TRY(tm_f32_start(&l, cuda->stream));
    run->candidates += tm_f32_blocks(&l);
    return cudaSuccess;
}

cudaError_t tm_f32_run(tm_cuda *cuda, const tm_job *job, const tm_walk *walk, tm_candidate *best)
{
    const int64_t height = job->geometry.map_height;
    f32_run run = {cuda, job, launch_of(cuda, job), 0};
    int64_t count = 0;

    for (int64_t first = 0, end; first < height; first = end) {
        end = tm_walk_end(walk, first);
        const tm_f32_launch l = rows_of(&run.whole, first, end, 0);
        count += tm_f32_blocks(&l);
    }
    TRY(tm_buffer_fit(&cuda->found, (size_t)count * sizeof(tm_candidate)));
    TRY(tm_walk_chunks(cuda, job, walk, launch_chunk, &run));
    return tm_reduce_launch((tm_candidate *)cuda->found.data, run.candidates, cuda->reduced, best,
                            false, cuda->stream);
}
