/* SPDX-License-Identifier: MIT */
/* Certified search in poses: what all members of a class can score at most in each window.
 */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/poses/poses.cuh"

enum {
    WARPS = 8,
    THREADS = 32 * WARPS,
    GROUPS = TM_POSE_GROUPS,
};

/* 1 / |f| over the core, or 0 where it is flat. */
static __device__ __forceinline__ float inverse_length(const tm_pose_job &j, const tm_pose_level &l, int x, int y)
{
    const uint2 *from = j.sums + (int64_t)(l.y + y) * (int64_t)j.pitch + l.x + x;
    unsigned sum = 0, square = 0;

    for (int i = 0; i < l.run_count; i++) {
        const tm_family_run run = l.runs[i];
        const uint2 *row = from + (int64_t)run.y * (int64_t)j.pitch;
        const uint2 before = __ldg(row + run.x), end = __ldg(row + run.end);
        sum += end.x - before.x;
        square += end.y - before.y;
    }
    const int64_t energy = (int64_t)((uint64_t)l.pixels * square - (uint64_t)sum * sum);
    return energy ? l.root * rsqrtf(__ll2float_rn(energy)) : 0.0f;
}

/* What members can score at most in a window of these products. */
template <int BASIS>
static __device__ __forceinline__ float bound_of(const tm_pose_level &l, const int *products, float inverse,
                                                 const float *solve)
{
    enum { K = TM_POSE_COLUMNS * BASIS };
    float z[K], rest = 1 + 2 * l.error + TM_FAMILY_ROUNDING, most = 0, even = 0;

#pragma unroll
    for (int k = 0; k < K; k++)
        z[k] = (float)products[k];
#pragma unroll
    for (int k = 0; k < K; k++) {
        float p = 0;
#pragma unroll
        for (int i = 0; i <= k; i++)
            p += solve[k * K + i] * z[i];
        p *= inverse;
        rest -= p * p;
        if (k % 2)
            most += __fsqrt_rn(even + p * p) * __ldg(l.radius + k / 2);
        else
            even = p * p;
    }
    return most + __fsqrt_rn(fmaxf(rest, 0.0f)) * l.rest;
}

/* The greater of two bounds with their windows, which are not less than 0. */
static __device__ __forceinline__ unsigned long long key_of(float most, unsigned window)
{
    return (unsigned long long)(unsigned)__float_as_int(most) << 32 | window;
}

template <int BASIS>
static __global__ void __launch_bounds__(THREADS) bound_kernel(tm_pose_job j, tm_pose_level l)
{
    enum { K = TM_POSE_COLUMNS * BASIS, ROWS = tm_pose_rows<BASIS>::at_once, PITCH = K + 1 };
    __shared__ __align__(16) float solve[K * K];
    __shared__ int products[WARPS][32 * PITCH];
    __shared__ unsigned long long tops[WARPS];
    const int lane = threadIdx.x & 31, warp = threadIdx.x / 32, x = (int)blockIdx.x % l.tiles_across * TM_POSE_TILE_WIDTH,
              first = (int)blockIdx.x / l.tiles_across * TM_POSE_TILE_HEIGHT;
    int *own = products[warp];
    unsigned long long top = 0;

    for (int i = threadIdx.x; i < K * K; i += THREADS)
        solve[i] = __ldg(l.solve + i);
    __syncthreads();
    for (int y = first + ROWS * warp; y < min(first + TM_POSE_TILE_HEIGHT, l.down); y += ROWS * WARPS) {
        int acc[ROWS][GROUPS][BASIS][4] = {};
        tm_pose_multiply<BASIS, ROWS>(acc, j.frame + (int64_t)(l.y + y) * (int64_t)j.pitch + l.x + x, j.pitch, l.fragments,
                                      l.height, l.steps);
#pragma unroll
        for (int part = 0; part < ROWS * GROUPS / 2; part++) { /* 32 windows: a lane's is one of them */
            const int r = part / (GROUPS / 2), group = part % (GROUPS / 2) * 2;
            __syncwarp();
#pragma unroll
            for (int i = 0; i < 2 * BASIS * 4; i++) {
                const int g = i / (4 * BASIS), n = i / 4 % BASIS, c = i % 4;
                own[(16 * g + lane / 4 + c / 2 * 8) * PITCH + 8 * n + 2 * (lane % 4) + c % 2] = acc[r][group + g][n][c];
            }
            __syncwarp();
            const int at = x + 16 * group + lane;
            if (at >= l.across || y + r >= l.down)
                continue;
            const float most = bound_of<BASIS>(l, own + lane * PITCH, inverse_length(j, l, at, y + r), solve);
            const unsigned window = (unsigned)(y + r) * (unsigned)l.across + (unsigned)at;
            l.most[window] = most;
            top = max(top, key_of(most, window));
        }
    }
    for (int d = 16; d; d /= 2)
        top = max(top, __shfl_xor_sync(~0u, top, d));
    if (lane == 0)
        tops[warp] = top;
    __syncthreads();
    if (threadIdx.x)
        return;
    for (int i = 1; i < WARPS; i++)
        top = max(top, tops[i]);
    l.tops[blockIdx.x] = (unsigned)top;
}

/* A warp sums a row: four samples of a lane at a time. */
static __global__ void __launch_bounds__(THREADS) sums_kernel(const uint8_t *plane, size_t pitch, int64_t height,
                                                               uint2 *sums)
{
    const int lane = threadIdx.x & 31;
    const int64_t row = (int64_t)blockIdx.x * WARPS + threadIdx.x / 32;
    unsigned sum = 0, square = 0;

    if (row >= height)
        return;
    const uint32_t *words = (const uint32_t *)(plane + row * (int64_t)pitch);
    uint2 *to = sums + row * (int64_t)pitch;
    for (int at = lane; at < (int)(pitch / 4); at += 32) {
        const unsigned word = __ldg(words + at);
        const unsigned mine = __dp4a(word, 0x01010101u, 0u), mine_squared = __dp4a(word, word, 0u);
        unsigned to_here = mine, to_here_squared = mine_squared;
        for (int d = 1; d < 32; d *= 2) {
            const unsigned other = __shfl_up_sync(~0u, to_here, d), other_squared = __shfl_up_sync(~0u, to_here_squared, d);
            to_here += lane >= d ? other : 0;
            to_here_squared += lane >= d ? other_squared : 0;
        }
        unsigned before = sum + to_here - mine, before_squared = square + to_here_squared - mine_squared;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const unsigned sample = word >> 8 * i & 255;
            to[4 * at + i] = make_uint2(before, before_squared);
            before += sample;
            before_squared += sample * sample;
        }
        sum += __shfl_sync(~0u, to_here, 31);
        square += __shfl_sync(~0u, to_here_squared, 31);
    }
}

cudaError_t tm_poses_sum_rows(const uint8_t *plane, size_t pitch, int64_t rows, uint2 *sums, cudaStream_t stream)
{
    return TM_LAUNCH(sums_kernel<<<(unsigned)ceil_div(rows, WARPS), THREADS, 0, stream>>>(plane, pitch, rows, sums));
}

template <int BASIS>
static cudaError_t launch(const tm_pose_job *j, const tm_pose_level *l, cudaStream_t stream)
{
    return TM_LAUNCH(bound_kernel<BASIS><<<(unsigned)l->tiles, THREADS, 0, stream>>>(*j, *l));
}

cudaError_t tm_poses_bound(const tm_pose_job *j, const tm_pose_level *l, cudaStream_t stream)
{
    switch (l->basis) {
    case 1: return launch<1>(j, l, stream);
    case 2: return launch<2>(j, l, stream);
    case 3: return launch<3>(j, l, stream);
    default: return launch<4>(j, l, stream);
    }
}
