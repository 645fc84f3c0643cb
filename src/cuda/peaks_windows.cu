/* SPDX-License-Identifier: MIT */
/* Peaks among those windows of a map that reach what is asked for: a table of all of them by their positions, in device
 * memory, tells each of its neighbours. */
#include "cuda/peaks.cuh"
#include "lcc/cuda/memory.cuh"

/* Windows at most, and places of the table, which stays half empty. */
enum { CAPACITY = 1 << 17, BITS = 18, SLOTS = 1 << BITS, THREADS = 256, BLOCKS = 128 };

static __device__ __forceinline__ unsigned position_of(unsigned long long key)
{
    return 0xffffffffu - (unsigned)key;
}

/* Fibonacci hashing, as of suppression. */
static __device__ __forceinline__ unsigned slot_of(unsigned position)
{
    return position * 2654435769u >> (32 - BITS);
}

/* How many windows there are; 0 where they are more than there is room for. */
static __device__ __forceinline__ int count_of(const tm_peak_windows &w)
{
    const unsigned long long count = __ldcg(w.count);
    return count > CAPACITY ? 0 : (int)count;
}

/* A window that was written twice is left in one place. */
static __global__ void __launch_bounds__(THREADS) enter_kernel(tm_peak_windows w)
{
    const int count = count_of(w);
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < count; i += (int)gridDim.x * THREADS) {
        const unsigned long long key = w.keys[i];
        unsigned slot = slot_of(position_of(key));
        unsigned long long there;
        while ((there = atomicCAS(&w.table[slot], 0ull, key)) != 0 && there != key)
            slot = (slot + 1) % SLOTS;
        if (there)
            w.keys[i] = 0;
    }
}

/* The key of the window at a position, or 0. */
static __device__ __forceinline__ unsigned long long find(const tm_peak_windows &w, unsigned position)
{
    unsigned slot = slot_of(position);
    unsigned long long key;
    while ((key = __ldcg(w.table + slot)) != 0 && position_of(key) != position)
        slot = (slot + 1) % SLOTS;
    return key;
}

static __global__ void __launch_bounds__(THREADS) select_kernel(tm_peak_windows w, tm_peak_job job)
{
    const int count = count_of(w), width = (int)job.width;
    for (int i = (int)(blockIdx.x * THREADS + threadIdx.x); i < count; i += (int)gridDim.x * THREADS) {
        const unsigned long long key = w.keys[i];
        const int x = (int)(position_of(key) % (unsigned)width), y = (int)(position_of(key) / (unsigned)width);
        bool peak = key && y >= job.first_row && y < job.last_row;
        for (int k = 0; peak && k < 9; k++) {
            const int column = x + k % 3 - 1, row = y + k / 3 - 1;
            peak = column < 0 || column >= width || row < 0 ||
                   find(w, (unsigned)row * (unsigned)width + (unsigned)column) <= key;
        }
        if (!peak)
            continue;
        const unsigned long long at = atomicAdd(&job.head->found, 1ull);
        job.items[at] = {(int)((unsigned)(key >> 32) ^ 0x80000000u), position_of(key)};
    }
}

cudaError_t tm_windows_prepare(tm_device_peaks *peaks, tm_peak_job *p, const tm_job *job, cudaStream_t stream)
{
    *p = (tm_peak_job){};
    p->width = job->geometry.map_width;
    p->first_row = job->first_row;
    p->last_row = job->last_row;
    TRY(tm_peaks_fit(peaks, p, CAPACITY, stream));
    TRY(tm_buffer_fit(&peaks->windows, (1 + CAPACITY + SLOTS) * sizeof *p->windows.keys));
    p->windows.count = (unsigned long long *)peaks->windows.data;
    p->windows.keys = p->windows.count + 1;
    p->windows.table = p->windows.keys + CAPACITY;
    p->windows.capacity = CAPACITY;
    return TM_CALL(cudaMemsetAsync(p->windows.count, 0, sizeof *p->windows.count, stream));
}

cudaError_t tm_windows_launch(const tm_peak_job *p, cudaStream_t stream)
{
    TRY_CUDA(cudaMemsetAsync(p->head, 0, sizeof *p->head, stream));
    TRY_CUDA(cudaMemsetAsync(p->windows.table, 0, SLOTS * sizeof *p->windows.table, stream));
    TRY(TM_LAUNCH(enter_kernel<<<BLOCKS, THREADS, 0, stream>>>(p->windows)));
    TRY(TM_LAUNCH(select_kernel<<<BLOCKS, THREADS, 0, stream>>>(p->windows, *p)));
    return TM_CALL(cudaMemsetAsync(p->windows.count, 0, sizeof *p->windows.count, stream)); /* for a replay */
}
