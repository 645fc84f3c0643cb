/* SPDX-License-Identifier: MIT */
/* Jobs of 16-bit gray whose template is rounded to 8 bits for all windows: see lcc/rounded.h. */
#include "cuda/on_device.cuh"
#include "cuda/planes_run.cuh"
#include "lcc/metrics.h"

/* Beyond it a score that few windows reach leaves too many. */
#define MOST_SINE 0.03

/* Millions of multiply-adds that it must save: what the rest takes longer, as measured on an H100. */
#define LEAST_PRODUCTS 1200

/* Whether such a job can be run so; its products are still those of the template itself. */
static bool takes(const tm_planes_job *run)
{
    const tm_job *job = run->job;
    const tm_template *t = job->tmpl;
    const tm_geometry *g = &job->geometry;
    const double products = (double)g->map_width * g->map_height * t->n;

    return t->rounded && t->rounded_sine <= MOST_SINE && job->metric == TM_METRIC_LCC && !tm_job_has_map(job) && !job->peaks &&
           !run->products.z && run->products.sliding[TM_SUM_FF] && !job->tiling && !tm_is_async(job) &&
           !tm_scorer_make(t, job->metric).int128 && run->cuda->traits.tensor_cores && t->n <= TM_TENSOR_TAPS &&
           (products >= LEAST_PRODUCTS * 1e6 || run->cuda->tensor.always_wide);
}

/* The products of the frame's low and high bytes with the rounded template. */
static void set_products(tm_plane_products *products, const tm_template *rounded)
{
    products->count = 0;
    for (int byte = 0; byte < 2; byte++)
        products->product[products->count++] = {byte, rounded, TM_SUM_FT, 8 * byte};
}

cudaError_t tm_rounded_prepare(tm_planes_job *run)
{
    tm_cuda *cuda = run->cuda;
    tm_planes_list *list = &run->band.list;

    TRY(tm_buffer_fit(&cuda->listed, TM_PLANES_LISTED * sizeof(tm_candidate)));
    TRY(tm_buffer_fit(&cuda->found, (size_t)tm_listed_blocks(cuda->traits.multiprocessors) * sizeof(tm_candidate)));
    *list = {(tm_candidate *)cuda->listed.data, cuda->planes_found, tm_rounding_of(run->job->tmpl->rounded_sine)};
    return tm_planes_can_list(&run->band) ? cudaSuccess : cudaErrorNotSupported;
}

cudaError_t tm_rounded_finish(tm_planes_job *run, tm_candidate *best)
{
    tm_cuda *cuda = run->cuda;
    const tm_job *job = run->job;
    const tm_planes_list list = run->band.list;
    tm_group *groups[TM_MAX_PRODUCTS];
    tm_plane_products exact;

    tm_plane_products_make(&exact, job, NULL);
    TRY(tm_products_fetch(cuda, &exact, false, groups));
    run->scored = job->tmpl;
    run->band = tm_planes_band(run, NULL);
    run->band.list = list;
    run->band.candidates = (tm_candidate *)cuda->found.data;
    return tm_listed_launch(&run->band, groups[0]->taps, groups[exact.count - 1]->taps, best, cuda->stream);
}

/* Whether the next frame is matched so: not after one that left too many windows, nor that one again. */
static cudaError_t ask(tm_planes_job *run, bool *pays)
{
    tm_group *groups[TM_MAX_PRODUCTS];

    TRY(tm_products_fetch(run->cuda, &run->products, false, groups));
    if (run->cuda->all_windows)
        tm_rest_longer(&groups[0]->rest);
    *pays = !run->cuda->all_windows && tm_rest_is_over(&groups[0]->rest);
    return cudaSuccess;
}

cudaError_t tm_planes_run_rounded(tm_planes_job *run, const tm_walk *walk, tm_candidate *best)
{
    const tm_plane_products exact = run->products;
    bool pays = false;

    if (!takes(run))
        return cudaErrorNotSupported;
    run->scored = run->job->tmpl->rounded;
    set_products(&run->products, run->scored);
    cudaError_t error = ask(run, &pays);
    if (error == cudaSuccess)
        error = pays ? tm_planes_run_bands(run, walk, TM_PRODUCTS_MERGED, best) : cudaErrorNotSupported;
    if (error == cudaErrorNotSupported)
        run->rows = 0; /* scores so far are the rounded template's: they are forgotten when the frame is split again */
    run->products = exact;
    run->scored = run->job->tmpl;
    return error;
}
