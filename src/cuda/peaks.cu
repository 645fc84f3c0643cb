/* SPDX-License-Identifier: MIT */
/* Peaks of a score map in device memory, compacted there. Where only the best ones
 * are wanted, a histogram of the peaks' values says from which bin on they are
 * brought to the host, whose list then selects exactly. */
#include <float.h>

#include "cuda/peaks.cuh"
#include "integers.h"
#include "lcc/cuda/memory.cuh"

#define WARP 32
#define BLOCK_ROWS 8
#define ROWS_A_THREAD 4
#define PICK_THREADS 1024

#define BIN_BITS 16
#define BINS TM_PEAK_BINS
static_assert(BINS == 1 << BIN_BITS, "a bin for each value of so many bits");

#define BINS_A_THREAD (BINS / PICK_THREADS)
static_assert(BINS_A_THREAD == 2 * WARP, "a warp takes two bins a lane");

/* A value's bin; bins are in the order of values. */
static __device__ int bin_of(int64_t value, bool is_integer)
{
    if (is_integer)
        value = tm_score_order(__ll2float_rz(value));
    return (int)((value - INT32_MIN) >> (32 - BIN_BITS));
}

static __device__ int64_t order_of(float score)
{
    return tm_score_order(score);
}

static __device__ int64_t order_of(int64_t sum)
{
    return sum;
}

/* An element such that a greater one is better. */
template <typename T>
static __device__ T ranking(const tm_peak_job &job, T element)
{
    return job.is_distance ? -element : element;
}

/* Whether the frame's mask leaves the position out. */
static __device__ bool is_skipped(float ranked)
{
    return ranked <= -FLT_MAX;
}

static __device__ bool is_skipped(int64_t ranked)
{
    return ranked <= INT64_MIN + 1; /* a distance's is INT64_MAX */
}

/* Whether the position is a peak. Among equal neighbours the earlier one wins. */
template <typename T>
static __device__ bool is_peak(const tm_peak_job &job, int64_t x, int64_t y, T centre)
{
    const T *row = (const T *)job.map + y * job.width + x;
    const bool left = x > 0, right = x + 1 < job.width;
    const auto above_all = [&](const T *at) {
        return centre > ranking(job, at[0]) && !(left && !(centre > ranking(job, at[-1]))) &&
               !(right && !(centre > ranking(job, at[1])));
    };
    const auto below_none = [&](const T *at) {
        return centre >= ranking(job, at[0]) && !(left && !(centre >= ranking(job, at[-1]))) &&
               !(right && !(centre >= ranking(job, at[1])));
    };
    if ((left && !(centre > ranking(job, row[-1]))) || (right && !(centre >= ranking(job, row[1]))))
        return false;
    return (y == 0 || above_all(row - job.width)) &&
           (y + 1 >= job.height || below_none(row + job.width));
}

/* Calls take(peak, value, position) for each position, in whole warps. */
template <typename T, typename Take>
static __device__ void for_each(const tm_peak_job &job, int64_t floor, Take take)
{
    const int64_t x = (int64_t)blockIdx.x * WARP + threadIdx.x;
    const int64_t step = (int64_t)gridDim.y * BLOCK_ROWS;
    for (int64_t y = job.first_row + (int64_t)blockIdx.y * BLOCK_ROWS + threadIdx.y;
         y < job.last_row; y += step) {
        bool peak = false;
        int64_t value = 0;
        if (x < job.width) {
            const T element = ((const T *)job.map)[y * job.width + x];
            const T centre = ranking(job, element);
            value = job.is_distance ? -order_of(element) : order_of(element);
            peak = value >= floor && !is_skipped(centre) && is_peak(job, x, y, centre);
        }
        take(peak, value, y * job.width + x);
    }
}

template <typename T>
static __global__ void __launch_bounds__(WARP *BLOCK_ROWS) count_kernel(tm_peak_job job)
{
    for_each<T>(job, job.least ? INT64_MIN : job.floor, [&](bool peak, int64_t value, int64_t) {
        const unsigned reaching = __ballot_sync(0xffffffffu, peak && value >= job.floor);
        if (threadIdx.x == 0 && reaching)
            atomicAdd(&job.head->reaching, (unsigned long long)__popc(reaching));
        if (peak)
            atomicAdd(&job.bins[bin_of(value, job.is_integer)], 1u);
    });
}

/* The highest bin from which on there are more peaks than are wanted, so that the
 * list on the host sees that there are more. Thread 0 has the highest bins. */
static __global__ void __launch_bounds__(PICK_THREADS) pick_kernel(tm_peak_job job)
{
    __shared__ unsigned long long sums[PICK_THREADS], before;
    __shared__ int chosen;
    const int t = threadIdx.x;
    const uint4 *bins = (const uint4 *)(job.bins + BINS - (t + 1) * BINS_A_THREAD);
    const unsigned long long reaching = job.head->reaching;
    const unsigned long long wanted =
        (reaching > job.most ? job.most : reaching + (unsigned long long)job.least) + 1;
    unsigned long long own = 0;

#pragma unroll
    for (int i = 0; i < BINS_A_THREAD / 4; i++)
        own += (unsigned long long)bins[i].x + bins[i].y + bins[i].z + bins[i].w;
    if (t == 0)
        chosen = -1;
    sums[t] = own;
    __syncthreads();
    for (int offset = 1; offset < PICK_THREADS; offset *= 2) {
        const unsigned long long other = t >= offset ? sums[t - offset] : 0;
        __syncthreads();
        sums[t] += other;
        __syncthreads();
    }
    if (sums[t] - own < wanted && sums[t] >= wanted) {
        chosen = t;
        before = sums[t] - own;
    }
    __syncthreads();
    if (chosen < 0 || t >= WARP)
        return; /* where there are not so many peaks, head->bin stays 0 */

    /* which bin of the chosen thread: a lane looks at two */
    const int upper = BINS - 1 - chosen * BINS_A_THREAD - 2 * t;
    const unsigned long long a = job.bins[upper], both = a + job.bins[upper - 1];
    unsigned long long sum = both;
    for (int offset = 1; offset < WARP; offset *= 2) {
        const unsigned long long other = __shfl_up_sync(0xffffffffu, sum, offset);
        sum += t >= offset ? other : 0;
    }
    const unsigned long long above = before + sum - both;
    if (above < wanted && above + both >= wanted)
        job.head->bin = above + a >= wanted ? upper : upper - 1;
}

template <typename T>
static __global__ void __launch_bounds__(WARP *BLOCK_ROWS) collect_kernel(tm_peak_job job)
{
    const int bin = job.head->bin;
    for_each<T>(
        job, job.least ? INT64_MIN : job.floor, [&](bool peak, int64_t value, int64_t position) {
            peak = peak && (bin == 0 || bin_of(value, job.is_integer) >= bin);
            const unsigned peaks = __ballot_sync(0xffffffffu, peak);
            unsigned long long slot = 0;
            if (!peaks)
                return;
            if (threadIdx.x == 0)
                slot = atomicAdd(&job.head->found, (unsigned long long)__popc(peaks));
            slot = __shfl_sync(0xffffffffu, slot, 0) + __popc(peaks & ((1u << threadIdx.x) - 1));
            if (peak && slot < job.capacity)
                job.items[slot] = tm_candidate{value, position};
        });
}

static dim3 blocks_of(const tm_peak_job *job)
{
    const int64_t rows = BLOCK_ROWS * ROWS_A_THREAD;
    const int64_t down = (job->last_row - job->first_row + rows - 1) / rows;
    return dim3((unsigned)((job->width + WARP - 1) / WARP), (unsigned)smaller(down, TM_MOST_GRID_ROWS));
}

template <typename T>
static cudaError_t launch(const tm_peak_job *job, cudaStream_t stream)
{
    const dim3 blocks = blocks_of(job), threads(WARP, BLOCK_ROWS);
    TRY_CUDA(cudaMemsetAsync(job->head, 0, sizeof *job->head, stream));
    if (job->last_row <= job->first_row)
        return cudaSuccess;
    if (job->select) {
        TRY_CUDA(cudaMemsetAsync(job->bins, 0, BINS * sizeof *job->bins, stream));
        TRY(TM_LAUNCH(count_kernel<T><<<blocks, threads, 0, stream>>>(*job)));
        TRY(TM_LAUNCH(pick_kernel<<<1, PICK_THREADS, 0, stream>>>(*job)));
    }
    return TM_LAUNCH(collect_kernel<T><<<blocks, threads, 0, stream>>>(*job));
}

cudaError_t tm_peaks_launch(const tm_peak_job *job, cudaStream_t stream)
{
    return job->is_integer ? launch<int64_t>(job, stream) : launch<float>(job, stream);
}
