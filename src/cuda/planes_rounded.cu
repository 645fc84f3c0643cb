/* SPDX-License-Identifier: MIT */
/* Jobs of 16-bit gray whose template is rounded to 8 bits for all windows: see lcc/rounded.h. */
#include "cuda/on_device.cuh"
#include "cuda/planes_run.cuh"
#include "cuda/run.cuh"
#include "lcc/cuda/planes/limits.h"
#include "lcc/metrics.h"

/* Whether such a job can be run so; its products are still those of the template itself. */
static bool takes(const tm_planes_job *run, bool pays)
{
    const tm_job *job = run->job;
    const tm_template *t = job->tmpl;

    return t->rounded && t->rounded_sine <= TM_ROUNDED_MOST_SINE && job->metric == TM_METRIC_LCC && !tm_job_has_map(job) &&
           job->geometry.map_width * job->geometry.map_height <= UINT32_MAX && !run->products.z &&
           run->products.sliding[TM_SUM_FF] && !job->tiling && !tm_is_async(job) && !tm_scorer_make(t, job->metric).int128 && run->cuda->traits.tensor_cores && t->n <= TM_TENSOR_TAPS &&
           (pays || run->cuda->tensor.always_wide);
}

/* The products of the frame's low and high bytes with the rounded template. */
static void set_products(tm_plane_products *products, const tm_template *rounded)
{
    products->count = 0;
    for (int byte = 0; byte < 2; byte++)
        products->product[products->count++] = {byte, rounded, TM_SUM_FT, 8 * byte};
}

cudaError_t tm_rounded_finish(tm_planes_job *run, bool pixels, tm_candidate *best)
{
    tm_cuda *cuda = run->cuda;
    const tm_job *job = run->job;
    const tm_planes_list list = run->band.list;
    tm_planes_score *band = &run->band;
    tm_group *groups[TM_MAX_PRODUCTS];
    tm_plane_products exact;

    tm_plane_products_make(&exact, job, NULL);
    TRY(tm_products_fetch(cuda, &exact, false, groups));
    run->scored = job->tmpl;
    *band = tm_planes_band(run, NULL);
    band->list = list;
    band->candidates = (tm_candidate *)cuda->found.data;
    if (pixels) {
        band->planes.data = (uint8_t *)tm_raw_rows(cuda, &job->frame, 0, job->frame.height).samples;
        band->planes.pitch = (size_t)tm_image_row_bytes(&job->frame);
    }
    return tm_listed_launch(band, pixels, groups[0]->taps, groups[exact.count - 1]->taps, best, cuda->stream);
}

cudaError_t tm_rounded_reset(tm_cuda *cuda)
{
    static const tm_planes_found nothing = TM_NOTHING_FOUND;
    return TM_CALL(cudaMemcpyAsync(cuda->pixels_found, &nothing, sizeof nothing, cudaMemcpyHostToDevice, cuda->stream));
}

static cudaError_t ask(tm_planes_job *run, bool *rests)
{
    tm_group *groups[TM_MAX_PRODUCTS];

    TRY(tm_products_fetch(run->cuda, &run->products, false, groups));
    *rests = tm_planes_rests(run, &groups[0]->rest);
    return cudaSuccess;
}

/* Forgets the rounded template's scores, if there are any, so that the frame can be matched in another way. */
static cudaError_t forget(tm_planes_job *run)
{
    run->rows = 0; /* it is split again, and then nothing has been found */
    TRY(tm_rounded_reset(run->cuda));
    return cudaErrorNotSupported;
}

cudaError_t tm_planes_run_rounded(tm_planes_job *run, const tm_walk *walk, bool pays, tm_planes_way *way, tm_candidate *best)
{
    const tm_plane_products exact = run->products;
    bool rests = false;

    if (!takes(run, pays))
        return cudaErrorNotSupported;
    run->scored = run->job->tmpl->rounded;
    set_products(&run->products, run->scored);
    cudaError_t error = ask(run, &rests);
    if (error == cudaSuccess && !rests)
        error = way(run, walk, best);
    run->products = exact;
    run->scored = run->job->tmpl;
    if (error == cudaErrorNotSupported)
        return forget(run);
    return error == cudaSuccess && rests ? cudaErrorNotSupported : error;
}
