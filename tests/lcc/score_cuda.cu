/* SPDX-License-Identifier: MIT */
#include "lcc/cuda/tensor/epilogue.cuh"
#include "score_cuda.h"

/* A number from 1 to below 2 of these bits. */
static __device__ float mantissa(unsigned bits)
{
    return __uint_as_float(127u << 23 | (bits & 0x7fffff));
}

static __global__ void try_products(score_errors *errors, int exponent, unsigned seed)
{
#if __CUDA_ARCH__ >= 800
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < 1u << 23; i += gridDim.x * blockDim.x) {
        const float p = ldexpf(mantissa(i), exponent), d = tm_tensor_root(p);
        unsigned random = (i ^ seed) * 2654435761u;
        random ^= random >> 15;
        const float num = mantissa(random * 2246822519u) * (random >> 31 ? -d : d) * (random >> 30 & 1 ? 0.5f : 0x1p-12f);
        if (d != __fsqrt_rn(p))
            atomicAdd(&errors->roots, 1ull);
        if (tm_tensor_reciprocal(d) != __frcp_rn(d))
            atomicAdd(&errors->reciprocals, 1ull);
        if (tm_tensor_score(num, p, 1.0f) != tm_tensor_clamp(__fdiv_rn(num, d)))
            atomicAdd(&errors->scores, 1ull);
    }
#endif
}

const char *score_cuda(unsigned seed, score_errors *errors, bool *nearest)
{
    score_errors *device_errors = NULL;
    cudaDeviceProp properties;

    *errors = score_errors();
    cudaError_t error = cudaGetDeviceProperties(&properties, 0);
    if (error != cudaSuccess)
        return "no GPU that CUDA could use";
    if (properties.major < 8)
        return "the GPU is older than these kernels";
    *nearest = properties.major == 9 && properties.minor == 0;
    error = cudaMalloc(&device_errors, sizeof *errors);
    if (error == cudaSuccess)
        error = cudaMemcpy(device_errors, errors, sizeof *errors, cudaMemcpyHostToDevice);
    for (int exponent = 0; exponent < 99 && error == cudaSuccess; exponent++) {
        try_products<<<1024, 256>>>(device_errors, exponent, seed);
        error = cudaGetLastError();
    }
    if (error == cudaSuccess)
        error = cudaMemcpy(errors, device_errors, sizeof *errors, cudaMemcpyDeviceToHost);
    cudaFree(device_errors);
    errors->failed = error != cudaSuccess;
    return NULL;
}
