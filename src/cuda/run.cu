/* SPDX-License-Identifier: MIT */
/* The way of one frame and its templates through the device. */
#include "cuda/context.cuh"

static cudaError_t launch_direct(tm_cuda *cuda, const tm_launch *l)
{
    for (size_t i = 0; i < l->group->count; i++) {
        const tm_template *t = &l->group->keys[i];
        tm_device_job job = l->direct;
        job.taps += (int64_t)i * t->n;
        job.sum = t->sum;
        job.variance = (float)t->variance;
        TRY(tm_direct_launch(&job, l->metric, cuda->stream));
        TRY(tm_reduce_launch(job.candidates, tm_direct_blocks(&job), cuda->reduced, job.best + i,
                             cuda->stream));
    }
    return cudaSuccess;
}

static cudaError_t launch_fft(tm_cuda *cuda, const tm_fft_job *fft)
{
    TRY(tm_fft_launch(fft, cuda->stream));
    return tm_reduce_launch(fft->job.candidates, tm_fft_candidates(fft), cuda->reduced,
                            fft->job.best, cuda->stream);
}

cudaError_t tm_launch_once(tm_cuda *cuda, tm_launch *l)
{
    if (l->by_fft)
        return launch_fft(cuda, &l->fft);
    if (!l->on_tensor_cores)
        return launch_direct(cuda, l);
    cudaError_t error = tm_tensor_launch(&cuda->tensor, l->tensor, cuda->stream);
    if (error != cudaErrorNotSupported)
        return error;
    l->on_tensor_cores = false;
    return launch_direct(cuda, l);
}

static cudaError_t fit_bests(tm_cuda *cuda, size_t count)
{
    TRY(tm_buffer_fit(&cuda->bests, count * sizeof(tm_candidate)));
    if (cuda->pinned_bests_count >= count)
        return cudaSuccess;
    cuda->pinned_bests_count = 0;
    cudaFreeHost(cuda->pinned_bests);
    cuda->pinned_bests = NULL;
    TRY(cudaMallocHost((void **)&cuda->pinned_bests, count * sizeof(tm_candidate)));
    cuda->pinned_bests_count = count;
    return cudaSuccess;
}

static void fill_direct(const tm_cuda *cuda, tm_launch *l, const tm_job *job, void *map,
                        tm_candidate *best)
{
    tm_device_job *d = &l->direct;
    d->frame = (const uint8_t *)cuda->frame.data;
    d->pitch = cuda->layout.pitch;
    d->map_width = job->geometry.map_width;
    d->map_height = job->geometry.map_height;
    d->taps = l->group->taps;
    d->width = (int)job->tmpl->width;
    d->height = (int)job->tmpl->height;
    d->n = job->tmpl->n;
    d->map = map;
    d->best = best;
}

tm_tensor_job tm_tensor_job_of(const tm_device_job *job)
{
    tm_tensor_job t = {};
    t.frame = job->frame;
    t.pitch = job->pitch;
    t.map_width = job->map_width;
    t.map_height = job->map_height;
    t.width = job->width;
    t.height = job->height;
    return t;
}

void tm_launch_fill(const tm_cuda *cuda, tm_launch *l)
{
    const tm_device_job *d = &l->direct;
    tm_tensor_job *t = &l->tensor;
    *t = tm_tensor_job_of(d);
    t->outcome = l->metric == TM_METRIC_LCC ? TM_TENSOR_LCC : TM_TENSOR_SUMS;
    t->count = (int)l->group->count;
    t->fragments = l->group->fragments;
    t->wide = l->group->wide;
    t->templates = l->group->table;
    for (size_t i = 0; i < l->group->count; i++) {
        if (l->group->keys[i].variance > t->variance)
            t->variance = l->group->keys[i].variance;
    }
    if (l->metric == TM_METRIC_LCC)
        t->map = (float *)d->map;
    else
        t->sums = (tm_tensor_sums){(int64_t *)d->map, NULL, d->map_width};
    t->best = d->best;
    t->blocks = cuda->tensor.blocks;
    t->running_bests = cuda->tensor.running_bests;
    t->counter = cuda->tensor.running_bests + cuda->tensor.most_templates;
}

/* The spectrum and the memory of an FFT whose tiling is set. */
static cudaError_t prepare_fft(tm_cuda *cuda, tm_launch *l, tm_group *group)
{
    tm_fft_job *fft = &l->fft;
    const tm_template *t = group->keys;

    fft->job = l->direct;
    fft->job.sum = t->sum;
    fft->job.variance = (float)t->variance;
    fft->frame_rows = cuda->layout.rows;
    fft->metric = l->metric;
    tm_make_room_for_spectrum(cuda, group, tm_fft_spectrum_bytes(&fft->tiling));
    TRY(tm_fft_prepare(&cuda->fft, fft, &group->spectrum, cuda->stream));
    TRY(tm_buffer_fit(&cuda->candidates, (size_t)tm_fft_candidates(fft) * sizeof(tm_candidate)));
    fft->job.candidates = (tm_candidate *)cuda->candidates.data;
    return cudaSuccess;
}

static cudaError_t prepare_direct(tm_cuda *cuda, tm_launch *l)
{
    l->on_tensor_cores = l->group->fragments != NULL;
    tm_launch_fill(cuda, l);
    TRY(tm_buffer_fit(&cuda->candidates,
                      (size_t)tm_direct_blocks(&l->direct) * sizeof(tm_candidate)));
    l->direct.candidates = (tm_candidate *)cuda->candidates.data;
    return cudaSuccess;
}

/* The best candidates go to bests, those of one chunk after the other's. */
static cudaError_t run_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_candidate *bests)
{
    tm_launch l = {};
    tm_group *group;

    TRY(tm_fetch_group(cuda, jobs, count, &group));
    TRY(tm_place_map(cuda, jobs));
    l.group = group;
    l.metric = jobs->metric;
    l.by_fft = jobs->tiling != NULL;
    fill_direct(cuda, &l, jobs, tm_job_has_map(jobs) ? cuda->map.data : NULL, bests);
    if (l.by_fft) {
        l.fft.tiling = *jobs->tiling;
        TRY(prepare_fft(cuda, &l, group));
    } else {
        TRY(prepare_direct(cuda, &l));
    }
    if (jobs->peaks)
        TRY(tm_peaks_prepare(&cuda->peaks, &l.peaks, jobs, cuda->map.data, cuda->stream));
    TRY(tm_run_chunks(cuda, &l, jobs, bests));
    cuda->last = l;
    return cudaSuccess;
}

/* Of a group; what is taken apart has one for all chunks. */
static size_t best_count(const tm_cuda *cuda, const tm_job *jobs, size_t size)
{
    const tm_chunks chunks = tm_chunks_of(cuda, jobs);
    return tm_job_is_plain(jobs) ? size * (size_t)tm_chunks_count(&chunks) : size;
}

static cudaError_t run_groups(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    tm_candidate *bests = (tm_candidate *)cuda->bests.data;

    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        if (tm_job_is_plain(&jobs[i])) {
            TRY(tm_place_frame(cuda, &jobs[i]));
            TRY(run_group(cuda, jobs + i, size, bests));
        } else {
            TRY(tm_place_raw(cuda, &jobs[i]));
            TRY(tm_run_planes(cuda, &jobs[i], bests));
        }
        if (jobs[i].peaks)
            TRY(tm_peaks_fetch(&cuda->peaks, &cuda->last.peaks, jobs[i].peaks, cuda->stream));
        bests += best_count(cuda, jobs + i, size);
    }
    /* and so for all copies in, which kernels wait for */
    return cudaStreamWaitEvent(cuda->out, cuda->events[TM_EVENT_MATCHED], 0);
}

/* Ranks a group's chunks: their positions count from their own first rows. */
static void merge_chunks(const tm_cuda *cuda, tm_job *jobs, size_t size, const tm_candidate *bests)
{
    const tm_geometry *g = &jobs->geometry;
    const tm_chunks chunks = tm_chunks_of(cuda, jobs);

    for (size_t i = 0; i < size; i++)
        jobs[i].best = (tm_candidate)TM_NO_CANDIDATE;
    for (int64_t y = 0; y < g->map_height; y = tm_chunks_end(&chunks, y)) {
        for (size_t i = 0; i < size; i++) {
            tm_candidate best = *bests++;
            best.position += y * g->map_width;
            if (tm_candidate_beats(best, jobs[i].best))
                jobs[i].best = best;
        }
    }
}

cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    size_t bests = 0;

    cuda->last = (tm_launch){};
    cuda->bytes_in = cuda->bytes_out = 0;
    cuda->frame_rows = 0;
    cuda->raw_samples = NULL;
    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        bests += best_count(cuda, jobs + i, size);
    }
    TRY(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->in));
    TRY(fit_bests(cuda, bests));
    if (cuda->traits.tensor_cores && cuda->tensor_dirty)
        TRY(tm_tensor_reset(&cuda->tensor, cuda->stream));
    cuda->tensor_dirty = true;
    TRY(run_groups(cuda, jobs, count));
    TRY(cudaMemcpyAsync(cuda->pinned_bests, cuda->bests.data, bests * sizeof(tm_candidate),
                        cudaMemcpyDeviceToHost, cuda->out));
    TRY(cudaEventRecord(cuda->events[TM_EVENT_DONE], cuda->out));
    TRY(cudaStreamSynchronize(cuda->out));
    cuda->tensor_dirty = false;
    const tm_candidate *found = cuda->pinned_bests;
    for (size_t i = 0, size; i < count; i += size) {
        size = tm_group_size(jobs + i, count - i);
        if (tm_job_is_plain(&jobs[i]))
            merge_chunks(cuda, jobs + i, size, found);
        else
            jobs[i].best = *found;
        found += best_count(cuda, jobs + i, size);
    }
    return cudaSuccess;
}

static cudaError_t launch_whole(tm_cuda *cuda)
{
    TRY(cuda->last.planes_job.tmpl ? tm_launch_planes(cuda, &cuda->last)
                                   : tm_launch_once(cuda, &cuda->last));
    return cuda->last.peaks.map ? tm_peaks_launch(&cuda->last.peaks, cuda->stream) : cudaSuccess;
}

cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms)
{
    for (int i = 0; i < samples; i++) {
        float elapsed;
        TRY(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->stream));
        for (int j = 0; j < launches; j++)
            TRY(launch_whole(cuda));
        TRY(cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream));
        TRY(cudaEventSynchronize(cuda->events[TM_EVENT_MATCHED]));
        TRY(cudaEventElapsedTime(&elapsed, cuda->events[TM_EVENT_START],
                                 cuda->events[TM_EVENT_MATCHED]));
        ms[i] = (double)elapsed / launches;
    }
    return cudaSuccess;
}
