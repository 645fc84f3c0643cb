/* SPDX-License-Identifier: MIT */
/* Jobs of 8-bit gray whose templates have masks: one template, or several with one mask. */
#include "cuda/planes_run.cuh"
#include "integers.h"

/* The rows [first, end) of the map, whose best becomes the next candidate. */
static cudaError_t launch_one(void *context, int64_t first, int64_t end, int64_t frame_rows)
{
    tm_planes_job *run = (tm_planes_job *)context;
    tm_cuda *cuda = run->cuda;
    const tm_template *t = run->job->tmpl;
    tm_planes_score *band = &run->band;
    tm_group *groups[TM_MAX_PRODUCTS];
    tm_tensor_masked_job m = {};

    band->y = first;
    band->rows = end - first;
    (tm_device_windows &)m = tm_band_windows(run->job, band);
    TRY(tm_products_fetch(cuda, &run->products, run->wide, groups));
    TRY(tm_planes_split(run, frame_rows));
    if (run->wide)
        m.scratch = (uint4 *)cuda->correlations.data;
    const int64_t plane = band->planes.rows * (int64_t)band->planes.pitch;
    m.count = 1;
    m.low_squares = plane;
    m.high_squares = 2 * plane;
    m.first = first * band->map_width;
    m.n = (int)t->count;
    m.of_template = {(int)t->sum, band->variance};
    for (int i = 0; i < run->products.count; i++)
        (run->products.product[i].sum == TM_SUM_FT ? m.fragments : m.mask_fragments) =
            run->wide ? groups[i]->wide_fragments : groups[i]->fragments;
    m.best = band->candidates++;
    tm_launch_scratch(cuda, &m);
    return tm_tensor_launch_masked(&cuda->tensor, &m, cuda->stream);
}

/* Whether that is the best LCC of a frame of 8-bit gray without a mask. */
static bool is_one_masked(const tm_planes_job *run)
{
    const tm_plane_products *products = &run->products;
    const tm_job *job = run->job;
    return tm_mask_plane(job->tmpl) && products->channels == 1 && products->bytes == 1 && !products->z &&
           job->metric == TM_METRIC_LCC && !tm_job_has_map(job) && run->cuda->traits.tensor_cores && !job->tiling;
}

/* Brings what kernels for wide templates take. They read the templates' fragments while the frame is still split, so that these must
 * have been made before. */
static cudaError_t prepare_wide(tm_planes_job *run, tm_tensor_masked_job *job, tm_walk *walk)
{
    tm_group *groups[TM_MAX_PRODUCTS];
    const cudaError_t error = tm_products_fetch(run->cuda, &run->products, true, groups);

    if (error == cudaErrorMemoryAllocation) { // other kernels take less
        (void)cudaGetLastError();
        return cudaErrorNotSupported;
    }
    walk->most_rows = larger(TM_BAND_BYTES / (int64_t)(tm_tensor_masked_scratch(job) / job->map_height + 1) / 64 * 64, 64);
    job->map_height = smaller(job->map_height, walk->most_rows);
    return error == cudaSuccess ? tm_buffer_fit(&run->cuda->correlations, tm_tensor_masked_scratch(job)) : error;
}

/* What decides whether bounds are worth while. */
static tm_tensor_pixels_job bound_job_of(const tm_device_windows &windows)
{
    tm_tensor_pixels_job p = {};
    (tm_device_windows &)p = windows;
    p.count = 1;
    p.bytes = 1;
    return p;
}

/* All rows, where not all windows need be scored. */
static cudaError_t launch_bound(void *context, int64_t first, int64_t end, int64_t frame_rows)
{
    tm_planes_job *run = (tm_planes_job *)context;
    tm_planes_score *band = &run->band;
    tm_group *group;

    band->y = first;
    band->rows = end - first;
    tm_tensor_pixels_job p = bound_job_of(tm_band_windows(run->job, band));
    TRY(tm_fetch_bound(run->cuda, run->job, &group));
    TRY(tm_planes_split(run, frame_rows));
    p.bound_fragments = group->fragments;
    p.templates = group->table;
    p.best = band->candidates++;
    tm_launch_scratch(run->cuda, &p);
    return tm_tensor_launch_bound(&run->cuda->tensor, &p, run->cuda->stream);
}

static cudaError_t run_bound(tm_planes_job *run, const tm_walk *walk, tm_candidate *best)
{
    const int squares = run->products.squares;

    run->products.squares = 0; // their planes are of no use
    const cudaError_t error = tm_planes_run_in_registers(run, walk, launch_bound, best);
    run->products.squares = squares;
    run->rows = 0;
    return error;
}

/* Whether that may be. */
static cudaError_t ask_bound(const tm_planes_job *run, const tm_walk *walk, bool *may_be_bound)
{
    const tm_tensor_pixels_job whole = bound_job_of(tm_windows_of(&run->job->geometry));
    tm_group *group;

    *may_be_bound = tm_planes_may_be_bound(run, walk, &whole);
    if (!*may_be_bound)
        return cudaSuccess;
    TRY(tm_fetch_bound(run->cuda, run->job, &group));
    *may_be_bound = group->is_bounded;
    return cudaSuccess;
}

cudaError_t tm_planes_run_one_masked(tm_planes_job *run, const tm_walk *chunks, tm_candidate *best)
{
    bool may_be_bound;
    const tm_tensor_device *device = &run->cuda->tensor;
    tm_tensor_masked_job m = {};
    tm_walk walk = *chunks;

    (tm_device_windows &)m = tm_windows_of(&run->job->geometry);
    if (!is_one_masked(run) || !tm_tensor_takes_masked(device, &m))
        return cudaErrorNotSupported;
    TRY(ask_bound(run, chunks, &may_be_bound));
    if (may_be_bound)
        return run_bound(run, chunks, best);
    run->wide = tm_tensor_takes_wide_masked(device, &m);
    if (run->wide)
        TRY(prepare_wide(run, &m, &walk));
    return tm_planes_run_in_registers(run, &walk, launch_one, best);
}

typedef struct masked_run {
    tm_planes_job planes;
    const tm_job *jobs;
    size_t count;
    tm_candidate *bests;
} masked_run;

/* Leaves out the products with the templates themselves. */
static void keep_mask_sums(tm_plane_products *products)
{
    int kept = 0;
    for (int i = 0; i < products->count; i++) {
        if (products->product[i].sum != TM_SUM_FT)
            products->product[kept++] = products->product[i];
    }
    products->count = kept;
}

/* Brings the templates' sums over the pixels that count. */
static cudaError_t bring_masked_table(tm_cuda *cuda, const tm_job *jobs, size_t count)
{
    tm_tensor_template table[TM_GROUP_MAX];

    for (size_t i = 0; i < count; i++) {
        const tm_template *t = jobs[i].tmpl;
        table[i] = (tm_tensor_template){(int)t->sum, (float)(t->count * t->sum_sq - t->sum * t->sum)};
    }
    TRY(tm_buffer_fit(&cuda->masked, sizeof table));
    return TM_CALL(cudaMemcpyAsync(cuda->masked.data, table, count * sizeof *table, cudaMemcpyHostToDevice,
                                   cuda->stream));
}

/* The group of the templates' samples, with 0 where pixels do not count. */
static cudaError_t fetch_masked_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **group)
{
    tm_job plain[TM_GROUP_MAX] = {};

    for (size_t i = 0; i < count; i++) {
        plain[i].metric = TM_METRIC_LCC;
        plain[i].tmpl = jobs[i].tmpl->planes[0];
        plain[i].geometry = jobs[i].geometry;
    }
    return tm_fetch_group(cuda, plain, count, group);
}

/* All of the map at once, when all of the frame is there. */
static cudaError_t launch_masked(void *context, int64_t, int64_t end, int64_t frame_rows)
{
    masked_run *run = (masked_run *)context;
    tm_planes_job *planes = &run->planes;
    tm_cuda *cuda = planes->cuda;
    tm_planes_score *band = &planes->band;
    tm_group *group;

    TRY(tm_planes_split(planes, frame_rows));
    if (end < planes->job->geometry.map_height)
        return cudaSuccess;
    TRY(tm_products_run(cuda, planes->job, &planes->products, &planes->plan, band));
    TRY(bring_masked_table(cuda, run->jobs, run->count));
    TRY(fetch_masked_group(cuda, run->jobs, run->count, &group));
    const tm_tensor_masked masked = {band->only[TM_SUM_F], band->only[TM_SUM_FF], band->stride,
                                     (int)planes->job->tmpl->count};
    tm_tensor_job t = {};
    (tm_device_windows &)t = tm_band_windows(planes->job, band);
    t.count = (int)run->count;
    t.fragments = group->fragments;
    t.templates = (const tm_tensor_template *)cuda->masked.data;
    t.best = run->bests;
    t.masked = &masked;
    tm_launch_scratch(cuda, &t);
    return tm_tensor_launch(&cuda->tensor, &t, cuda->stream);
}

cudaError_t tm_planes_run_masked(tm_cuda *cuda, const tm_job *jobs, size_t count, const tm_walk *walk,
                                 tm_candidate *bests)
{
    const tm_geometry *g = &jobs->geometry;
    masked_run run = {};
    tm_planes_job *planes = &run.planes;
    tm_planes_score *band = &planes->band;

    planes->cuda = cuda;
    planes->job = jobs;
    planes->scored = jobs->tmpl;
    run.jobs = jobs, run.count = count, run.bests = bests;
    tm_plane_products_make(&planes->products, jobs, tm_mask_plane(jobs->tmpl));
    keep_mask_sums(&planes->products);
    planes->plan = tm_products_plan_make(jobs, &planes->products, TM_PRODUCTS_MERGED);
    *band = tm_planes_band(planes, NULL);
    band->stride = (g->map_width + 3) / 4 * 4;
    band->rows = g->map_height;
    const int64_t bytes = band->stride * band->rows * planes->plan.maps * 4;
    if (!cuda->traits.tensor_cores || jobs->tmpl->n > TM_TENSOR_TAPS || bytes > TM_BAND_BYTES ||
        !tm_tensor_shares_mask(&cuda->tensor, g, (int)count))
        return cudaErrorNotSupported;
    TRY(tm_planes_prepare(planes));
    band->planes = planes->planes;
    TRY(tm_buffer_fit(&cuda->correlations, (size_t)bytes));
    return tm_walk_chunks(cuda, jobs, walk, launch_masked, &run);
}
