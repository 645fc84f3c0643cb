/* SPDX-License-Identifier: MIT */
/* Certified search in poses by a pool of one device, in the calling thread. */
#include "clock.h"
#include "lcc/pose_large_device.h"
#include "match/pool/private.h"

const char *tm_pool_poses_fault(const tm_pool *pool, bool helps)
{
    return pool->count > 1         ? "several CUDA devices share the poses"
           : pool->timeout_ms > 0 ? "the time of a CUDA device's calls is limited"
           : tm_pool_is_inherited(pool) || !pool->devices->device ? "the CUDA device is not open"
           : helps ? NULL
           : !pool->backend->match_poses || !tm_pool_poses_traits(pool).certified
               ? "the CUDA device has no kernels for it"
               : NULL;
}

tm_device_traits tm_pool_poses_traits(const tm_pool *pool)
{
    const bool open = !tm_pool_is_inherited(pool) && pool->devices->device;
    return open ? pool->backend->traits(pool->devices->device) : (tm_device_traits){0};
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

bool tm_pool_looks_at_large(const tm_pool *pool)
{
    return pool->backend->look_at_large && pool->backend->list_large && pool->backend->sum_large;
}

/* Adds what a part of a call took to the device's report. */
static void add_to_report(tm_pool_device *d, double start, const tm_work *work)
{
    d->report.busy_ms += clock_ms() - start;
    d->report.bytes_to_device += work->bytes_to_device;
    d->report.bytes_from_device += work->bytes_from_device;
}

tm_status tm_pool_look_at_large(tm_pool *pool, const tm_large_look *look, tm_message *message)
{
    tm_pool_device *d = pool->devices;
    const double start = clock_ms();
    tm_work work = {0};

    const tm_status status = pool->backend->look_at_large(d->device, look, &work, message);
    if (look->frame)
        d->report = (tm_device_report){.index = d->index, .rows = look->frame->height};
    add_to_report(d, start, &work);
    return status;
}

tm_status tm_pool_list_large(tm_pool *pool, tm_large_list *list, tm_message *message)
{
    const double start = clock_ms();
    tm_work work = {0};

    const tm_status status = pool->backend->list_large(pool->devices->device, list, &work, message);
    add_to_report(pool->devices, start, &work);
    return status;
}

tm_status tm_pool_sum_large(tm_pool *pool, const tm_large_batch *batch, tm_message *message)
{
    const double start = clock_ms();
    tm_work work = {0};

    const tm_status status = pool->backend->sum_large(pool->devices->device, batch, &work, message);
    add_to_report(pool->devices, start, &work);
    return status;
}
