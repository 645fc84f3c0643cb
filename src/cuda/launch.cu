/* SPDX-License-Identifier: MIT */
#include "cuda/launch.cuh"

#include "cuda/context.cuh"
#include "cuda/on_device.cuh"
#include "integers.h"

bool tm_may_leave_out(tm_cuda *cuda, const tm_job *job)
{
    return job->metric == TM_METRIC_LCC && !tm_job_has_map(job) && !tm_is_async(job) && !cuda->all_windows && !cuda->last.all_windows &&
           tm_rest_is_over(&cuda->leaves_out);
}

tm_launch tm_launch_of(tm_group *group, tm_metric metric)
{
    tm_launch l = {};
    l.group = group;
    l.metric = metric;
    l.on_tensor_cores = group->fragments != NULL;
    l.job.taps = group->taps;
    l.job.n = group->keys->n;
    return l;
}

static tm_tensor_job tensor_job_of(const tm_launch *l)
{
    tm_tensor_job t = {};
    (tm_device_windows &)t = l->job;
    t.count = (int)l->group->count;
    t.fragments = l->group->fragments;
    return t;
}

void tm_launch_scratch(const tm_cuda *cuda, tm_tensor_job *job)
{
    job->blocks = cuda->tensor.blocks;
    job->running_bests = cuda->tensor.running_bests;
    job->counter = cuda->tensor.running_bests + cuda->tensor.most_templates;
}

static void fill_tensor(const tm_cuda *cuda, tm_launch *l)
{
    const tm_group *group = l->group;
    tm_tensor_job t = tensor_job_of(l);

    t.wide_fragments = group->wide_fragments;
    t.templates = group->table;
    for (size_t i = 0; i < group->count; i++) {
        if (group->keys[i].variance > t.variance)
            t.variance = group->keys[i].variance;
    }
    if (l->metric == TM_METRIC_LCC) {
        t.outcome = TM_TENSOR_LCC;
        t.map = (float *)l->job.map;
    } else {
        t.outcome = TM_TENSOR_SUMS;
        t.sums = (tm_tensor_sums){(int64_t *)l->job.map, NULL, l->job.map_width};
    }
    t.best = l->job.best;
    t.may_leave_out = l->may_leave_out;
    t.partial = l->tensor.partial; /* the same for rows of the launch */
    tm_launch_scratch(cuda, &t);
    l->tensor = t;
}

/* Makes room for what the launch of all rows needs besides, if there is memory; other kernels need none. */
static cudaError_t fit_partial(tm_cuda *cuda, tm_launch *l)
{
    const size_t bytes = tm_tensor_partial_bytes(&cuda->tensor, &l->tensor);
    if (!bytes)
        return cudaSuccess;
    const cudaError_t error = tm_buffer_fit(&cuda->correlations, bytes);
    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return cudaSuccess;
    }
    l->tensor.partial = (uint32_t *)cuda->correlations.data;
    return error;
}

static cudaError_t fit_candidates(tm_cuda *cuda, int64_t count, tm_candidate **candidates)
{
    TRY(tm_buffer_fit(&cuda->candidates, (size_t)count * sizeof(tm_candidate)));
    *candidates = (tm_candidate *)cuda->candidates.data;
    return cudaSuccess;
}

static cudaError_t prepare_fft(tm_cuda *cuda, tm_launch *l, const tm_fft_tiling *tiling)
{
    tm_fft_job *fft = &l->fft;

    fft->job = l->job;
    fft->job.sum = l->group->keys->sum;
    fft->job.variance = (float)l->group->keys->variance;
    fft->frame_rows = l->plane_rows;
    fft->metric = l->metric;
    fft->tiling = *tiling;
    tm_make_room_for_spectrum(cuda, l->group, tm_fft_spectrum_bytes(tiling));
    TRY(tm_fft_prepare(&cuda->fft, fft, &l->group->spectrum, cuda->stream));
    return fit_candidates(cuda, tm_fft_most_candidates(fft), &fft->job.candidates);
}

/* The same of rows of a tiling that has whole rows of tiles for them. */
static void cut_fft(tm_fft_job *fft, const tm_device_job *rows, int64_t first)
{
    tm_candidate *candidates = fft->job.candidates;
    const int64_t sum = fft->job.sum;
    const float variance = fft->job.variance;

    fft->job = *rows;
    fft->job.candidates = candidates;
    fft->job.sum = sum;
    fft->job.variance = variance;
    fft->frame_rows -= first;
    if (fft->tiling.shift_y)
        return; /* these are all rows */
    fft->tiling.range_y = rows->map_height;
    fft->tiling.down = ceil_div(rows->map_height, fft->tiling.step_y);
}

cudaError_t tm_launch_prepare(tm_cuda *cuda, tm_launch *l, const tm_fft_tiling *tiling)
{
    l->by_fft = tiling != NULL;
    if (l->by_fft)
        return prepare_fft(cuda, l, tiling);
    if (l->on_tensor_cores) {
        fill_tensor(cuda, l);
        if (!l->certified)
            TRY(fit_partial(cuda, l));
    }
    if (l->certified)
        TRY(tm_certified_fit(cuda, l));
    return fit_candidates(cuda, tm_direct_blocks(&l->job), &l->job.candidates);
}

tm_launch tm_launch_rows(const tm_cuda *cuda, const tm_launch *whole, int64_t first, int64_t end,
                         tm_candidate *best)
{
    tm_launch l = *whole;
    tm_device_job *job = &l.job;

    job->frame += first * (int64_t)job->pitch;
    job->map_height = end - first;
    if (job->map)
        job->map =
            (uint8_t *)job->map + (size_t)(first * job->map_width) * tm_map_element_size(l.metric);
    job->best = best;
    if (l.by_fft)
        cut_fft(&l.fft, job, first);
    else if (l.on_tensor_cores)
        fill_tensor(cuda, &l);
    l.tensor.may_leave_out &= job->map_height == whole->job.map_height; // the kernels of chunks end before the next chunk is there
    return l;
}

static cudaError_t reduce(tm_cuda *cuda, const tm_device_job *job, int64_t count, bool early)
{
    if (!job->best)
        return cudaSuccess;
    return tm_reduce_launch(job->candidates, count, cuda->reduced, job->best, early, cuda->stream);
}

static cudaError_t start_direct(tm_cuda *cuda, const tm_launch *l)
{
    for (size_t i = 0; i < l->group->count; i++) {
        const tm_template *t = &l->group->keys[i];
        tm_device_job job = l->job;
        job.taps += (int64_t)i * t->n;
        job.sum = t->sum;
        job.variance = (float)t->variance;
        if (job.best)
            job.best += i;
        TRY(tm_direct_launch(&job, l->metric, cuda->stream));
        TRY(reduce(cuda, &job, tm_direct_blocks(&job), false));
    }
    return cudaSuccess;
}

cudaError_t tm_launch_start(tm_cuda *cuda, tm_launch *l)
{
    if (l->by_fft) {
        TRY(tm_fft_launch(&l->fft, cuda->stream));
        return reduce(cuda, &l->fft.job, tm_fft_candidates(&l->fft), l->fft.early);
    }
    if (l->certified)
        return tm_certified_rows(cuda, l, 0, l->job.map_height);
    if (l->on_tensor_cores) {
        cudaError_t error = tm_tensor_launch(&cuda->tensor, &l->tensor, cuda->stream);
        if (error != cudaErrorNotSupported)
            return error;
        l->on_tensor_cores = false;
    }
    return start_direct(cuda, l);
}

cudaError_t tm_launch_sums(tm_cuda *cuda, const tm_launch *l, uint32_t *map, int64_t stride)
{
    tm_tensor_job t = tensor_job_of(l);
    t.outcome = TM_TENSOR_SUMS;
    t.sums = (tm_tensor_sums){NULL, map, stride};
    return tm_tensor_launch(&cuda->tensor, &t, cuda->stream);
}
