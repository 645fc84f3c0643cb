/* SPDX-License-Identifier: MIT */
/* A match of float pictures: the template to the device, and one kernel for all sums. */
#include "lcc/cuda/context.cuh"
#include "lcc/cuda/real.cuh"
#include "lcc/real.h"

/* The taps, and behind them the mask. */
static size_t taps_bytes(const tm_template *t)
{
    return (size_t)(t->n * t->channels) * sizeof(double);
}

cudaError_t tm_place_taps(tm_cuda *cuda, const tm_job *job)
{
    const tm_template *t = job->tmpl;
    const size_t bytes = taps_bytes(t), row = (size_t)t->width * sizeof(double);
    const double *taps = tm_needs_s_f(job->metric) ? t->real->taps : t->real->samples;

    TRY(tm_buffer_fit(&cuda->taps, bytes + (size_t)t->n));
    /* kernels of another template may still read its taps */
    TRY(cudaEventRecord(cuda->computed[0], cuda->stream));
    TRY(cudaStreamWaitEvent(cuda->in, cuda->computed[0], 0));
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

cudaError_t tm_launch_real(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    const tm_geometry *g = &job->geometry;
    const tm_template *t = job->tmpl;
    const uint8_t *taps = (const uint8_t *)cuda->taps.data;
    const tm_raw_frame raw = tm_raw_frame_of(cuda, &job->frame);
    tm_real_launch l = {};

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
    l.scorer = tm_real_scorer_make(t, job->metric);
    l.map = tm_job_has_map(job) ? (float *)cuda->map.data : NULL;
    TRY(tm_buffer_fit(&cuda->found, (size_t)tm_real_blocks(&l) * sizeof(tm_candidate)));
    l.candidates = (tm_candidate *)cuda->found.data;
    TRY(tm_real_start(&l, cuda->stream));
    return tm_reduce_launch(l.candidates, tm_real_blocks(&l), cuda->reduced, best, cuda->stream);
}
