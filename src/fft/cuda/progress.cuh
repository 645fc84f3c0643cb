/* SPDX-License-Identifier: MIT */
/* What a launch's blocks tell those of the next one, which come before all of them have ended: how much of a column of
 * tiles is done. So the last blocks of one kernel do not have the device for themselves.
 *
 * A block waits only for blocks that are on the device already: those of the kernel before let it come by beginning. And a
 * kernel has ended only when the one before it has, so that whatever is launched after it may count on both. */
#ifndef TMATCH_FFT_CUDA_PROGRESS_CUH
#define TMATCH_FFT_CUDA_PROGRESS_CUH

#include "fft/cuda/kernels.cuh"
#include "lcc/cuda/early.cuh"

/* This and tm_progress_load read what others wrote from the second-level cache, in the order of a warp's instructions. An
 * acquiring load, or a fence, would empty the first-level cache of the roots that all blocks share: 1 % of a match. */
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

/* Adds what this block has done, after its last write; whoever waits for it sees all of them. */
static __device__ __forceinline__ void tm_progress_add(unsigned *progress, unsigned count)
{
    __syncthreads();
    if (threadIdx.x == 0)
        tm_progress_release(progress, count);
}

/* Waits for so much; never is there more, but for rows beyond the last one that are of its block. */
static __device__ __forceinline__ void tm_progress_wait(const unsigned *progress, unsigned count)
{
    if (threadIdx.x == 0) {
        while (tm_progress_now(progress) < count)
            __nanosleep(200);
    }
    __syncthreads();
}

/* Ends a block that waited by counts alone. */
static __device__ __forceinline__ void tm_progress_end()
{
    if (blockIdx.x + 1 == gridDim.x && blockIdx.y + 1 == gridDim.y)
        tm_early_wait();
}

#endif
