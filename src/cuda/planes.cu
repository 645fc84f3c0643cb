/* SPDX-License-Identifier: MIT */
#include "cuda/planes.cuh"

#include <stdlib.h>
#include <string.h>

#include "cuda/planes_run.cuh"
#include "cuda/run.cuh"
#include "integers.h"

cudaError_t tm_planes_prepare(tm_planes_job *run)
{
    tm_cuda *cuda = run->cuda;
    const tm_layout l = tm_layout_of(&run->job->geometry);
    const int count = run->products.planes;
    const size_t size = (size_t)count * (size_t)l.rows * l.pitch;

    if (!tm_layout_equal(&l, &cuda->planes_layout) || count > cuda->planes_count) {
        cuda->planes_layout = (tm_layout){};
        TRY(tm_buffer_fit(&cuda->planes, size));
        TRY_CUDA(cudaMemsetAsync(cuda->planes.data, 0, size, cuda->stream));
        cuda->planes_layout = l;
        cuda->planes_count = count;
        cuda->planes_early = tm_planes_can_be_early();
    }
    run->planes =
        (tm_device_planes){(uint8_t *)cuda->planes.data, l.pitch, l.rows, l.pad_x, l.pad_y};
    return cudaSuccess;
}

cudaError_t tm_planes_split(tm_planes_job *run, int64_t rows)
{
    tm_cuda *cuda = run->cuda;

    if (run->rows >= rows)
        return cudaSuccess;
    const tm_raw_frame raw = tm_raw_rows(cuda, &run->job->frame, run->rows, rows);
    tm_device_planes planes = run->planes;
    planes.pad_y += run->rows;
    TRY(tm_split_launch(&raw, &planes, &run->products, run->rows ? NULL : cuda->planes_found,
                        cuda->planes_early, cuda->stream));
    run->rows = rows;
    return cudaSuccess;
}

tm_planes_score tm_planes_band(const tm_planes_job *run, void *map)
{
    const tm_cuda *cuda = run->cuda;
    const tm_job *job = run->job;
    const tm_plane_products *products = &run->products;
    tm_planes_score band = {};
    for (int i = 0; i < TM_SUMS; i++)
        band.sliding[i] = products->sliding[i];
    band.skips = products->needed[TM_SUM_TOUCHED];
    band.scorer = tm_scorer_make(run->scored, job->metric);
    band.n = (uint32_t)band.scorer.n;
    for (int i = 0; i < band.scorer.channels; i++)
        band.minus_s_t[i] = (int)(uint32_t)-band.scorer.s_t[i];
    band.planes = run->planes;
    band.channels = products->channels;
    band.bytes = products->bytes;
    band.z_plane = products->planes - 1;
    band.width = (int)job->tmpl->width;
    band.height = (int)job->tmpl->height;
    band.map_width = job->geometry.map_width;
    band.map = map;
    band.running_best =
        map || job->metric != TM_METRIC_LCC || band.scorer.int128 ? NULL : &cuda->planes_found->best;
    band.variance = band.scorer.norm / TM_SCORE_SCALE;
    band.multiprocessors = cuda->traits.multiprocessors;
    band.early = cuda->planes_early;
    return band;
}

cudaError_t tm_list_prepare(tm_planes_job *run, tm_planes_found *found, double sine)
{
    tm_cuda *cuda = run->cuda;
    const cudaError_t error = tm_buffer_fit(&cuda->listed, TM_PLANES_LISTED * sizeof(tm_listed));

    if (error == cudaErrorMemoryAllocation) {
        (void)cudaGetLastError();
        return cudaErrorNotSupported; /* another way may need less */
    }
    TRY(error);
    TRY(tm_buffer_fit(&cuda->found, (size_t)tm_listed_blocks(cuda->traits.multiprocessors) * sizeof(tm_candidate)));
    run->band.list = {(tm_listed *)cuda->listed.data, found, tm_rounding_of(sine)};
    return cudaSuccess;
}

bool tm_planes_rests(const tm_planes_job *run, tm_rest *rest)
{
    tm_cuda *cuda = run->cuda;

    if (cuda->all_windows && run->job->scored == TM_TOO_MANY) {
        tm_rest_longer(rest);
        tm_buffer_free(&cuda->listed); /* which other ways do without */
    }
    if (cuda->all_windows || cuda->last.all_windows)
        return true;
    return cuda->last.again ? rest->frames > 0 : !tm_rest_is_over(rest);
}

static cudaError_t launch_band(void *context, int64_t first, int64_t end, int64_t frame_rows)
{
    tm_planes_job *run = (tm_planes_job *)context;
    tm_cuda *cuda = run->cuda;
    tm_planes_score *band = &run->band;

    TRY(tm_planes_split(run, frame_rows));
    band->y = first;
    band->rows = end - first;
    band->candidates = (tm_candidate *)cuda->found.data + run->candidates;
    TRY(tm_products_run(cuda, run->job, &run->products, &run->plan, band));
    TRY(tm_planes_score_launch(band, cuda->stream));
    run->candidates += tm_planes_score_blocks(band);
    return cudaSuccess;
}

cudaError_t tm_planes_run_bands(tm_planes_job *run, const tm_walk *chunks, tm_products_way way, tm_candidate *best)
{
    tm_cuda *cuda = run->cuda;
    const tm_job *job = run->job;
    const tm_geometry *g = &job->geometry;
    const bool narrow = way != TM_PRODUCTS_64_BITS;
    tm_planes_score *band = &run->band;
    tm_walk walk = *chunks;
    int64_t rows = 0, count = 0;

    run->plan = tm_products_plan_make(job, &run->products, way);
    run->candidates = 0;
    *band = tm_planes_band(run, tm_job_has_map(job) ? cuda->map.data : NULL);
    band->maps = run->plan.maps;
    band->stride = narrow ? (g->map_width + 3) / 4 * 4 : g->map_width;
    const int64_t row = band->stride * run->plan.maps * (narrow ? 4 : 8);
    if (tm_planes_rounded(run)) {
        TRY(tm_list_prepare(run, cuda->planes_found, run->job->tmpl->rounded_sine));
        if (!tm_planes_can_list(band))
            return cudaErrorNotSupported;
    }
    if (!job->tiling) /* an FFT's tiles are made whole */
        walk.most_rows = larger(TM_BAND_BYTES / row, 64);
    for (int64_t first = 0, end; first < g->map_height; first = end) {
        end = tm_walk_end(&walk, first);
        band->rows = end - first;
        rows = larger(rows, band->rows);
        count += tm_planes_score_blocks(band);
    }
    TRY(tm_buffer_fit(&cuda->correlations, (size_t)(rows * row)));
    TRY(tm_buffer_fit(&cuda->found, (size_t)count * sizeof(tm_candidate)));
    TRY(tm_walk_chunks(cuda, job, &walk, launch_band, run));
    if (band->list.of)
        return tm_rounded_finish(run, false, best);
    return tm_reduce_launch((tm_candidate *)cuda->found.data, run->candidates, cuda->reduced, best,
                            band->early, cuda->stream);
}

/* The template's mask. Where the template has none and is too wide for the kernel that sums
 * windows, a mask of all pixels makes those sums products; it is kept. */
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

cudaError_t tm_planes_run_in_registers(tm_planes_job *run, const tm_walk *walk, tm_chunk_launcher *launch, tm_candidate *best)
{
    tm_cuda *cuda = run->cuda;
    int64_t count = 0;

    run->band = tm_planes_band(run, NULL);
    if (tm_planes_rounded(run)) {
        TRY(tm_list_prepare(run, cuda->pixels_found, run->job->tmpl->rounded_sine));
        TRY(tm_walk_chunks(cuda, run->job, walk, launch, run));
        return tm_rounded_finish(run, true, best);
    }
    for (int64_t first = 0; first < run->job->geometry.map_height; first = tm_walk_end(walk, first))
        count++;
    TRY(tm_buffer_fit(&cuda->found, (size_t)count * sizeof(tm_candidate)));
    run->band.candidates = count == 1 ? best : (tm_candidate *)cuda->found.data;
    TRY(tm_walk_chunks(cuda, run->job, walk, launch, run));
    return count == 1 ? cudaSuccess
                      : tm_reduce_launch((tm_candidate *)cuda->found.data, count, cuda->reduced, best, run->band.early, cuda->stream);
}

static cudaError_t run_merged(tm_planes_job *run, const tm_walk *walk, tm_candidate *best)
{
    return tm_planes_run_bands(run, walk, TM_PRODUCTS_MERGED, best);
}

/* Whether a rounded template saves more than its list takes, as measured on an H100: two products of four, and the scores' way
 * through their maps. */
static bool rounding_pays(const tm_cuda *cuda, const tm_job *job)
{
    const tm_geometry *g = &job->geometry;
    const double windows = (double)g->map_width * (double)g->map_height, map_us = 1.5e-6, list_us = 4;
    const double four = tm_tensor_wide_steps_us(&cuda->tensor, g, 4), two = tm_tensor_wide_steps_us(&cuda->tensor, g, 2);

    return four > 0 ? four - two + map_us * windows > list_us : windows * (double)job->tmpl->n >= 6e8;
}

cudaError_t tm_planes_run(tm_cuda *cuda, const tm_job *job, const tm_walk *walk, tm_candidate *best)
{
    const tm_template *mask;
    cudaError_t error = cudaErrorNotSupported;
    tm_planes_job run = {};

    run.cuda = cuda;
    run.job = job;
    run.scored = job->tmpl;
    TRY(find_mask(cuda, job, &mask));
    tm_plane_products_make(&run.products, job, mask);
    error = tm_planes_run_pixels(&run, walk, best);
    if (error != cudaErrorNotSupported)
        return error;
    TRY(tm_planes_prepare(&run));
    error = tm_planes_run_bound(&run, walk, best);
    if (error == cudaErrorNotSupported)
        error = tm_planes_run_one_masked(&run, walk, best);
    if (error == cudaErrorNotSupported)
        error = tm_planes_run_rounded(&run, walk, job->tmpl->rounded && rounding_pays(cuda, job), run_merged, best);
    if (error == cudaErrorNotSupported && cuda->traits.tensor_cores && job->tmpl->n <= TM_TENSOR_TAPS && !job->tiling) {
        error = run_merged(&run, walk, best);
        if (error == cudaErrorNotSupported)
            error = tm_planes_run_bands(&run, walk, TM_PRODUCTS_32_BITS, best);
    }
    if (error == cudaErrorNotSupported)
        error = tm_planes_run_bands(&run, walk, TM_PRODUCTS_64_BITS, best);
    return error;
}
