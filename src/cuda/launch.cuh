/* SPDX-License-Identifier: MIT */
/* One launch: a group's templates over a padded plane of 8 bits on the device, by whichever
 * algorithm takes them. */
#ifndef TMATCH_CUDA_LAUNCH_CUH
#define TMATCH_CUDA_LAUNCH_CUH

#include "cuda/cache.cuh"

/* Made by tm_launch_of. The caller adds the plane's rows, the windows and the map of job, and
 * where the best candidates go; tm_launch_prepare the rest. */
typedef struct tm_launch {
    tm_group *group; /* NULL: none */
    tm_metric metric;
    bool by_fft;
    bool certified; /* windows are left out: not to be cut by tm_launch_rows */
    bool may_leave_out; /* the best of all windows may be TM_NO_CANDIDATE, and is not known */
    bool on_tensor_cores; /* until they refuse; the caller may forbid them */
    int64_t plane_rows;   /* that can be read, from job.frame on */
    tm_device_job job;    /* for the group's first template */
    tm_fft_job fft;
    tm_tensor_job tensor;
    tm_certified_reaching reaching; /* where certified */
    const tm_job *asked; /* where certified: the group's jobs, while they are matched for the first time, or NULL */
} tm_launch;

/* Whether the best LCC may be found without a score of each window: not where the result stays on the device, nor in some frames after one in
 * which too many were left, of which this is counted as one. */
bool tm_may_leave_out(tm_cuda *cuda, const tm_job *job);

tm_launch tm_launch_of(tm_group *group, tm_metric metric);

/* The memory of the launch and what its algorithm prepares. tiling: by FFT; NULL: directly. */
cudaError_t tm_launch_prepare(tm_cuda *cuda, tm_launch *launch, const tm_fft_tiling *tiling);

/* The prepared launch for rows [first, end) of its map alone; by FFT, whole rows of tiles, and all rows where imaginary
 * parts lie below the real ones. */
tm_launch tm_launch_rows(const tm_cuda *cuda, const tm_launch *whole, int64_t first, int64_t end,
                         tm_candidate *best);

/* Can be repeated. */
cudaError_t tm_launch_start(tm_cuda *cuda, tm_launch *launch);

/* Gives a job on the tensor cores the device's scratch. */
void tm_launch_scratch(const tm_cuda *cuda, tm_tensor_job *job);

/* The sums S_FT of one template, as 32 bits, on the tensor cores alone: needs no preparation.
 * cudaErrorNotSupported: nothing was launched. stride: elements between the map's rows. */
cudaError_t tm_launch_sums(tm_cuda *cuda, const tm_launch *launch, uint32_t *map, int64_t stride);

#endif
