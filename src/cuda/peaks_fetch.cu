/* SPDX-License-Identifier: MIT */
/* The memory of searches for peaks, and what they have found, to the host. */
#include <stdlib.h>
#include <string.h>

#include "cuda/peaks.cuh"
#include "lcc/cuda/memory.cuh"

#define FIRST_ITEMS 4096  /* that are copied to the host together with their number */
#define SPARE_ITEMS 65536 /* room for more than are wanted, in the last bin */

static uint64_t least_of(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The most peaks of so many rows: a peak has no other peak beside it. */
static uint64_t most_in_rows(int64_t width, int64_t rows)
{
    return (uint64_t)((width + 1) / 2) * (uint64_t)((rows + 1) / 2);
}

cudaError_t tm_peaks_fit(tm_device_peaks *peaks, tm_peak_job *p, uint64_t capacity, cudaStream_t stream)
{
    const size_t first = sizeof(tm_peak_head) + FIRST_ITEMS * sizeof(tm_candidate);
    const size_t size = sizeof(tm_peak_head) + (size_t)capacity * sizeof(tm_candidate);

    if (!peaks->pinned)
        TRY_CUDA(cudaMallocHost((void **)&peaks->pinned, first));
    const bool fits = peaks->items.size >= size;
    TRY(tm_buffer_fit(&peaks->items, size));
    p->head = (tm_peak_head *)peaks->items.data;
    p->items = (tm_candidate *)(p->head + 1);
    p->capacity = capacity;
    return fits ? cudaSuccess
                : TM_CALL(cudaMemsetAsync(peaks->items.data, 0, first, stream)); /* all of it is copied */
}

cudaError_t tm_peaks_prepare(tm_device_peaks *peaks, tm_peak_job *p, const tm_job *job,
                             const void *map, cudaStream_t stream)
{
    const tm_peak_search *search = &job->peaks->search;
    const tm_geometry *g = &job->geometry;

    *p = (tm_peak_job){};
    p->map = map;
    p->is_integer = tm_job_is_integer(job);
    p->is_distance = tm_is_distance(job->metric);
    p->width = g->map_width;
    p->height = g->map_height;
    p->first_row = job->first_row;
    p->last_row = job->last_row;
    p->floor = search->floor;
    p->most = search->most;
    p->least = search->floor == INT64_MIN ? 0 : search->least;
    const uint64_t possible = most_in_rows(p->width, p->last_row - p->first_row);
    p->capacity = least_of(possible, p->most + p->least + SPARE_ITEMS);
    if (p->capacity < FIRST_ITEMS)
        p->capacity = FIRST_ITEMS;
    if (p->capacity < most_in_rows(p->width, 1))
        p->capacity = most_in_rows(p->width, 1);
    /* a floor is expected to let few pass; if it does not, the best are selected later */
    p->select = p->least || (search->floor == INT64_MIN && p->most < possible);
    TRY(tm_buffer_fit(&peaks->bins, TM_PEAK_BINS * sizeof(unsigned)));
    p->bins = (unsigned *)peaks->bins.data;
    return tm_peaks_fit(peaks, p, p->capacity, stream);
}

/* Brings what the last launch has found, if it fitted the memory: *fits. *items is to be freed; NULL where
 * it did not fit, or memory ran out. */
static cudaError_t bring(tm_device_peaks *peaks, const tm_peak_job *p, tm_candidate **items, size_t *count,
                         bool *fits, cudaStream_t stream)
{
    tm_peak_head *head = peaks->pinned;

    *items = NULL;
    TRY_CUDA(cudaMemcpyAsync(head, p->head, sizeof *head + FIRST_ITEMS * sizeof(tm_candidate),
                             cudaMemcpyDeviceToHost, stream));
    TRY_CUDA(cudaStreamSynchronize(stream));
    *fits = head->found <= p->capacity;
    if (!*fits)
        return cudaSuccess;
    *count = (size_t)head->found;
    const size_t first = *count < FIRST_ITEMS ? *count : FIRST_ITEMS;
    *items = (tm_candidate *)malloc((*count + 1) * sizeof **items);
    if (!*items)
        return cudaSuccess;
    memcpy(*items, head + 1, first * sizeof **items);
    if (*count == first)
        return cudaSuccess;
    cudaError_t error = TM_CALL(cudaMemcpyAsync(*items + first, p->items + first, (*count - first) * sizeof **items,
                                                cudaMemcpyDeviceToHost, stream));
    if (error == cudaSuccess)
        error = TM_CALL(cudaStreamSynchronize(stream));
    return error;
}

/* Puts that into the list, if it fitted. */
static cudaError_t fetch(tm_device_peaks *peaks, const tm_peak_job *p, tm_peak_list *list,
                         bool *fits, cudaStream_t stream)
{
    tm_candidate *items;
    size_t count;
    const cudaError_t error = bring(peaks, p, &items, &count, fits, stream);

    if (error == cudaSuccess && items)
        tm_peak_list_add(list, items, count);
    else if (error == cudaSuccess && *fits)
        list->failed = true;
    free(items);
    return error;
}

/* Searches again, band by band, with so few rows that their peaks fit. */
static cudaError_t fetch_by_rows(tm_device_peaks *peaks, tm_peak_job band, tm_peak_list *list,
                                 cudaStream_t stream)
{
    const int64_t last = band.last_row;
    const int64_t rows = 2 * (int64_t)(band.capacity / most_in_rows(band.width, 1));
    bool fits;

    band.select = false;
    for (; band.first_row < last; band.first_row = band.last_row) {
        band.last_row = band.first_row + rows < last ? band.first_row + rows : last;
        TRY(tm_peaks_launch(&band, stream));
        TRY(fetch(peaks, &band, list, &fits, stream));
    }
    return cudaSuccess;
}

cudaError_t tm_peaks_fetch(tm_device_peaks *peaks, const tm_peak_job *job, tm_peak_list *list,
                           cudaStream_t stream)
{
    tm_peak_job p = *job;
    bool fits;

    TRY(fetch(peaks, &p, list, &fits, stream));
    if (!fits && !p.select) {
        p.select = true;
        TRY(tm_peaks_launch(&p, stream));
        TRY(fetch(peaks, &p, list, &fits, stream));
    }
    return fits ? cudaSuccess : fetch_by_rows(peaks, p, list, stream);
}

void tm_device_peaks_free(tm_device_peaks *peaks)
{
    tm_device_free(peaks->items.data);
    tm_device_free(peaks->bins.data);
    tm_device_free(peaks->windows.data);
    cudaFreeHost(peaks->pinned);
}
