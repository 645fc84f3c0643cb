/* SPDX-License-Identifier: MIT */
/* The way of one frame and its templates through the device. */
#include "lcc/cuda/context.cuh"

/* From the padded frame to the best candidate, all on the device. */
static cudaError_t launch(tm_cuda *cuda, const tm_device_job *device, tm_metric metric)
{
    TRY(tm_direct_launch(device, metric, cuda->stream));
    return tm_reduce_launch(device->candidates, tm_direct_blocks(device), cuda->reduced,
                            device->best, cuda->stream);
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

static cudaError_t run_job(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    const tm_geometry *g = &job->geometry;
    tm_cached_template *tmpl;

    TRY(tm_fetch_template(cuda, job->tmpl, &tmpl));
    if (job->map.data)
        TRY(tm_buffer_fit(&cuda->map, (size_t)(g->map_width * g->map_height) *
                                          tm_map_element_size(job->metric)));
    tm_device_job device = {};
    device.frame = (const uint8_t *)cuda->frame.data;
    device.pitch = cuda->layout.pitch;
    device.map_width = g->map_width;
    device.map_height = g->map_height;
    device.taps = tmpl->taps;
    device.width = (int)job->tmpl->width;
    device.height = (int)job->tmpl->height;
    device.n = job->tmpl->n;
    device.sum = job->tmpl->sum;
    device.variance = (float)job->tmpl->variance;
    device.map = job->map.data ? cuda->map.data : NULL;
    device.best = best;

    TRY(tm_buffer_fit(&cuda->candidates, (size_t)tm_direct_blocks(&device) * sizeof(tm_candidate)));
    device.candidates = (tm_candidate *)cuda->candidates.data;
    TRY(launch(cuda, &device, job->metric));
    cuda->last = device;
    cuda->last_metric = job->metric;
    return cudaSuccess;
}

cudaError_t tm_run(tm_cuda *cuda, tm_job *jobs, size_t count)
{
    cuda->last.frame = NULL;
    TRY(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->stream));
    TRY(fit_bests(cuda, count));
    tm_candidate *bests = (tm_candidate *)cuda->bests.data;
    for (size_t i = 0; i < count; i++) {
        TRY(tm_place_frame(cuda, &jobs[i], i == 0));
        if (i == 0)
            TRY(cudaEventRecord(cuda->events[TM_EVENT_ON_DEVICE], cuda->stream));
        TRY(run_job(cuda, &jobs[i], &bests[i]));
        TRY(cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream));
        if (jobs[i].map.data)
            TRY(tm_download_map(cuda, &jobs[i]));
    }
    TRY(cudaMemcpyAsync(cuda->pinned_bests, bests, count * sizeof *bests, cudaMemcpyDeviceToHost,
                        cuda->stream));
    TRY(cudaEventRecord(cuda->events[TM_EVENT_DONE], cuda->stream));
    TRY(cudaStreamSynchronize(cuda->stream));
    for (size_t i = 0; i < count; i++)
        jobs[i].best = cuda->pinned_bests[i];
    return cudaSuccess;
}

cudaError_t tm_replay(tm_cuda *cuda, int samples, int launches, double *ms)
{
    for (int i = 0; i < samples; i++) {
        float elapsed;
        TRY(cudaEventRecord(cuda->events[TM_EVENT_START], cuda->stream));
        for (int j = 0; j < launches; j++)
            TRY(launch(cuda, &cuda->last, cuda->last_metric));
        TRY(cudaEventRecord(cuda->events[TM_EVENT_MATCHED], cuda->stream));
        TRY(cudaEventSynchronize(cuda->events[TM_EVENT_MATCHED]));
        TRY(cudaEventElapsedTime(&elapsed, cuda->events[TM_EVENT_START],
                                 cuda->events[TM_EVENT_MATCHED]));
        ms[i] = (double)elapsed / launches;
    }
    return cudaSuccess;
}
