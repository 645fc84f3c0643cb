/* SPDX-License-Identifier: MIT */
/* Launches whose blocks may come to the device while the kernel before them still runs: CUDA's programmatic dependent
 * launches. From compute capability 9.0 on; before, no launch is early and the instructions are none. */
#ifndef TMATCH_LCC_CUDA_EARLY_CUH
#define TMATCH_LCC_CUDA_EARLY_CUH

#include "lcc/cuda/memory.cuh"

#ifdef __CUDACC__

/* Waits until the kernel before has ended and all that it wrote can be seen. */
static __device__ __forceinline__ void tm_early_wait()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Lets the next kernel's blocks come, once all of this one's have called this or ended. */
static __device__ __forceinline__ void tm_early_let_next()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/* One after the other: of kernels that all begin so, none runs beside one that is not its neighbour. So what one of them does
 * before this may read what its neighbour's neighbour wrote, as planes/window_runs.cu and
 * tensor/wgmma_tall_masked.cu do, and write what its neighbour leaves alone, as planes/bound.cu does. */
static __device__ __forceinline__ void tm_early_begin()
{
    tm_early_wait();
    tm_early_let_next();
}

#ifndef TM_EMULATED

/* A launch's configuration; it must stay where it is until the launch. */
struct tm_early_config {
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute = {};

    tm_early_config(dim3 grid, unsigned threads, size_t shared, bool early, cudaStream_t stream)
    {
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        config.gridDim = grid;
        config.blockDim = threads;
        config.dynamicSmemBytes = shared;
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = early;
    }
    tm_early_config(const tm_early_config &) = delete;
};

#endif

/* Launches kernel(arguments...); where early, its blocks mind themselves what they need of the kernel before. */
template <typename... P, typename... A>
static cudaError_t tm_early_launch(void (*kernel)(P...), dim3 grid, unsigned threads, size_t shared, bool early,
                                   cudaStream_t stream, A... arguments)
{
#ifdef TM_EMULATED
    (void)early;
    return TM_LAUNCH(kernel<<<grid, threads, shared, stream>>>(arguments...));
#else
    const tm_early_config c(grid, threads, shared, early, stream);
    return TM_LAUNCH(cudaLaunchKernelEx(&c.config, kernel, P(arguments)...));
#endif
}

/* Whether the device runs a kernel's code for capability 9.0, so that it may be launched early. */
template <typename K>
static bool tm_early_is_possible(K kernel)
{
#ifdef TM_EMULATED
    (void)kernel;
    return false;
#else
    cudaFuncAttributes attributes;
    return TM_CALL(cudaFuncGetAttributes(&attributes, kernel)) == cudaSuccess && attributes.ptxVersion >= 90;
#endif
}

#endif

#endif
