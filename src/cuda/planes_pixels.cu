/* SPDX-License-Identifier: MIT */
/* Jobs of RGB of 8 bits or of gray of 16 whose scores are made from the pixels as they came: one small template, no mask. */
#include "cuda/planes_run.cuh"
#include "integers.h"

/* The job for the rows [first, end) of the map, without what is prepared for it on the device. */
static tm_tensor_pixels_job job_of(const tm_planes_job *run, int64_t first, int64_t end)
{
    const tm_job *job = run->job;
    tm_tensor_pixels_job p = {};

    (tm_device_windows &)p = tm_windows_of(&job->geometry);
    p.pitch = (size_t)tm_image_row_bytes(&job->frame);
    p.map_height = end - first;
    p.count = 1;
    p.bytes = run->products.channels * run->products.bytes;
    p.frame_rows = p.map_height + p.height - 1;
    p.first = first * p.map_width;
    return p;
}

/* The same with the frame's rows, which are there, and what the score needs of the template. */
static tm_tensor_pixels_job job_in(const tm_planes_job *run, int64_t first, int64_t end)
{
    const tm_planes_score *band = &run->band;
    tm_tensor_pixels_job p = job_of(run, first, end);

    p.frame = tm_raw_rows(run->cuda, &run->job->frame, first, first + p.frame_rows).samples;
    for (int i = 0; i < band->scorer.channels; i++)
        p.minus_sum[i] = band->minus_s_t[i];
    p.n = (int)band->scorer.n;
    p.variance = band->variance;
    tm_launch_scratch(run->cuda, &p);
    return p;
}

/* Those rows, whose best becomes the next candidate. */
static cudaError_t launch_pixels(void *context, int64_t first, int64_t end, int64_t)
{
    tm_planes_job *run = (tm_planes_job *)context;
    tm_cuda *cuda = run->cuda;
    const tm_template *t = run->job->tmpl;
    const tm_planes_score *band = &run->band;
    tm_tensor_pixels_job p = job_in(run, first, end);
    tm_group *groups[TM_MAX_PRODUCTS];

    TRY(tm_products_fetch(cuda, &run->products, false, groups));
    if (tm_planes_rounded(run))
        p.plane_fragments[0] = groups[0]->fragments;
    for (int i = 0; i < run->products.count; i++) {
        for (int plane = 0; plane < t->plane_count; plane++) {
            if (run->products.product[i].taps == t->planes[plane])
                p.plane_fragments[plane] = groups[i]->fragments;
        }
    }
    if (tm_planes_rounded(run)) {
        p.rounded = band->list;
        p.running_bests = &band->list.found->best;
    } else {
        p.best = run->band.candidates++;
    }
    return tm_tensor_launch_pixels(&cuda->tensor, &p, cuda->stream);
}

/* Whether that is the best LCC in such a frame without a mask, in which all windows lie. Without padding they need not: that of an even
 * template is less on the left, and a part of a frame has none between it and the others. */
static bool takes(const tm_planes_job *run)
{
    const tm_plane_products *products = &run->products;
    const tm_job *job = run->job;
    const tm_geometry *g = &job->geometry;

    if (!((products->channels == 3 && products->bytes == 1) || (products->channels == 1 && products->bytes == 2)) ||
        tm_mask_plane(job->tmpl) || products->z || job->metric != TM_METRIC_LCC || tm_job_has_map(job) || g->pad_x || g->pad_y ||
        g->map_width != g->frame_width - g->template_width + 1 || g->map_height != g->frame_height - g->template_height + 1 ||
        !run->cuda->traits.tensor_cores || job->tiling)
        return false;
    const tm_tensor_pixels_job whole = job_of(run, 0, g->map_height);
    return tm_tensor_takes_pixels(&run->cuda->tensor, &whole);
}

static cudaError_t run_pixels(tm_planes_job *run, const tm_walk *walk, tm_candidate *best)
{
    return tm_planes_run_in_registers(run, walk, launch_pixels, best);
}

/* How many bits the samples of a frame have, and at least the template's: what is known of frames before; else as many as cameras have, which
 * is an even number. */
static int bits_of(const tm_cuda *cuda, const tm_template *t)
{
    const uint16_t *samples = (const uint16_t *)(const void *)t->samples;
    int all = 0, bits = 0;

    for (int64_t i = 0; i < t->n; i++)
        all |= samples[i];
    while (all >> bits)
        bits++;
    return cuda->pixel_bits ? (int)larger(bits, cuda->pixel_bits) : bits + bits % 2;
}

/* All rows, where not all windows need be scored. */
static cudaError_t launch_bound(void *context, int64_t first, int64_t end, int64_t)
{
    tm_planes_job *run = (tm_planes_job *)context;
    tm_tensor_pixels_job p = job_in(run, first, end);
    tm_group *group;

    TRY(tm_fetch_bound(run->cuda, run->job, &group));
    p.bound_fragments = group->fragments;
    if (p.bytes == 2) {
        run->cuda->taken_bits = (int)larger(bits_of(run->cuda, run->job->tmpl), 8);
        p.low_bits = run->cuda->taken_bits - 8;
    }
    p.best = run->band.candidates++;
    return tm_tensor_launch_bound(&run->cuda->tensor, &p, run->cuda->stream);
}

bool tm_planes_may_be_bound(const tm_planes_job *run, const tm_walk *walk, const tm_tensor_pixels_job *whole)
{
    return tm_walk_end(walk, 0) == whole->map_height && tm_tensor_takes_bound(&run->cuda->tensor, whole) && tm_may_leave_out(run->cuda, run->job);
}

/* Whether a rounded template saves more than its list takes, as measured on an H100: a row of any template is a product of 25
 * columns. */
static bool rounding_pays(const tm_job *job)
{
    return job->geometry.map_width * job->geometry.map_height >= 6000000;
}

cudaError_t tm_planes_run_pixels(tm_planes_job *run, const tm_walk *walk, tm_candidate *best)
{
    if (!takes(run))
        return cudaErrorNotSupported;
    const tm_tensor_pixels_job whole = job_of(run, 0, run->job->geometry.map_height);
    if (tm_planes_may_be_bound(run, walk, &whole))
        return tm_planes_run_in_registers(run, walk, launch_bound, best);
    const cudaError_t error = tm_planes_run_rounded(run, walk, rounding_pays(run->job), run_pixels, best);
    return error == cudaErrorNotSupported ? run_pixels(run, walk, best) : error;
}
