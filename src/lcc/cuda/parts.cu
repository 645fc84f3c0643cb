/* SPDX-License-Identifier: MIT */
/* A match other than of 8-bit gray: the frame is split, each term is correlated by
 * whichever kernel takes it, and the sums are put together, band by band. */
#include <stdlib.h>
#include <string.h>

#include "lcc/cuda/context.cuh"

#define BAND_BYTES ((int64_t)512 << 20) /* of correlations at a time */

static size_t row_bytes(const tm_image *frame)
{
    return (size_t)(frame->width * tm_image_channels(frame) * tm_sample_size(frame->type));
}

tm_raw_frame tm_raw_frame_of(const tm_cuda *cuda, const tm_image *frame)
{
    const uint8_t *samples = (const uint8_t *)cuda->raw.data;
    return (tm_raw_frame){samples,
                          samples + row_bytes(frame) * (size_t)frame->height,
                          frame->width,
                          frame->height,
                          tm_image_channels(frame),
                          (int)tm_sample_size(frame->type)};
}

cudaError_t tm_place_parts(tm_cuda *cuda, const tm_job *job)
{
    const tm_image *frame = &job->frame;
    const size_t row = row_bytes(frame), samples = row * (size_t)frame->height;
    const size_t mask = frame->mask ? (size_t)(frame->width * frame->height) : 0;

    TRY(tm_buffer_fit(&cuda->raw, samples + mask));
    uint8_t *to = (uint8_t *)cuda->raw.data;
    TRY(tm_upload(cuda, to, row, frame->samples, frame->stride, row, frame->height));
    const size_t width = (size_t)frame->width;
    if (mask)
        TRY(tm_upload(cuda, to + samples, width, frame->mask, frame->mask_stride, width,
                      frame->height));
    return tm_await_upload(cuda);
}

static cudaError_t split(tm_cuda *cuda, const tm_job *job, const tm_parts *parts,
                         tm_device_planes *planes)
{
    const tm_layout l = tm_layout_of(&job->geometry);
    const size_t size = (size_t)parts->planes * (size_t)l.rows * l.pitch;
    const tm_raw_frame raw = tm_raw_frame_of(cuda, &job->frame);

    if (!tm_layout_equal(&l, &cuda->planes_layout) || parts->planes > cuda->planes_count) {
        cuda->planes_layout = (tm_layout){};
        TRY(tm_buffer_fit(&cuda->planes, size));
        TRY(cudaMemsetAsync(cuda->planes.data, 0, size, cuda->stream));
        cuda->planes_layout = l;
        cuda->planes_count = parts->planes;
    }
    *planes = (tm_device_planes){(uint8_t *)cuda->planes.data, l.pitch, l.rows, l.pad_x, l.pad_y};
    return tm_split_launch(&raw, planes, parts, cuda->hint, cuda->stream);
}

static tm_combine combine_of(const tm_cuda *cuda, const tm_job *job, const tm_parts *parts,
                             const tm_device_planes *planes, void *map)
{
    tm_combine c = {};
    for (int i = 0; i < TM_SUMS; i++)
        c.sliding[i] = parts->sliding[i];
    c.skips = parts->needed[TM_SUM_TOUCHED];
    c.scorer = tm_scorer_make(job->tmpl, job->metric);
    c.n = (uint32_t)c.scorer.n;
    for (int i = 0; i < c.scorer.channels; i++)
        c.minus_s_t[i] = (int)(uint32_t)-c.scorer.s_t[i];
    c.planes = *planes;
    c.channels = parts->channels;
    c.bytes = parts->bytes;
    c.z_plane = parts->planes - 1;
    c.width = (int)job->tmpl->width;
    c.height = (int)job->tmpl->height;
    c.map_width = job->geometry.map_width;
    c.map = map;
    c.hint = map || job->metric != TM_METRIC_LCC || c.scorer.wide ? NULL : cuda->hint;
    c.variance = c.scorer.norm / TM_SCORE_SCALE;
    c.multiprocessors = cuda->traits.multiprocessors;
    return c;
}

static cudaError_t run_bands(tm_cuda *cuda, const tm_job *job, const tm_parts *parts,
                             const tm_device_planes *planes, tm_terms_way way, void *map,
                             tm_candidate *best)
{
    const tm_terms_plan plan = tm_terms_plan_make(job, parts, way);
    const bool narrow = way != TM_TERMS_WIDE;
    const tm_geometry *g = &job->geometry;
    tm_combine c = combine_of(cuda, job, parts, planes, map);
    c.stride = narrow ? (g->map_width + 3) / 4 * 4 : g->map_width;
    const int64_t row = c.stride * plan.maps * (narrow ? 4 : 8);
    int64_t most = BAND_BYTES / row, count = 0;

    most = job->tiling ? g->map_height : most < 64 ? 64 : most; /* tiles are not cut */
    most = most < g->map_height ? most : g->map_height;
    for (int64_t y = 0; y < g->map_height; y += most) {
        c.rows = most < g->map_height - y ? most : g->map_height - y;
        count += tm_combine_blocks(&c);
    }
    TRY(tm_buffer_fit(&cuda->terms, (size_t)(most * row)));
    TRY(tm_buffer_fit(&cuda->found, (size_t)count * sizeof(tm_candidate)));
    count = 0;
    for (; c.y < g->map_height; c.y += most) {
        c.rows = most < g->map_height - c.y ? most : g->map_height - c.y;
        c.candidates = (tm_candidate *)cuda->found.data + count;
        TRY(tm_run_terms(cuda, job, parts, &plan, &c));
        TRY(tm_combine_launch(&c, cuda->stream));
        count += tm_combine_blocks(&c);
    }
    return tm_reduce_launch((tm_candidate *)cuda->found.data, count, cuda->reduced, best,
                            cuda->stream);
}

/* The template's mask; for one without, over which sums cannot slide, one of all
 * pixels, which is kept. */
static cudaError_t find_mask(tm_cuda *cuda, const tm_job *job, const tm_template **mask)
{
    const tm_template *t = job->tmpl;
    const tm_scorer scorer = tm_scorer_make(t, job->metric);

    *mask = tm_mask_plane(t);
    if (*mask || tm_combine_can_slide(&scorer, (int)tm_sample_size(t->type), job->frame.mask != NULL,
                                      (int)t->width,
                                      cuda->tensor.shared_memory))
        return cudaSuccess;
    if (!cuda->ones || cuda->ones->width != t->width || cuda->ones->height != t->height) {
        uint8_t *ones = (uint8_t *)malloc((size_t)t->n);
        tm_image image = {};
        tm_template_destroy(&cuda->ones);
        if (!ones)
            return cudaErrorMemoryAllocation;
        memset(ones, 1, (size_t)t->n);
        image.samples = ones;
        image.width = t->width;
        image.height = t->height;
        image.stride = (ptrdiff_t)t->width;
        const tm_status status = tm_template_prepare(&cuda->ones, &image);
        free(ones);
        if (status != TM_OK)
            return cudaErrorMemoryAllocation;
    }
    *mask = cuda->ones;
    return cudaSuccess;
}

/* All that the device does once the frame is there. */
static cudaError_t launch(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    const tm_template *mask;
    tm_device_planes planes;
    cudaError_t error = cudaErrorNotSupported;
    tm_parts parts;

    if (tm_job_is_real(job))
        return tm_launch_real(cuda, job, best);
    TRY(find_mask(cuda, job, &mask));
    tm_parts_make(&parts, job, mask);
    TRY(split(cuda, job, &parts, &planes));
    void *map = tm_job_has_map(job) ? cuda->map.data : NULL;
    if (cuda->traits.tensor_cores && job->tmpl->n <= TM_TENSOR_TAPS && !job->tiling) {
        error = run_bands(cuda, job, &parts, &planes, TM_TERMS_MERGED, map, best);
        if (error == cudaErrorNotSupported)
            error = run_bands(cuda, job, &parts, &planes, TM_TERMS_NARROW, map, best);
    }
    if (error == cudaErrorNotSupported)
        error = run_bands(cuda, job, &parts, &planes, TM_TERMS_WIDE, map, best);
    return error;
}

cudaError_t tm_launch_parts(tm_cuda *cuda, const tm_launch *l)
{
    return launch(cuda, &l->parts, l->best);
}

cudaError_t tm_run_parts(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    TRY(tm_place_map(cuda, job));
    if (tm_job_is_real(job))
        TRY(tm_place_taps(cuda, job));
    TRY(launch(cuda, job, best));
    cuda->last = (tm_launch){};
    cuda->last.parts = *job;
    cuda->last.best = best;
    if (job->peaks) {
        TRY(tm_peaks_prepare(&cuda->peaks, &cuda->last.peaks, job, cuda->map.data, cuda->stream));
        TRY(tm_peaks_launch(&cuda->last.peaks, cuda->stream));
    }
    TRY(tm_note_matched(cuda));
    if (!job->map.data)
        return cudaSuccess;
    TRY(cudaEventRecord(cuda->computed[0], cuda->stream));
    TRY(cudaStreamWaitEvent(cuda->out, cuda->computed[0], 0));
    return tm_download_rows(cuda, job, 0, job->geometry.map_height);
}
