/* SPDX-License-Identifier: MIT */
/* Barriers in shared memory, of 8 bytes each. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BARRIERS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BARRIERS_CUH
#include <cuda_runtime.h>

__device__ __forceinline__ void tm_barrier_init(unsigned barrier, int arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

__device__ __forceinline__ void tm_barrier_arrive(unsigned barrier)
{
    asm volatile("{.reg .b64 state; mbarrier.arrive.shared.b64 state, [%0];}" ::"r"(barrier) : "memory");
}

/* A warp's wait for the end of a phase, of which it must have waited for the one before, or know that it has ended. */
__device__ __forceinline__ void tm_barrier_wait(unsigned barrier, unsigned phase)
{
    asm volatile("{.reg .pred there; again%=: mbarrier.try_wait.parity.shared.b64 there, [%0], %1; @!there bra again%=;}"
                 :: "r"(barrier), "r"(phase & 1)
                 : "memory");
    __syncwarp();
}

#endif
