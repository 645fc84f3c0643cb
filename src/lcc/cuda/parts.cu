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

static tm_raw_frame raw_frame(const tm_cuda *cuda, const tm_image *frame)
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
    TRY(cudaEventRecord(cuda->uploaded, cuda->in));
    return cudaStreamWaitEvent(cuda->stream, cuda->uploaded, 0);
}

static cudaError_t split(tm_cuda *cuda, const tm_job *job, const tm_parts *parts,
                         tm_device_planes *planes)
{
    const tm_layout l = tm_layout_of(&job->geometry);
    const size_t size = (size_t)parts->planes * (size_t)l.rows * l.pitch;
    const tm_raw_frame raw = raw_frame(cuda, &job->frame);

    if (!tm_layout_equal(&l, &cuda->planes_layout) || parts->planes > cuda->planes_count) {
        cuda->planes_layout = (tm_layout){};
        TRY(tm_buffer_fit(&cuda->planes, size));
        TRY(cudaMemsetAsync(cuda->planes.data, 0, size, cuda->stream));
        cuda->planes_layout = l;
        cuda->planes_count = parts->planes;
    }
    *planes = (tm_device_planes){(uint8_t *)cuda->planes.data, l.pitch, l.rows, l.pad_x, l.pad_y};
    return tm_split_launch(&raw, planes, parts, cuda->stream);
}

/* One correlation over a band of rows. */
static cudaError_t run_term(tm_cuda *cuda, const tm_job *job, const tm_term *term,
                            const tm_combine *band, bool narrow, void *map)
{
    const tm_device_planes *planes = &band->planes;
    tm_job plain = {};
    tm_group *group;

    plain.tmpl = term->taps;
    plain.tiling = job->tiling;
    TRY(tm_fetch_group(cuda, &plain, 1, &group));
    tm_device_job direct = {};
    direct.frame = planes->data + (term->plane * planes->rows + band->y) * (int64_t)planes->pitch;
    direct.pitch = planes->pitch;
    direct.map_width = band->map_width;
    direct.map_height = band->rows;
    direct.taps = group->taps;
    direct.width = (int)job->tmpl->width;
    direct.height = (int)job->tmpl->height;
    direct.map = map;
    if (job->tiling) {
        tm_fft_job fft = {};
        fft.job = direct;
        fft.job.sum = term->taps->sum;
        fft.frame_rows = planes->rows;
        fft.metric = TM_METRIC_CCORR;
        fft.tiling = *job->tiling;
        tm_make_room_for_spectrum(cuda, group, tm_fft_spectrum_bytes(&fft.tiling));
        TRY(tm_fft_prepare(&cuda->fft, &fft, &group->spectrum, cuda->stream));
        TRY(tm_buffer_fit(&cuda->candidates,
                          (size_t)tm_fft_candidates(&fft) * sizeof(tm_candidate)));
        fft.job.candidates = (tm_candidate *)cuda->candidates.data;
        return tm_fft_launch(&fft, cuda->stream);
    }
    if (!narrow) {
        TRY(tm_buffer_fit(&cuda->candidates,
                          (size_t)tm_direct_blocks(&direct) * sizeof(tm_candidate)));
        direct.candidates = (tm_candidate *)cuda->candidates.data;
        return tm_direct_launch(&direct, TM_METRIC_CCORR, cuda->stream);
    }
    tm_tensor_job tensor = {};
    tensor.outcome = TM_TENSOR_SUMS;
    tensor.frame = direct.frame;
    tensor.pitch = direct.pitch;
    tensor.map_width = direct.map_width;
    tensor.map_height = direct.map_height;
    tensor.width = direct.width;
    tensor.height = direct.height;
    tensor.count = 1;
    tensor.fragments = group->fragments;
    tensor.sums = (tm_tensor_sums){NULL, (uint32_t *)map, band->stride};
    return tm_tensor_launch(&cuda->tensor, tensor, cuda->stream);
}

static tm_combine combine_of(const tm_job *job, const tm_parts *parts,
                             const tm_device_planes *planes, void *map)
{
    tm_combine c = {};
    for (int i = 0; i < TM_SUMS; i++)
        c.sliding[i] = parts->sliding[i];
    c.skips = parts->needed[TM_SUM_TOUCHED];
    c.scorer = tm_scorer_make(job->tmpl, job->metric);
    c.planes = *planes;
    c.channels = parts->channels;
    c.bytes = parts->bytes;
    c.z_plane = parts->planes - 1;
    c.width = (int)job->tmpl->width;
    c.height = (int)job->tmpl->height;
    c.map_width = job->geometry.map_width;
    c.map = map;
    return c;
}

/* Correlates a band, by sum, and puts it together. */
static cudaError_t run_band(tm_cuda *cuda, const tm_job *job, const tm_parts *parts, bool narrow,
                            tm_combine *c)
{
    const size_t size = (size_t)(c->stride * c->rows) * (narrow ? 4 : 8);
    int count = 0;

    for (int sum = 0; sum < TM_SUMS; sum++) {
        c->first[sum] = count;
        for (int i = 0; i < parts->terms; i++) {
            const tm_term *term = &parts->term[i];
            if (term->sum != sum)
                continue;
            void *map = (uint8_t *)cuda->terms.data + (size_t)count * size;
            c->term[count++] = narrow ? (tm_device_term){(const uint32_t *)map, NULL, term->shift}
                                      : (tm_device_term){NULL, (const int64_t *)map, term->shift};
            TRY(run_term(cuda, job, term, c, narrow, map));
        }
    }
    c->first[TM_SUMS] = count;
    return tm_combine_launch(c, cuda->stream);
}

/* narrow: the terms' maps have 32 bits, modulo which their sums are exact. */
static cudaError_t run_bands(tm_cuda *cuda, const tm_job *job, const tm_parts *parts,
                             const tm_device_planes *planes, bool narrow, void *map,
                             tm_candidate *best)
{
    const tm_geometry *g = &job->geometry;
    tm_combine c = combine_of(job, parts, planes, map);
    c.stride = narrow ? (g->map_width + 3) / 4 * 4 : g->map_width;
    const int64_t row = c.stride * parts->terms * (narrow ? 4 : 8);
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
        TRY(run_band(cuda, job, parts, narrow, &c));
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
    if (*mask || tm_combine_can_slide(&scorer, job->frame.mask != NULL, (int)t->width,
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

    TRY(find_mask(cuda, job, &mask));
    tm_parts_make(&parts, job, mask);
    TRY(split(cuda, job, &parts, &planes));
    void *map = tm_job_has_map(job) ? cuda->map.data : NULL;
    if (cuda->traits.tensor_cores && job->tmpl->n <= TM_TENSOR_TAPS && !job->tiling)
        error = run_bands(cuda, job, &parts, &planes, true, map, best);
    if (error == cudaErrorNotSupported)
        error = run_bands(cuda, job, &parts, &planes, false, map, best);
    return error;
}

cudaError_t tm_launch_parts(tm_cuda *cuda, const tm_launch *l)
{
    return launch(cuda, &l->parts, l->best);
}

cudaError_t tm_run_parts(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    TRY(tm_place_map(cuda, job));
    TRY(launch(cuda, job, best));
    cuda->last = (tm_launch){};
    cuda->last.parts = *job;
    cuda->last.best = best;
    if (job->peaks) {
        TRY(tm_peaks_prepare(&cuda->peaks, &cuda->last.peaks, job, cuda->map.data, cuda->stream));
        TRY(tm_peaks_launch(&cuda->last.peaks, cuda->stream));
    }
    if (!job->map.data)
        return cudaSuccess;
    TRY(cudaEventRecord(cuda->computed[0], cuda->stream));
    TRY(cudaStreamWaitEvent(cuda->out, cuda->computed[0], 0));
    return tm_download_rows(cuda, job, 0, job->geometry.map_height);
}
