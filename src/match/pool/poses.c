/* SPDX-License-Identifier: MIT */
/* Certified search in poses by a pool of one device, in the calling thread. */
#include "clock.h"
#include "match/pool/private.h"

const char *tm_pool_poses_fault(const tm_pool *pool)
{
    return pool->count > 1         ? "several CUDA devices share the poses"
           : pool->timeout_ms > 0 ? "the time of a CUDA device's calls is limited"
           : tm_pool_is_inherited(pool) || !pool->devices->device ? "the CUDA device is not open"
           : !pool->backend->match_poses ||
                   !pool->backend->traits(pool->devices->device).certified
               ? "the CUDA device has no kernels for it"
               : NULL;
}

tm_status tm_pool_match_poses(tm_pool *pool, tm_pose_search *search, tm_work *work, tm_message *message)
{
    tm_pool_device *d = pool->devices;
    const double start = clock_ms();

    *work = (tm_work){0};
    const tm_status status = pool->backend->match_poses(d->device, search, work, message);
    d->report = (tm_device_report){.index = d->index,
                                   .rows = search->frame->height,
                                   .busy_ms = clock_ms() - start,
                                   .bytes_to_device = work->bytes_to_device,
                                   .bytes_from_device = work->bytes_from_device};
    return status;
}
