/* SPDX-License-Identifier: MIT */
/* For planes.cu and its likes: a job whose frame is split into planes, on its way. */
#ifndef TMATCH_CUDA_PLANES_RUN_CUH
#define TMATCH_CUDA_PLANES_RUN_CUH

#include "cuda/context.cuh"
#include "cuda/planes.cuh"
#include "cuda/products.cuh"

#define TM_BAND_BYTES ((int64_t)512 << 20) /* of products */

typedef struct tm_planes_job {
    tm_cuda *cuda;
    const tm_job *job;
    const tm_template *scored; /* the job's, or that one rounded */
    tm_plane_products products;
    tm_device_planes planes;
    int64_t rows; /* of the frame that have been split so far */
    bool wide;    /* one template with a mask, by kernels for wide ones */
    tm_products_plan plan;
    tm_planes_score band; /* the running one */
    int64_t candidates;   /* that the bands before it write */
} tm_planes_job;

/* Makes room for the planes. */
cudaError_t tm_planes_prepare(tm_planes_job *run);

/* Splits so many of the frame's first rows, which are there, unless they have been split. */
cudaError_t tm_planes_split(tm_planes_job *run, int64_t rows);

/* A band without its rows and its products. */
tm_planes_score tm_planes_band(const tm_planes_job *run, void *map);

/* Runs a job whose scores are made in registers, by a launcher that writes the best of each of the walk's chunks to the next
 * of the band's candidates. */
cudaError_t tm_planes_run_in_registers(tm_planes_job *run, const tm_walk *walk, tm_chunk_launcher *launch, tm_candidate *best);

/* Runs a job whose products of planes become maps. cudaErrorNotSupported: no score was made, and another way can be taken. */
cudaError_t tm_planes_run_bands(tm_planes_job *run, const tm_walk *walk, tm_products_way way, tm_candidate *best);

/* Runs a job in one of these ways with the template rounded to 8 bits: half of the products, where few windows are left to be
 * scored with the template itself. *best is TM_TOO_MANY_LEFT where that was wrong. pays: whether it saves more than the list
 * takes. cudaErrorNotSupported: no score was made. */
typedef cudaError_t tm_planes_way(tm_planes_job *run, const tm_walk *walk, tm_candidate *best);
cudaError_t tm_planes_run_rounded(tm_planes_job *run, const tm_walk *walk, bool pays, tm_planes_way *way, tm_candidate *best);

/* For such a way: whether the template is rounded; and after all bands, of planes or of pixels as they came, the best. */
static inline bool tm_planes_rounded(const tm_planes_job *run)
{
    return run->scored != run->job->tmpl;
}
cudaError_t tm_rounded_finish(tm_planes_job *run, bool pixels, tm_candidate *best);

/* What lists need, in the running band: sine is that of the angle between the template and what scores in its place. */
cudaError_t tm_list_prepare(tm_planes_job *run, tm_planes_found *found, double sine);

/* Whether this frame is not matched so: after one that left too many windows, and that one again. */
bool tm_planes_rests(const tm_planes_job *run, tm_rest *rest);

/* Such jobs: planes_bound.cu's, of which not all windows are scored; planes_masked.cu's, whose template has a mask, and planes_pixels.cu's, which need no planes.
 * cudaErrorNotSupported: no score was made, and another way can be taken. */
cudaError_t tm_planes_run_bound(tm_planes_job *run, const tm_walk *walk, tm_candidate *best);
cudaError_t tm_planes_run_one_masked(tm_planes_job *run, const tm_walk *walk, tm_candidate *best);
cudaError_t tm_planes_run_pixels(tm_planes_job *run, const tm_walk *walk, tm_candidate *best);

/* Whether such a job of the whole map need not have all windows scored. The kernels of chunks end before the next chunk is there. */
bool tm_planes_may_be_bound(const tm_planes_job *run, const tm_walk *walk, const tm_tensor_pixels_job *whole);

#endif
