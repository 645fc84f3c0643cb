/* SPDX-License-Identifier: MIT */
/* A match other than of 8-bit gray: the frame is brought and split, each term is
 * correlated by whichever kernel takes it, and the sums are put together, band by band. */
#include <stdlib.h>
#include <string.h>

#include "integers.h"
#include "cuda/context.cuh"

#define BAND_BYTES ((int64_t)512 << 20) /* of correlations at a time */

/* The job's planes, as far as its frame's rows have been split so far. */
typedef struct source {
    const tm_job *job;
    const tm_passage *passage;
    tm_plane_products products;
    tm_device_planes planes;
    int64_t rows;
} source;

static cudaError_t place_planes(tm_cuda *cuda, source *s)
{
    const tm_layout l = tm_layout_of(&s->job->geometry);
    const size_t size = (size_t)s->products.planes * (size_t)l.rows * l.pitch;

    if (!tm_layout_equal(&l, &cuda->planes_layout) || s->products.planes > cuda->planes_count) {
        cuda->planes_layout = (tm_layout){};
        TRY(tm_buffer_fit(&cuda->planes, size));
        TRY(cudaMemsetAsync(cuda->planes.data, 0, size, cuda->stream));
        cuda->planes_layout = l;
        cuda->planes_count = s->products.planes;
    }
    s->planes = (tm_device_planes){(uint8_t *)cuda->planes.data, l.pitch, l.rows, l.pad_x, l.pad_y};
    return cudaSuccess;
}

static cudaError_t bring_planes(tm_cuda *cuda, source *s, int64_t rows)
{
    if (s->rows >= rows)
        return cudaSuccess;
    TRY(tm_bring_raw(cuda, s->job, rows));
    const tm_raw_frame raw = tm_raw_rows(cuda, &s->job->frame, s->rows, rows);
    tm_device_planes planes = s->planes;
    planes.pad_y += s->rows;
    TRY(tm_split_launch(&raw, &planes, &s->products, s->rows ? NULL : cuda->running_best,
                        cuda->stream));
    s->rows = rows;
    return cudaSuccess;
}

static tm_planes_score combine_of(const tm_cuda *cuda, const source *s, void *map)
{
    const tm_job *job = s->job;
    const tm_plane_products *products = &s->products;
    tm_planes_score c = {};
    for (int i = 0; i < TM_SUMS; i++)
        c.sliding[i] = products->sliding[i];
    c.skips = products->needed[TM_SUM_TOUCHED];
    c.scorer = tm_scorer_make(job->tmpl, job->metric);
    c.n = (uint32_t)c.scorer.n;
    for (int i = 0; i < c.scorer.channels; i++)
        c.minus_s_t[i] = (int)(uint32_t)-c.scorer.s_t[i];
    c.planes = s->planes;
    c.channels = products->channels;
    c.bytes = products->bytes;
    c.z_plane = products->planes - 1;
    c.width = (int)job->tmpl->width;
    c.height = (int)job->tmpl->height;
    c.map_width = job->geometry.map_width;
    c.map = map;
    c.running_best =
        map || job->metric != TM_METRIC_LCC || c.scorer.wide ? NULL : cuda->running_best;
    c.variance = c.scorer.norm / TM_SCORE_SCALE;
    c.multiprocessors = cuda->traits.multiprocessors;
    return c;
}

/* A chunk, or as much of one as there is room for. */
static int64_t band_end(const tm_chunks *chunks, int64_t first, int64_t most)
{
    return smaller(tm_chunks_end(chunks, first), first + most);
}

static cudaError_t run_bands(tm_cuda *cuda, source *s, tm_products_way way, void *map,
                             tm_candidate *best)
{
    const tm_job *job = s->job;
    const tm_chunks *chunks = &s->passage->chunks;
    const tm_products_plan plan = tm_products_plan_make(job, &s->products, way);
    const bool narrow = way != TM_PRODUCTS_64_BITS;
    const tm_geometry *g = &job->geometry;
    tm_planes_score c = combine_of(cuda, s, map);
    c.stride = narrow ? (g->map_width + 3) / 4 * 4 : g->map_width;
    const int64_t row = c.stride * plan.maps * (narrow ? 4 : 8);
    const int64_t most = job->tiling ? g->map_height /* tiles are not cut */
                                     : larger(BAND_BYTES / row, 64);
    int64_t rows = 0, count = 0;

    for (int64_t y = 0; y < g->map_height; y += c.rows) {
        c.rows = band_end(chunks, y, most) - y;
        rows = larger(rows, c.rows);
        count += tm_planes_score_blocks(&c);
    }
    TRY(tm_buffer_fit(&cuda->correlations, (size_t)(rows * row)));
    TRY(tm_buffer_fit(&cuda->found, (size_t)count * sizeof(tm_candidate)));
    count = 0;
    for (; c.y < g->map_height; c.y += c.rows) {
        const int64_t end = band_end(chunks, c.y, most);
        TRY(bring_planes(cuda, s, tm_chunks_needed(chunks, end)));
        c.rows = end - c.y;
        c.candidates = (tm_candidate *)cuda->found.data + count;
        TRY(tm_run_products(cuda, job, &s->products, &plan, &c));
        TRY(tm_planes_score_launch(&c, cuda->stream));
        count += tm_planes_score_blocks(&c);
        if (s->passage->back)
            TRY(tm_bring_back(cuda, job, c.y, end));
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
    if (*mask || tm_window_sums_fit(&scorer, (int)tm_sample_size(t->type), job->frame.mask != NULL,
                                    (int)t->width, cuda->tensor.shared_memory))
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

static cudaError_t launch(tm_cuda *cuda, const tm_job *job, const tm_passage *passage,
                          tm_candidate *best)
{
    const tm_template *mask;
    cudaError_t error = cudaErrorNotSupported;
    source s = {job, passage, {}, {}, 0};

    if (tm_job_is_f32(job))
        return tm_launch_f32(cuda, job, passage, best);
    TRY(find_mask(cuda, job, &mask));
    tm_plane_products_make(&s.products, job, mask);
    TRY(place_planes(cuda, &s));
    void *map = tm_job_has_map(job) ? cuda->map.data : NULL;
    if (cuda->traits.tensor_cores && job->tmpl->n <= TM_TENSOR_TAPS && !job->tiling) {
        error = run_bands(cuda, &s, TM_PRODUCTS_MERGED, map, best);
        if (error == cudaErrorNotSupported)
            error = run_bands(cuda, &s, TM_PRODUCTS_32_BITS, map, best);
    }
    if (error == cudaErrorNotSupported)
        error = run_bands(cuda, &s, TM_PRODUCTS_64_BITS, map, best);
    return error;
}

/* With the frame there, and no copies between the kernels. */
cudaError_t tm_launch_planes(tm_cuda *cuda, const tm_launch *l)
{
    const tm_passage passage = {tm_chunks_make(&l->planes_job, false, 0), false};
    return launch(cuda, &l->planes_job, &passage, l->best);
}

cudaError_t tm_run_planes(tm_cuda *cuda, const tm_job *job, tm_candidate *best)
{
    const bool staged = tm_map_is_staged(job);
    const tm_passage passage = {tm_chunks_of(cuda, job), job->map.data && !staged};

    TRY(tm_place_map(cuda, job));
    if (tm_job_is_f32(job))
        TRY(tm_place_taps(cuda, job));
    TRY(launch(cuda, job, &passage, best));
    cuda->last = (tm_launch){};
    cuda->last.planes_job = *job;
    cuda->last.best = best;
    if (job->peaks) {
        TRY(tm_peaks_prepare(&cuda->peaks, &cuda->last.peaks, job, cuda->map.data, cuda->stream));
        TRY(tm_peaks_launch(&cuda->last.peaks, cuda->stream));
    }
    TRY(tm_note_matched(cuda));
    return staged ? tm_bring_back(cuda, job, 0, job->geometry.map_height) : cudaSuccess;
}
