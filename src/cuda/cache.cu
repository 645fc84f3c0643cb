/* SPDX-License-Identifier: MIT */
#include "cuda/cache.cuh"

#include <stdlib.h>
#include <string.h>

#include "cuda/context.cuh"

/* At most so much is kept of all templates together, and as much of all spectra. The last of
 * each is kept in any case. */
#define KEPT_BYTES ((int64_t)1 << 30)

static size_t most_kept(const tm_cuda *cuda)
{
    const int64_t part = cuda->memory.limit / 4;
    return (size_t)(part && part < KEPT_BYTES ? part : KEPT_BYTES);
}

static void drop_group(tm_group *group)
{
    tm_device_free(group->taps);
    tm_device_free(group->fragments);
    tm_device_free(group->wide_fragments);
    tm_device_free(group->table);
    tm_certified_drop(&group->certified);
    tm_fft_drop_spectrum(&group->spectrum);
    tm_direction_free(&group->direction);
    free(group->keys);
    free(group->samples);
    *group = (tm_group){};
}

static bool is_group_of(const tm_group *group, const tm_job *jobs, size_t count)
{
    if (group->count != count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!tm_template_equal(&group->keys[i], jobs[i].tmpl))
            return false;
    }
    return true;
}

static cudaError_t copy_table(tm_cuda *cuda, tm_group *group)
{
    tm_tensor_template table[TM_GROUP_MAX];
    for (size_t i = 0; i < group->count; i++)
        table[i] = (tm_tensor_template){(int)group->keys[i].sum, (float)group->keys[i].variance};
    TRY(tm_device_malloc((void **)&group->table, group->count * sizeof *table));
    return TM_CALL(cudaMemcpyAsync(group->table, table, group->count * sizeof *table,
                           cudaMemcpyHostToDevice, cuda->stream));
}

static cudaError_t load_group(tm_cuda *cuda, tm_group *group, const tm_job *jobs, size_t count)
{
    const tm_template *first = jobs->tmpl;
    const size_t n = (size_t)(first->n * first->channels * tm_sample_size(first->type)), of_mask = first->mask ? (size_t)first->n : 0;
    const size_t bytes = count * (n + of_mask);

    group->keys = (tm_template *)malloc(count * sizeof *group->keys);
    group->samples = (uint8_t *)malloc(bytes);
    if (!group->keys || !group->samples)
        return cudaErrorMemoryAllocation;
    group->count = count;
    for (size_t i = 0; i < count; i++) {
        group->keys[i] = *jobs[i].tmpl;
        group->keys[i].samples = group->samples + i * n;
        memcpy(group->keys[i].samples, jobs[i].tmpl->samples, n);
        if (!of_mask)
            continue;
        group->keys[i].mask = group->samples + count * n + i * of_mask;
        memcpy(group->keys[i].mask, jobs[i].tmpl->mask, of_mask);
    }
    TRY(tm_device_malloc((void **)&group->taps, bytes));
    return TM_CALL(cudaMemcpyAsync(group->taps, group->samples, bytes, cudaMemcpyHostToDevice, cuda->stream));
}

static cudaError_t prepare_wide(tm_cuda *cuda, tm_group *group)
{
    const tm_template *t = group->keys;
    cudaError_t error = cudaSuccess;

    if (!group->wide_fragments)
        error = tm_tensor_prepare_wide(group->taps, (int)t->width, (int)t->height, &group->wide_fragments, cuda->stream);
    if (error != cudaSuccess) {
        tm_device_free(group->wide_fragments);
        group->wide_fragments = NULL;
    }
    return error;
}

/* Makes what the direct algorithm takes besides the taps, unless the group has it: the fragments and, for all
 * windows, their rest and their form for wide templates when a job wants that. */
static cudaError_t prepare_direct(tm_cuda *cuda, tm_group *group, const tm_job *job, bool all)
{
    const tm_template *t = group->keys;
    const int width = (int)t->width, height = (int)t->height, count = (int)group->count;

    if (!cuda->traits.tensor_cores || t->n > TM_TENSOR_TAPS)
        return cudaSuccess;
    if (!group->fragments) {
        TRY(copy_table(cuda, group));
        TRY(tm_tensor_prepare(&cuda->tensor, group->taps, width, height, count, &group->fragments, cuda->stream));
    }
    if (!all)
        return cudaSuccess;
    if (!group->has_rest)
        TRY(tm_tensor_prepare_rest(&cuda->tensor, group->taps, width, height, count, group->fragments,
                                   cuda->stream));
    group->has_rest = true;
    if (count > 1 || job->metric != TM_METRIC_LCC ||
        !tm_tensor_uses_wide(&cuda->tensor, &job->geometry, tm_job_has_map(job)))
        return cudaSuccess;
    return prepare_wide(cuda, group);
}

static cudaError_t prepare_bound(tm_cuda *cuda, tm_group *group)
{
    const tm_template *t = group->keys;
    const int bytes = t->channels * (int)tm_sample_size(t->type), width = (int)t->width, height = (int)t->height;

    if (group->fragments)
        return cudaSuccess;
    TRY(tm_device_malloc(&group->fragments, tm_tensor_bound_bytes(bytes, width, height)));
    const cudaError_t error = tm_tensor_prepare_bound(group->fragments, group->taps, t->mask, bytes, width, height, cuda->stream);
    if (error == cudaErrorNotSupported)
        return cudaSuccess;
    group->is_bounded = error == cudaSuccess;
    return error == cudaSuccess && t->mask ? copy_table(cuda, group) : error;
}

static cudaError_t prepare_direction(const tm_cuda *cuda, tm_group *group)
{
    const bool waits = !group->was_asked && !cuda->tensor.always_wide;

    group->was_asked = true;
    if (group->direction || group->has_no_direction || waits)
        return cudaSuccess;
    if (tm_direction_make(&group->direction, group->keys) != TM_OK)
        return cudaErrorMemoryAllocation;
    group->has_no_direction = !group->direction;
    return cudaSuccess;
}

/* The group of these templates; if there is none, a free one; if none is free, the one that was
 * not used for longest. */
static tm_group *find_group(tm_cuda *cuda, const tm_job *jobs, size_t count)
{
    tm_group *oldest = NULL;
    for (int i = 0; i < cuda->cache.count; i++) {
        tm_group *group = &cuda->cache.groups[i];
        if (is_group_of(group, jobs, count))
            return group;
        if (!oldest || group->used < oldest->used)
            oldest = group;
    }
    if (cuda->cache.count < TM_CACHED_GROUPS && (!oldest || oldest->count > 0))
        return &cuda->cache.groups[cuda->cache.count++];
    return oldest;
}

static size_t spectrum_bytes(const tm_group *group)
{
    return group->spectrum.points.size;
}

static size_t template_bytes(const tm_group *group)
{
    return group->bytes;
}

/* Among the other groups that have any bytes, the one that was not used for longest. Adds the
 * bytes of all of them to *total. */
static tm_group *oldest_but(tm_cuda *cuda, const tm_group *group,
                            size_t (*bytes)(const tm_group *group), size_t *total)
{
    tm_group *oldest = NULL;
    for (int i = 0; i < cuda->cache.count; i++) {
        tm_group *other = &cuda->cache.groups[i];
        if (other == group || other->held || bytes(other) == 0)
            continue;
        *total += bytes(other);
        if (!oldest || other->used < oldest->used)
            oldest = other;
    }
    return oldest;
}

/* Makes room for what was brought to the device for this group. */
static void limit_groups(tm_cuda *cuda, const tm_group *group)
{
    for (;;) {
        size_t total = group->bytes;
        tm_group *oldest = oldest_but(cuda, group, template_bytes, &total);
        if (total <= most_kept(cuda) || !oldest)
            return;
        drop_group(oldest);
    }
}

/* Counts what was brought for this group since so much memory was used. */
static void count_bytes(tm_cuda *cuda, tm_group *group, int64_t before)
{
    const size_t loaded = (size_t)(cuda->memory.used - before);
    group->bytes += loaded;
    if (loaded > 0)
        limit_groups(cuda, group);
}

/* What a group is brought for. */
typedef enum purpose { ALL_WINDOWS, CERTIFIED, BOUND, DIRECTION } purpose;

static cudaError_t prepare(tm_cuda *cuda, tm_group *group, const tm_job *jobs, purpose of)
{
    if (of == BOUND)
        return prepare_bound(cuda, group);
    if (of == DIRECTION)
        return prepare_direction(cuda, group);
    if (!jobs->tiling)
        TRY(prepare_direct(cuda, group, jobs, of == ALL_WINDOWS));
    if (!group->certified.memory && tm_cuda_certified_takes(cuda, jobs))
        TRY(tm_certified_prepare(&group->certified, group->keys, group->count, cuda->stream));
    return cudaSuccess;
}

static cudaError_t fetch(tm_cuda *cuda, const tm_job *jobs, size_t count, purpose of, tm_group **found)
{
    tm_group *group = find_group(cuda, jobs, count);
    cudaError_t error = cudaSuccess;

    if (!is_group_of(group, jobs, count))
        drop_group(group);
    const int64_t before = cuda->memory.used;
    if (group->count == 0)
        error = load_group(cuda, group, jobs, count);
    if (error == cudaSuccess)
        error = prepare(cuda, group, jobs, of);
    if (error != cudaSuccess) {
        drop_group(group);
        return error;
    }
    count_bytes(cuda, group, before);
    group->used = ++cuda->cache.clock;
    *found = group;
    return cudaSuccess;
}

cudaError_t tm_fetch_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **found)
{
    return fetch(cuda, jobs, count, ALL_WINDOWS, found);
}

cudaError_t tm_fetch_certified_group(tm_cuda *cuda, const tm_job *jobs, size_t count, tm_group **found)
{
    return fetch(cuda, jobs, count, CERTIFIED, found);
}

cudaError_t tm_fetch_bound(tm_cuda *cuda, const tm_job *job, tm_group **found)
{
    return fetch(cuda, job, 1, BOUND, found);
}

cudaError_t tm_fetch_direction(tm_cuda *cuda, const tm_job *job, tm_group **found)
{
    return fetch(cuda, job, 1, DIRECTION, found);
}

cudaError_t tm_fetch_wide(tm_cuda *cuda, tm_group *group)
{
    const int64_t before = cuda->memory.used;
    const cudaError_t error = prepare_wide(cuda, group);

    count_bytes(cuda, group, before);
    return error;
}

void tm_make_room_for_spectrum(tm_cuda *cuda, const tm_group *group, size_t size)
{
    for (;;) {
        size_t total = size;
        tm_group *oldest = oldest_but(cuda, group, spectrum_bytes, &total);
        if (total <= most_kept(cuda) || !oldest)
            return;
        tm_fft_drop_spectrum(&oldest->spectrum);
    }
}

void tm_drop_groups(tm_cuda *cuda)
{
    for (int i = 0; i < cuda->cache.count; i++)
        drop_group(&cuda->cache.groups[i]);
    cuda->cache.count = 0;
}
