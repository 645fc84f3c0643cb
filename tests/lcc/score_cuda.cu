/* SPDX-License-Identifier: MIT */
#include "lcc/cuda/tensor/epilogue.cuh"
#include "score_cuda.h"

static __global__ void try_products(score_errors *errors, int exponent, unsigned seed)
{
#if __CUDA_ARCH__ >= 800
    const auto mantissa = [](unsigned bits) { return __uint_as_float(127u << 23 | (bits & 0x7fffff)); }; // from 1 to below 2
    unsigned tried = 0;

    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 23; i += gridDim.x * blockDim.x, tried++) {
        const float p = ldexpf(mantissa(i), exponent), d = tm_tensor_root(p), y = tm_tensor_reciprocal(d);
        unsigned random = ((i ^ seed) + exponent * 0x9e3779b9u) * 2654435761u;
        random ^= random >> 15;
        const float num = mantissa(random * 2246822519u) * (random >> 31 ? -d : d) * (random >> 30 & 1 ? 0.5f : 0x1p-12f);
        const float quotient = __fdiv_rn(num, d), q = __fmul_rn(num, y);
        if (d != __fsqrt_rn(p))
            atomicAdd(&errors->roots, 1ull);
        if (y != __frcp_rn(d))
            atomicAdd(&errors->reciprocals, 1ull);
        if (tm_tensor_score(num, p, 1.0f) != tm_tensor_clamp(quotient))
            atomicAdd(&errors->scores, 1ull);
        if (__fmaf_rn(__fmaf_rn(-d, q, num), y, q) != quotient)
            atomicAdd(&errors->quotients, 1ull);
    }
    atomicAdd(&errors->tried, (unsigned long long)tried);
#endif
#ifdef __CUDA_ARCH__
    errors->architecture = __CUDA_ARCH__;
#endif
}

const char *score_cuda(unsigned seed, score_errors *errors, bool *nearest, const char **failure)
{
    score_errors *on_device = NULL;
    cudaDeviceProp properties;

    *errors = score_errors();
    *failure = NULL;
    cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver)
        return "no GPU";
    if (error == cudaSuccess) {
        *nearest = properties.major == 9 && properties.minor == 0;
        error = cudaMalloc(&on_device, sizeof *errors);
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(on_device, errors, sizeof *errors, cudaMemcpyHostToDevice);
    for (int exponent = 0; exponent < 99 && error == cudaSuccess; exponent++) {
        try_products<<<1024, 256>>>(on_device, exponent, seed);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(errors, on_device, sizeof *errors, cudaMemcpyDeviceToHost);
    cudaFree(on_device);
    if (error == cudaErrorNoKernelImageForDevice || (error == cudaSuccess && errors->architecture < 800))
        return "these kernels are not in this build, or not for this GPU";
    *failure = error == cudaSuccess ? NULL : cudaGetErrorName(error);
    return NULL;
}
