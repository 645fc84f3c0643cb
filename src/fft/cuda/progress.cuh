/* SPDX-License-Identifier: MIT */
/* What a launch's blocks tell those of the next one, which come before all of them have ended: how much of a column of
 * tiles is done. So the last blocks of one kernel do not have the device for themselves. */
#ifndef TMATCH_FFT_CUDA_PROGRESS_CUH
#define TMATCH_FFT_CUDA_PROGRESS_CUH

#include "fft/cuda/kernels.cuh"
#include "lcc/cuda/early.cuh"

/* Neither empties the first-level cache, as an acquiring load or a fence does, of the roots that all blocks share. So what
 * others wrote is read by tm_progress_load, past that cache; a release orders their writes before their progress. */
static __device__ __forceinline__ unsigned tm_progress_now(const unsigned *progress)
{
    unsigned now;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(progress) : "memory");
    return now;
}

static __device__ __forceinline__ double2 tm_progress_load(const double2 *point)
{
    double2 v;
    asm volatile("ld.relaxed.gpu.global.v2.f64 {%0, %1}, [%2];" : "=d"(v.x), "=d"(v.y) : "l"(point));
    return v;
}

static __device__ __forceinline__ void tm_progress_release(unsigned *progress, unsigned count)
{
    asm volatile("red.release.gpu.global.add.u32 [%0], %1;" ::"l"(progress), "r"(count) : "memory");
}

/* Adds what this block has done; whoever waits for it sees all that the block wrote. */
static __device__ __forceinline__ void tm_progress_add(unsigned *progress, unsigned count)
{
    __syncthreads();
    if (threadIdx.x == 0)
        tm_progress_release(progress, count);
}

/* Waits for so much. */
static __device__ __forceinline__ void tm_progress_wait(const unsigned *progress, unsigned count)
{
    if (threadIdx.x == 0) {
        while (tm_progress_now(progress) < count)
            __nanosleep(200);
    }
    __syncthreads();
}

#endif
