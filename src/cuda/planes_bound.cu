/* SPDX-License-Identifier: MIT */
/* Jobs of 8 bits, in colour or under the template's mask, of which not all windows are scored: their products with the template's
 * direction (lcc/direction.h) say which need be. */
#include "cuda/on_device.cuh"
#include "cuda/planes_run.cuh"
#include "integers.h"
#include "lcc/cuda/planes/bound.cuh"

/* Whether it saves more than patches and lists take, as measured on an H200: under a mask always, as of four products one is left; in colour where
 * not most multiprocessors have nothing to do. */
static bool pays(const tm_planes_job *run, const tm_geometry *g)
{
    const int64_t tiles = ceil_div(g->map_width, TM_TALL_TILE_WIDTH) * ceil_div(g->map_height, TM_TALL_TILE_HEIGHT);
    return run->products.channels == 1 || 3 * tiles > run->cuda->traits.multiprocessors || run->cuda->tensor.always_wide;
}

/* Whether such a job can be run so, if its template has a direction. */
static bool takes(const tm_planes_job *run, const tm_walk *walk)
{
    const tm_job *job = run->job;
    const tm_geometry *g = &job->geometry;
    const tm_plane_products *products = &run->products;
    tm_tensor_steps steps = {};

    (tm_device_windows &)steps = tm_windows_of(g);
    steps.count = products->channels;
    return products->bytes == 1 && !products->z && job->metric == TM_METRIC_LCC && !tm_job_has_map(job) && !job->tiling && !tm_is_async(job) &&
           !tm_scorer_make(job->tmpl, job->metric).int128 && g->map_width * g->map_height <= UINT32_MAX &&
           tm_patches_down(steps) <= TM_MOST_GRID_ROWS && tm_walk_end(walk, 0) == g->map_height &&
           tm_tensor_takes_tops(&run->cuda->tensor, &steps) && pays(run, g);
}

/* The products with the direction's bytes. */
static void set_products(tm_plane_products *products, const tm_direction *direction)
{
    products->count = 0;
    products->squares = 0; // their planes are of no use
    for (int channel = 0; channel < direction->channels; channel++)
        products->product[products->count++] = {channel, direction->bytes[channel], TM_SUM_FT, 0};
}

/* Gives it its memory: tops, patches and cells. */
static cudaError_t fit(tm_cuda *cuda, tm_planes_bound *bound)
{
    const tm_device_windows &w = bound->windows;
    int64_t rows;

    tm_tensor_tops_size(&w, &bound->tops_stride, &rows);
    const size_t tops = (size_t)(bound->tops_stride * rows) * sizeof *bound->tops;
    const size_t patches = (size_t)round_up(bound->channels * tm_patches_across(w) * tm_patches_down(w) * (int64_t)sizeof *bound->patches, 256);
    TRY(tm_buffer_fit(&cuda->correlations, tops + patches + (size_t)(tm_cells_across(w) * tm_cells_down(w)) * sizeof *bound->cells));
    uint8_t *memory = (uint8_t *)cuda->correlations.data;
    bound->tops = (int32_t *)memory;
    bound->patches = (tm_patch *)(memory + tops);
    bound->cells = (tm_cell *)(memory + tops + patches);
    return cudaSuccess;
}

static cudaError_t launch_tops(tm_planes_job *run, const tm_planes_bound *bound, tm_group *const groups[])
{
    tm_tensor_steps steps = {};

    (tm_device_windows &)steps = bound->windows;
    steps.stride = bound->tops_stride;
    steps.count = bound->channels;
    for (int i = 0; i < steps.count; i++) {
        steps.step[i].plane = i * bound->plane;
        steps.step[i].wide = groups[i]->wide_fragments;
    }
    steps.step[steps.count - 1].map = (uint32_t *)bound->tops;
    return tm_tensor_launch_tops(&run->cuda->tensor, &steps, run->cuda->stream);
}

typedef struct bound_run {
    tm_planes_job *planes;
    tm_group *group; // of the template, with its direction
} bound_run;

/* All rows. */
static cudaError_t launch_all(void *context, int64_t first, int64_t end, int64_t frame_rows)
{
    const bound_run *own = (const bound_run *)context;
    tm_planes_job *run = own->planes;
    const tm_direction *direction = own->group->direction;
    tm_cuda *cuda = run->cuda;
    tm_planes_score *band = &run->band;
    tm_group *groups[TM_MAX_PRODUCTS];
    tm_planes_bound bound = {};

    band->y = first;
    band->rows = end - first;
    TRY(tm_products_fetch(cuda, &run->products, true, groups));
    TRY(tm_planes_split(run, frame_rows));
    bound.windows = tm_band_windows(run->job, band);
    bound.plane = band->planes.rows * (int64_t)band->planes.pitch;
    bound.channels = direction->channels;
    bound.length = direction->length;
    bound.core = direction->core;
    bound.list = band->list;
    bound.early = band->early;
    TRY(fit(cuda, &bound));
    TRY(launch_tops(run, &bound, groups));
    TRY(tm_patches_launch(&bound, cuda->stream));
    return tm_planes_bound_launch(&bound, cuda->stream);
}

static cudaError_t run_all(tm_planes_job *run, tm_group *group, const tm_walk *walk, tm_candidate *best)
{
    tm_cuda *cuda = run->cuda;
    const tm_template *t = run->job->tmpl;
    tm_planes_score *band = &run->band;
    bound_run own = {run, group};

    *band = tm_planes_band(run, NULL);
    TRY(tm_list_prepare(run, cuda->planes_found, group->direction->sine));
    TRY(tm_walk_chunks(cuda, run->job, walk, launch_all, &own));
    band->candidates = (tm_candidate *)cuda->found.data;
    return tm_listed_8_launch(band, group->taps, t->mask ? group->taps + t->n * t->channels : NULL, best, cuda->stream);
}

cudaError_t tm_planes_run_bound(tm_planes_job *run, const tm_walk *walk, tm_candidate *best)
{
    const tm_plane_products exact = run->products;
    tm_group *group = NULL;

    if (!takes(run, walk))
        return cudaErrorNotSupported;
    cudaError_t error = tm_fetch_direction(run->cuda, run->job, &group);
    if (error == cudaSuccess) {
        if (!group->direction || tm_planes_rests(run, &group->rest))
            return cudaErrorNotSupported;
        set_products(&run->products, group->direction);
        group->held = true; // while its direction's bytes are brought
        error = run_all(run, group, walk, best);
        group->held = false;
        run->products = exact;
    }
    if (error != cudaErrorMemoryAllocation && error != cudaErrorNotSupported)
        return error;
    (void)cudaGetLastError(); // another way may need less
    tm_buffer_free(&run->cuda->listed);
    if (group)
        tm_rest_longer(&group->rest);
    run->rows = 0; // the frame is split again, and then nothing has been found
    return cudaErrorNotSupported;
}
