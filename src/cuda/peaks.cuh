/* SPDX-License-Identifier: MIT */
#ifndef TMATCH_CUDA_PEAKS_CUH
#define TMATCH_CUDA_PEAKS_CUH

#include "lcc/cuda/device.cuh"

#define TM_PEAK_BINS (1 << 16) /* of values */

/* Stands before the peaks in their memory. */
typedef struct tm_peak_head {
    unsigned long long found;    /* peaks, also those beyond the capacity */
    unsigned long long reaching; /* of them, those that reach the floor; counted on select */
    int bin;                     /* peaks from this bin on are taken */
    int padding[11];
} tm_peak_head;

/* Windows that reach what is asked for, peaks or not; all pointers are device memory. */
typedef struct tm_peak_windows {
    unsigned long long *keys;  /* order and position, so that the greatest is the best; NULL: the map is searched */
    unsigned long long *count; /* also of those beyond the capacity; 0 before a launch, and left so */
    uint64_t capacity;
    unsigned long long *table; /* where they lie by their positions */
} tm_peak_windows;

/* A search of a map, or of windows; all pointers are device memory. */
typedef struct tm_peak_job {
    const void *map; /* dense */
    bool is_integer; /* int64_t elements, else float */
    bool is_distance;
    int64_t width, height, first_row, last_row;
    int64_t floor;
    uint64_t most, least;
    bool select; /* take the best ones only; else all that reach the floor */
    tm_peak_head *head;
    tm_candidate *items;
    uint64_t capacity;
    unsigned *bins;
    tm_peak_windows windows;
} tm_peak_job;

/* The memory of searches, which is kept. Zero-initialise. */
typedef struct tm_device_peaks {
    tm_buffer items, bins, windows;
    tm_peak_head *pinned;
} tm_device_peaks;

/* Prepares the search that job->peaks wants of a map, with its memory; and launches it. */
cudaError_t tm_peaks_prepare(tm_device_peaks *peaks, tm_peak_job *p, const tm_job *job,
                             const void *map, cudaStream_t stream);
cudaError_t tm_peaks_launch(const tm_peak_job *p, cudaStream_t stream);

/* After the launch, before the map changes: waits, and puts the peaks into the list. */
cudaError_t tm_peaks_fetch(tm_device_peaks *peaks, const tm_peak_job *p, tm_peak_list *list,
                           cudaStream_t stream);
/* Memory for windows that reach what the list asks for, which others count and write; after that, the search
 * for peaks among them, which finds none where more were counted than there is room for. tm_peaks_fetch brings them too. */
cudaError_t tm_windows_prepare(tm_device_peaks *peaks, tm_peak_job *p, const tm_job *job, cudaStream_t stream);
cudaError_t tm_windows_launch(const tm_peak_job *p, cudaStream_t stream);
/* Memory for so many peaks at most. */
cudaError_t tm_peaks_fit(tm_device_peaks *peaks, tm_peak_job *p, uint64_t capacity, cudaStream_t stream);
void tm_device_peaks_free(tm_device_peaks *peaks);

#endif
