/* SPDX-License-Identifier: MIT */
/* Transforms of a block's rows or columns in shared memory.
 *
 * Forward is decimation in frequency, in place, so its result lies in permuted
 * order; inverse is the same graph backwards and takes that order. Nothing between
 * them minds the order, so nothing is ever brought into the natural one. */
#ifndef TMATCH_FFT_CUDA_TRANSFORM_CUH
#define TMATCH_FFT_CUDA_TRANSFORM_CUH

#include "fft/cuda/butterfly.cuh"
#include "lcc/cuda/memory.cuh"

/* N points as passes of up to four radices. A transform has THREADS threads, which in most passes
 * have equally many butterflies. */
template <int THREADS_, int R0, int R1, int R2, int R3>
struct tm_passes {
    static constexpr int N = R0 * R1 * R2 * R3, THREADS = THREADS_;
    static constexpr int COUNT = R3 > 1 ? 4 : R2 > 1 ? 3 : 2;
    static constexpr int LAST = COUNT - 1;
    static __host__ __device__ constexpr int radix(int pass)
    {
        return pass == 0 ? R0 : pass == 1 ? R1 : pass == 2 ? R2 : R3;
    }
    /* Distance of a butterfly's elements. */
    static __host__ __device__ constexpr int distance(int pass)
    {
        return pass == 0 ? N / R0 : distance(pass - 1) / radix(pass);
    }
    /* Where a pass's roots begin. */
    static __host__ __device__ constexpr int first_root(int pass)
    {
        return pass == 0 ? 0 : first_root(pass - 1) + 2 * distance(pass - 1);
    }
    /* Points with padding: without it, the last pass's strides would put all
     * threads' elements into one bank. */
    static __host__ __device__ constexpr int padded(int element)
    {
        return element + element / radix(LAST);
    }
};

/* A block of BATCH transforms. Neighbouring threads have what is neighbouring in global memory: of
 * COLUMNS the same element of neighbouring columns, of rows neighbouring elements. */
template <class P, int BATCH_, bool COLUMNS, int LEAST_>
struct tm_block {
    typedef P passes;
    static constexpr int BATCH = BATCH_, THREADS = P::THREADS * BATCH;
    static constexpr int LEAST = LEAST_; /* blocks that a multiprocessor is to have at a time, or 0 */
    static constexpr size_t BYTES = (size_t)P::padded(P::N) * BATCH * sizeof(double2);
    static_assert(THREADS % 32 == 0, "whole warps");

    double2 *points; /* shared memory */
    const double2 *roots; /* of each pass but the last exp(-2 pi i k / M) of each k, then their fourth powers: see tm_twiddle */
    int lane, item; /* which of the transform's threads; which of the batch */

    __device__ tm_block(double2 *memory, const double2 *table) : points(memory), roots(table)
    {
        lane = COLUMNS ? threadIdx.x / BATCH : threadIdx.x % P::THREADS;
        item = COLUMNS ? threadIdx.x % BATCH : threadIdx.x / P::THREADS;
    }

    __device__ double2 &at(int element) const
    {
        return COLUMNS ? points[P::padded(element) * BATCH + item]
                       : points[item * P::padded(P::N) + P::padded(element)];
    }

    /* Allows a kernel the shared memory of such blocks. */
    static cudaError_t allow(const void *kernel)
    {
        return TM_CALL(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                            (int)BYTES));
    }
};

/* v[m] *= exp(-+2 pi i * k * m / M), M = R * distance and k < distance. Two roots are read and the
 * others made of them: reading all would keep shared memory's unit busier than
 * the arithmetic. Neighbouring threads' roots are neighbours. */
template <class B, int PASS, bool INVERSE>
static __device__ __forceinline__ void tm_twiddle(const B &block,
                                                  double2 (&v)[B::passes::radix(PASS)], int k)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(PASS);
    const double2 *roots = block.roots + P::first_root(PASS) + k;
    double2 power[4], four = __ldg(roots + P::distance(PASS)), base = make_double2(1, 0);

    power[1] = __ldg(roots);
    power[2] = tm_mul(power[1], power[1]);
    power[3] = tm_mul(power[2], power[1]);
#pragma unroll
    for (int m = 1; m < R; m++) {
        if (m % 4 == 0)
            base = m == 4 ? four : tm_mul(base, four);
        double2 root = m < 4 ? power[m] : m % 4 == 0 ? base : tm_mul(base, power[m % 4]);
        v[m] = INVERSE ? tm_mul_conj(v[m], root) : tm_mul(v[m], root);
    }
}

/* Runs do_butterfly(first element, k, butterfly) for this thread's butterflies. */
template <class B, int PASS, class F>
static __device__ __forceinline__ void tm_each_butterfly(const B &block, F do_butterfly)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(PASS), D = P::distance(PASS), COUNT = P::N / R;
#pragma unroll 1
    for (int q = block.lane; q < COUNT; q += P::THREADS)
        do_butterfly(q / D * (D * R) + q % D, q % D, q);
}

/* A pass from shared memory to shared memory, between two barriers. */
template <class B, int PASS, bool INVERSE>
static __device__ __forceinline__ void tm_inner_pass(const B &block)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(PASS), D = P::distance(PASS);
    tm_each_butterfly<B, PASS>(block, [&](int first, int k, int) {
        double2 v[R];
#pragma unroll
        for (int m = 0; m < R; m++)
            v[m] = block.at(first + m * D);
        if (INVERSE)
            tm_twiddle<B, PASS, true>(block, v, k);
        tm_butterfly<R, INVERSE>(v);
        if (!INVERSE)
            tm_twiddle<B, PASS, false>(block, v, k);
#pragma unroll
        for (int m = 0; m < R; m++)
            block.at(first + m * D) = v[m];
    });
}

/* All forward passes but the last, from load(element). fetch() may begin to load what the last one needs: that takes as
 * long as the other threads take to their end. */
template <class B, class Load, class Fetch>
static __device__ __forceinline__ void tm_forward(const B &block, Load load, Fetch fetch)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(0), D = P::distance(0);
    tm_each_butterfly<B, 0>(block, [&](int first, int k, int) {
        double2 v[R];
#pragma unroll
        for (int m = 0; m < R; m++)
            v[m] = load(first + m * D);
        tm_butterfly<R, false>(v);
        tm_twiddle<B, 0, false>(block, v, k);
#pragma unroll
        for (int m = 0; m < R; m++)
            block.at(first + m * D) = v[m];
    });
    if constexpr (P::LAST > 1) {
        __syncthreads();
        tm_inner_pass<B, 1, false>(block);
    }
    if constexpr (P::LAST > 2) {
        __syncthreads();
        tm_inner_pass<B, 2, false>(block);
    }
    fetch();
    __syncthreads();
}

/* The last forward pass: use(v, butterfly); v[m] is element m * N / R + butterfly
 * in the order that spectra have in global memory, coalesced. */
template <class B, class Use>
static __device__ __forceinline__ void tm_forward_last(const B &block, Use use)
{
    constexpr int R = B::passes::radix(B::passes::LAST);
    tm_each_butterfly<B, B::passes::LAST>(block, [&](int first, int, int q) {
        double2 v[R];
#pragma unroll
        for (int m = 0; m < R; m++)
            v[m] = block.at(first + m);
        tm_butterfly<R, false>(v);
        use(v, q);
    });
}

/* The first inverse pass of one butterfly. */
template <class B>
static __device__ __forceinline__ void
tm_inverse_first(const B &block, double2 (&v)[B::passes::radix(B::passes::LAST)], int q)
{
    constexpr int R = B::passes::radix(B::passes::LAST);
    tm_butterfly<R, true>(v);
#pragma unroll
    for (int m = 0; m < R; m++)
        block.at(q * R + m) = v[m];
}

/* The inverse passes after it: use(v, butterfly); v[m] is element
 * butterfly + m * N / R in natural order, not scaled. */
template <class B, class Use>
static __device__ __forceinline__ void tm_inverse(const B &block, Use use)
{
    typedef typename B::passes P;
    constexpr int R = P::radix(0), D = P::distance(0);
    __syncthreads();
    if constexpr (P::LAST > 2) {
        tm_inner_pass<B, 2, true>(block);
        __syncthreads();
    }
    if constexpr (P::LAST > 1) {
        tm_inner_pass<B, 1, true>(block);
        __syncthreads();
    }
    tm_each_butterfly<B, 0>(block, [&](int first, int k, int q) {
        double2 v[R];
#pragma unroll
        for (int m = 0; m < R; m++)
            v[m] = block.at(first + m * D);
        tm_twiddle<B, 0, true>(block, v, k);
        tm_butterfly<R, true>(v);
        use(v, q);
    });
}

#endif
