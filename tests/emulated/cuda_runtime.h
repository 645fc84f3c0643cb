/* SPDX-License-Identifier: MIT */
/* As much of CUDA as the plugin uses without tensor cores, on the CPU: device.cpp. */
#ifndef TMATCH_EMULATED_CUDA_RUNTIME_H
#define TMATCH_EMULATED_CUDA_RUNTIME_H

#include <limits.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <algorithm>
#include <functional>
#include <tuple>

using std::max;
using std::min;

#define __CUDACC__ 1
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__
#define __device__
#define __global__
#define __host__
#define __shared__ static /* blocks run one after the other */
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))

#define PAIR(name, type)                                                    \
    struct name {                                                           \
        type x, y;                                                          \
    };                                                                      \
    static inline name make_##name(type x, type y)                          \
    {                                                                       \
        return {x, y};                                                      \
    }
PAIR(int2, int)
PAIR(uint2, unsigned)
PAIR(float2, float)
PAIR(longlong2, long long)
PAIR(double2, double)
#undef PAIR

struct alignas(16) uint4 {
    unsigned x, y, z, w;
};

struct alignas(16) float4 {
    float x, y, z, w;
};

static inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}

struct dim3 {
    unsigned x, y, z;
    dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};

/* The running thread, its block and their shared memory. */
extern int em_thread;
extern dim3 em_block, em_grid, em_threads;
extern uint8_t em_shared[];
#define threadIdx (dim3((unsigned)em_thread % em_threads.x, (unsigned)em_thread / em_threads.x, 0))
#define blockIdx em_block
#define gridDim em_grid
#define blockDim em_threads

/* The thread waits for all others of its block, or of its warp; or lets others run, because it waits for something else. */
enum em_wait { EM_BLOCK = 1, EM_WARP, EM_OTHERS };
void em_wait_for(em_wait others);

static inline void __syncthreads()
{
    em_wait_for(EM_BLOCK);
}

static inline void __syncwarp(unsigned = ~0u)
{
    em_wait_for(EM_WARP);
}

/* What each thread shows the others. */
extern uint64_t em_shown[1024];

template <class T> static inline void em_show(T value)
{
    static_assert(sizeof value <= sizeof *em_shown, "a word");
    memcpy(&em_shown[em_thread], &value, sizeof value);
}

template <class T> static inline T em_see(int thread)
{
    T value;
    memcpy(&value, &em_shown[thread], sizeof value);
    return value;
}

static inline int __syncthreads_or(int value)
{
    int any = 0;
    em_show(value);
    em_wait_for(EM_BLOCK);
    for (unsigned i = 0; i < em_threads.x * em_threads.y; i++)
        any |= em_see<int>((int)i);
    em_wait_for(EM_BLOCK);
    return any;
}

/* Combines the values of the warp's lanes. */
template <class T, class F> static inline auto em_over_warp(T value, F combine)
{
    em_show(value);
    em_wait_for(EM_WARP);
    const auto result = combine(em_thread & ~31, em_thread & 31);
    em_wait_for(EM_WARP);
    return result;
}

template <class T> static inline T em_from_lane(T value, int from)
{
    return em_over_warp(value, [=](int first, int) {
        return from >= 0 && from < 32 ? em_see<T>(first + from) : value;
    });
}

template <class T> static inline T __shfl_sync(unsigned, T value, int lane)
{
    return em_from_lane(value, lane & 31);
}

template <class T> static inline T __shfl_xor_sync(unsigned, T value, int mask)
{
    return em_from_lane(value, (em_thread & 31) ^ mask);
}

template <class T> static inline T __shfl_up_sync(unsigned, T value, int distance)
{
    return em_from_lane(value, (em_thread & 31) - distance);
}

template <class T> static inline T __shfl_down_sync(unsigned, T value, int distance)
{
    return em_from_lane(value, (em_thread & 31) + distance);
}

static inline unsigned __ballot_sync(unsigned, int value)
{
    return em_over_warp(value, [](int first, int) {
        unsigned bits = 0;
        for (int i = 0; i < 32; i++)
            bits |= (unsigned)(em_see<int>(first + i) != 0) << i;
        return bits;
    });
}

static inline int __any_sync(unsigned mask, int value)
{
    return __ballot_sync(mask, value) != 0;
}

/* The warp's values by an operation of two, in each lane. */
template <class T, class OPERATION> static inline T em_reduce(T value, OPERATION operation)
{
    return em_over_warp(value, [=](int first, int) {
        T all = em_see<T>(first);
        for (int i = 1; i < 32; i++)
            all = operation(all, em_see<T>(first + i));
        return all;
    });
}

static inline unsigned __reduce_or_sync(unsigned, unsigned value)
{
    return em_reduce(value, [](unsigned a, unsigned b) { return a | b; });
}

static inline unsigned __reduce_add_sync(unsigned, unsigned value)
{
    return em_reduce(value, [](unsigned a, unsigned b) { return a + b; });
}

template <class T> static inline T __reduce_min_sync(unsigned, T value)
{
    return em_reduce(value, [](T a, T b) { return min(a, b); });
}

template <class T> static inline T __reduce_max_sync(unsigned, T value)
{
    return em_reduce(value, [](T a, T b) { return max(a, b); });
}

/* Half-precision numbers that are integers of at most 11 bits and a sign. */
static inline unsigned em_half(int v)
{
    const unsigned magnitude = (unsigned)abs(v);
    unsigned exponent = 0;
    while (magnitude >> exponent > 1)
        exponent++;
    if (exponent > 10) {
        fprintf(stderr, "emulated device: no integer of 11 bits: %d\n", v);
        abort();
    }
    return v ? (v < 0) << 15 | (exponent + 15) << 10 | (magnitude << (10 - exponent) & 1023) : 0;
}

static inline int em_of_half(unsigned half)
{
    const int exponent = (int)(half >> 10 & 31) - 15, magnitude = (int)(half & 1023 | 1024) >> (10 - exponent);
    if (half & 0x7fff && (exponent < 0 || exponent > 10)) {
        fprintf(stderr, "emulated device: no integer of 11 bits: %x\n", half);
        abort();
    }
    return half & 0x7fff ? half >> 15 & 1 ? -magnitude : magnitude : 0;
}

/* d += A B, of such numbers, as mma.sync.m16n8k16 spreads them over lanes. */
static inline void em_mma_m16n8k16(float (&d)[4], const uint4 &a, unsigned b0, unsigned b1)
{
    static unsigned lanes[32][6];
    const int lane = em_thread & 31, line = lane / 4, column = 2 * (lane & 3);
    const unsigned own[6] = {a.x, a.y, a.z, a.w, b0, b1};
    memcpy(lanes[lane], own, sizeof own);
    em_wait_for(EM_WARP);
    for (int i = 0; i < 4; i++) {
        for (int k = 0; k < 16; k++) {
            const unsigned x = lanes[4 * line + k / 2 % 4][i / 2 + k / 8 * 2],
                           y = lanes[4 * (column + (i & 1)) + k / 2 % 4][4 + k / 8];
            d[i] += (float)(em_of_half(x >> k % 2 * 16 & 0xffff) * em_of_half(y >> k % 2 * 16 & 0xffff));
        }
        if (fabsf(d[i]) >= 1 << 24) {
            fprintf(stderr, "emulated device: a sum of products that may not be exact\n");
            abort();
        }
    }
    em_wait_for(EM_WARP);
}

/* d += A B, of bytes, those of B with signs, as mma.sync.m16n8k32 spreads them over lanes. */
static inline void em_mma_m16n8k32(int (&d)[4], unsigned a0, unsigned a1, unsigned a2, unsigned a3, unsigned b0,
                                   unsigned b1)
{
    static unsigned lanes[32][6];
    const int lane = em_thread & 31, line = lane / 4, column = 2 * (lane & 3);
    const unsigned own[6] = {a0, a1, a2, a3, b0, b1};
    memcpy(lanes[lane], own, sizeof own);
    em_wait_for(EM_WARP);
    for (int i = 0; i < 4; i++) {
        int64_t sum = d[i];
        for (int k = 0; k < 32; k++) {
            const unsigned x = lanes[4 * line + k / 4 % 4][i / 2 + k / 16 * 2],
                           y = lanes[4 * (column + (i & 1)) + k / 4 % 4][4 + k / 16];
            sum += (int)(x >> k % 4 * 8 & 0xff) * (int8_t)(y >> k % 4 * 8 & 0xff);
        }
        d[i] = (int)sum;
        if (d[i] != sum) {
            fprintf(stderr, "emulated device: a sum of products that 32 bits do not hold\n");
            abort();
        }
    }
    em_wait_for(EM_WARP);
}

/* Memory. */
template <class T> static inline T __ldg(const T *from)
{
    if ((uintptr_t)from % sizeof(T)) {
        fprintf(stderr, "emulated device: misaligned load\n");
        abort();
    }
    return *from;
}
#define __ldcg(from) __ldg(from)
#define __ldcs(from) __ldg(from)

static inline void __threadfence() {}

/* Kernels run one after the other here: who waits for a count finds it reached, and no more than what a block of 8 adds too
 * much. */
static inline void em_count_is(unsigned count, unsigned wanted)
{
    if (count >= wanted && count < wanted + 8)
        return;
    fprintf(stderr, "emulated device: waits for a count of %u, which is %u\n", wanted, count);
    abort();
}

template <class T, class U> static inline T atomicMax(T *to, U value)
{
    const T before = *to;
    *to = max(before, (T)value);
    return before;
}

template <class T, class U> static inline T atomicMin(T *to, U value)
{
    const T before = *to;
    *to = min(before, (T)value);
    return before;
}

template <class T, class U> static inline T atomicAdd(T *to, U value)
{
    const T before = *to;
    *to += value;
    return before;
}

template <class T> static inline T atomicCAS(T *to, T expected, T value)
{
    const T before = *to;
    *to = before == expected ? value : before;
    return before;
}

template <class T, class U> static inline T atomicAnd(T *to, U value)
{
    const T before = *to;
    *to &= value;
    return before;
}

template <class T, class U> static inline T atomicOr(T *to, U value)
{
    const T before = *to;
    *to |= value;
    return before;
}

/* Arithmetic. */
static inline unsigned __byte_perm(unsigned low, unsigned high, unsigned which)
{
    const uint64_t bytes = (uint64_t)high << 32 | low;
    unsigned result = 0;
    for (int i = 0; i < 4; i++)
        result |= (unsigned)(bytes >> 8 * (which >> 4 * i & 7) & 255) << 8 * i;
    return result;
}

static inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return (unsigned)(((uint64_t)high << 32 | low) >> (shift & 31));
}

static inline unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift)
{
    return shift < 32 ? __funnelshift_r(low, high, shift) : high;
}

static inline unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
    for (int i = 0; i < 4; i++)
        sum += (a >> 8 * i & 255) * (b >> 8 * i & 255);
    return sum;
}

static inline int __dp4a(int a, int b, int sum)
{
    for (int i = 0; i < 4; i++)
        sum += (int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i);
    return sum;
}

static inline int __clz(int value)
{
    return value ? __builtin_clz((unsigned)value) : 32;
}

static inline int __ffs(unsigned value)
{
    return __builtin_ffs((int)value);
}

static inline int __popc(unsigned value)
{
    return __builtin_popcount(value);
}

#define CONVERT(name, from, to)          \
    static inline to name(from value)    \
    {                                    \
        return (to)value;                \
    }
CONVERT(__ll2float_rn, int64_t, float)
CONVERT(__double2float_rn, double, float)
#undef CONVERT

static inline float __ll2float_rz(int64_t value)
{
    const float nearest = (float)value;
    const bool beyond = value >= 0 ? (__int128)nearest > value : (__int128)nearest < value;
    return beyond ? nextafterf(nearest, 0) : nearest;
}

static inline long long __double2ll_rn(double value)
{
    return llrint(value);
}

static inline int __double2loint(double value)
{
    int64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return (int)bits;
}

/* As far from the true value as a device's may be. */
static inline float rsqrtf(float a)
{
    return 1 / sqrtf(a) * (em_thread % 2 ? 1 + 0x1p-22f : 1 - 0x1p-22f);
}

static inline float __fmaf_rn(float a, float b, float c)
{
    return fmaf(a, b, c);
}

static inline float __fmaf_ru(float a, float b, float c)
{
    const float nearest = fmaf(a, b, c);
    return (long double)a * b + c > nearest ? nextafterf(nearest, INFINITY) : nearest;
}

static inline float __double2float_rd(double value)
{
    const float nearest = (float)value;
    return nearest > value ? nextafterf(nearest, -INFINITY) : nearest;
}

static inline float __double2float_ru(double value)
{
    return -__double2float_rd(-value);
}

/* Two numbers of 16 bits in a word. */
static inline unsigned __vmaxs2(unsigned a, unsigned b)
{
    const int16_t low = max((int16_t)a, (int16_t)b), high = max((int16_t)(a >> 16), (int16_t)(b >> 16));
    return (uint16_t)low | (unsigned)(uint16_t)high << 16;
}

static inline unsigned __viaddmax_s16x2(unsigned a, unsigned b, unsigned c)
{
    return __vmaxs2((a + b & 0xffff) | ((a >> 16) + (b >> 16)) << 16, c);
}

static inline float __fmul_rn(float a, float b)
{
    return a * b;
}

static inline float __fdiv_rn(float a, float b)
{
    return a / b;
}

static inline float __fsqrt_rn(float a)
{
    return sqrtf(a);
}

#define REINTERPRET(name, from, to)          \
    static inline to name(from value)        \
    {                                        \
        to bits;                             \
        memcpy(&bits, &value, sizeof bits);  \
        return bits;                         \
    }
REINTERPRET(__float_as_int, float, int)
REINTERPRET(__int_as_float, int, float)
REINTERPRET(__double_as_longlong, double, long long)
REINTERPRET(__longlong_as_double, long long, double)
#undef REINTERPRET

/* The runtime. */
enum cudaError_t {
    cudaSuccess,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorNoDevice = 100,
    cudaErrorInvalidDevice = 101,
    cudaErrorInvalidResourceHandle = 400,
    cudaErrorNotReady = 600,
    cudaErrorLaunchTimeout = 702,
    cudaErrorContextIsDestroyed = 709,
    cudaErrorNotSupported = 801,
    cudaErrorUnknown = 999
};
enum { cudaEventDisableTiming, cudaStreamNonBlocking, cudaHostAllocPortable };
enum { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
enum { cudaFuncAttributeMaxDynamicSharedMemorySize };
enum cudaMemcpyKind { cudaMemcpyHostToDevice = 1, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice };

typedef struct em_stream *cudaStream_t;
typedef struct em_event *cudaEvent_t;

struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount;
    size_t totalGlobalMem, sharedMemPerBlockOptin;
};

struct cudaPointerAttributes {
    int type, device;
};

cudaError_t cudaMalloc(void **memory, size_t size);
cudaError_t cudaFree(void *memory);
cudaError_t cudaHostAlloc(void **memory, size_t size, int flags);
cudaError_t cudaFreeHost(void *memory);
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes *attributes, const void *memory);
cudaError_t cudaMemsetAsync(void *to, int value, size_t size, cudaStream_t stream);
cudaError_t cudaMemcpyAsync(void *to, const void *from, size_t size, cudaMemcpyKind kind,
                            cudaStream_t stream);
cudaError_t cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind,
                              cudaStream_t stream);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, int flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, int flags);
cudaError_t cudaEventCreate(cudaEvent_t *event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventQuery(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t from, cudaEvent_t to);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *properties, int device);
cudaError_t cudaGetDeviceCount(int *count);

enum cudaDeviceAttr { cudaDevAttrClockRate, cudaDevAttrMemoryClockRate, cudaDevAttrGlobalMemoryBusWidth };

static inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr, int)
{
    *value = 0;
    return cudaSuccess;
}

static inline cudaError_t cudaMallocHost(void **memory, size_t size)
{
    return cudaHostAlloc(memory, size, 0);
}

static inline cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, int)
{
    return cudaEventCreate(event);
}

static inline cudaError_t cudaGetLastError()
{
    return cudaSuccess;
}

cudaError_t cudaSetDevice(int device);

static inline cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

static inline cudaError_t cudaRuntimeGetVersion(int *version)
{
    return cudaDriverGetVersion(version);
}

static inline const char *cudaGetErrorString(cudaError_t error)
{
    return error == cudaErrorMemoryAllocation ? "out of memory" : "emulated error";
}

#define __stcs(to, value) (*(to) = (value))

#include "asynchronous.h"

template <class KERNEL> static inline cudaError_t cudaFuncSetAttribute(KERNEL, int, int)
{
    return cudaSuccess;
}

void em_launch(dim3 grid, dim3 threads, size_t shared, cudaStream_t stream,
               std::function<void()> body);

/* What translate.py makes of kernel<<<grid, threads, shared, stream>>>(arguments). */
template <class KERNEL, class... A>
static inline void em_call(dim3 grid, dim3 threads, size_t shared, cudaStream_t stream,
                           KERNEL kernel, A... arguments)
{
    const std::tuple<A...> all(arguments...);
    em_launch(grid, threads, shared, stream, [=] { std::apply(kernel, all); });
}

#endif
