/* SPDX-License-Identifier: MIT */
/* What a launch's blocks tell those of the next one, which come before all of them have ended: how much of a column of
 * tiles is done. So the last blocks of one kernel do not have the device for themselves. */
#ifndef TMATCH_FFT_CUDA_PROGRESS_CUH
#define TMATCH_FFT_CUDA_PROGRESS_CUH

#include "fft/cuda/kernels.cuh"
#include "lcc/cuda/early.cuh"

static __device__ __forceinline__ unsigned tm_progress_now(const unsigned *progress)
{
    unsigned now;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(progress) : "memory");
    return now;
}

/* Adds what this block has done; whoever waits for it sees all that the block wrote. */
static __device__ __forceinline__ void tm_progress_add(unsigned *progress, unsigned count)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicAdd(progress, count);
    }
}

/* Waits for so much. What others wrote is then read past the first-level cache. */
static __device__ __forceinline__ void tm_progress_wait(const unsigned *progress, unsigned count)
{
    if (threadIdx.x == 0) {
        while (tm_progress_now(progress) < count)
            __nanosleep(200);
    }
    __syncthreads();
}

#endif
