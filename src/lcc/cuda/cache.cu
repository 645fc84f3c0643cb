/* SPDX-License-Identifier: MIT */
/* Templates that are on the device, found again by their content. */
#include <stdlib.h>
#include <string.h>

#include "lcc/cuda/context.cuh"

static void drop_template(tm_cached_template *entry)
{
    cudaFree(entry->taps);
    free(entry->key.samples);
    *entry = (tm_cached_template){};
}

static cudaError_t load_template(tm_cuda *cuda, tm_cached_template *entry, const tm_template *t)
{
    entry->key = *t;
    entry->key.samples = (uint8_t *)malloc((size_t)t->n);
    if (!entry->key.samples)
        return cudaErrorMemoryAllocation;
    memcpy(entry->key.samples, t->samples, (size_t)t->n);
    TRY(cudaMalloc((void **)&entry->taps, (size_t)t->n));
    return cudaMemcpyAsync(entry->taps, entry->key.samples, (size_t)t->n, cudaMemcpyHostToDevice,
                           cuda->stream);
}

cudaError_t tm_fetch_template(tm_cuda *cuda, const tm_template *t, tm_cached_template **found)
{
    tm_cached_template *entry = &cuda->templates[0];
    for (int i = 0; i < cuda->template_count; i++) {
        tm_cached_template *candidate = &cuda->templates[i];
        if (candidate->taps && tm_template_equal(&candidate->key, t)) {
            candidate->used = ++cuda->clock;
            *found = candidate;
            return cudaSuccess;
        }
        if (candidate->used < entry->used)
            entry = candidate;
    }
    if (cuda->template_count < TM_CACHED_TEMPLATES)
        entry = &cuda->templates[cuda->template_count++];
    else
        drop_template(entry);

    cudaError_t error = load_template(cuda, entry, t);
    if (error != cudaSuccess) {
        drop_template(entry);
        return error;
    }
    entry->used = ++cuda->clock;
    *found = entry;
    return cudaSuccess;
}

void tm_drop_templates(tm_cuda *cuda)
{
    for (int i = 0; i < cuda->template_count; i++)
        drop_template(&cuda->templates[i]);
    cuda->template_count = 0;
}
