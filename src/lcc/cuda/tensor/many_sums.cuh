/* SPDX-License-Identifier: MIT */
/* Window sums for wgmma_many.cu: once for all templates. Without a mask, a thread goes down a column and keeps the sums of
 * its last rows; then each 8 neighbouring columns are added up, and of these and single ones each window. */
#ifndef TMATCH_LCC_CUDA_TENSOR_MANY_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_MANY_SUMS_CUH
#include "lcc/cuda/tensor/epilogue.cuh"
#include "lcc/cuda/tensor/many_rows.cuh"

/* The root of the variance of a window that no template is to be found in: flat, or beyond the map. */
#define TM_MANY_NO_ROOT 1e30f

/* What the warps of a warpgroup tell each other in a step. */
template <int GROUP, int STEPS, int SHIFTS>
struct tm_many_scratch {
    enum { COLUMNS = TILE_WIDTH + 32 * STEPS };
    uint2 columns[2][SHIFTS][COLUMNS];  // S_F and S_FF of a column's h rows, in every second step
    uint2 eights[SHIFTS][COLUMNS];      // of 8 columns from this one on
    float2 windows[SHIFTS][TILE_WIDTH]; // S_F, and the root of var_F
    float minus_var[SHIFTS][TILE_WIDTH];
    float2 limits[GROUP]; // see many_score.cuh
};

/* A barrier of a warpgroup's threads. */
__device__ __forceinline__ void tm_many_barrier(int warpgroup)
{
    static_assert(TM_TENSOR_WARPGROUPS == 2, "each warpgroup has a barrier");
    if (warpgroup)
        asm volatile("bar.sync 2, %0;" ::"n"(+TM_MANY_THREADS) : "memory");
    else
        asm volatile("bar.sync 1, %0;" ::"n"(+TM_MANY_THREADS) : "memory");
}

__device__ __forceinline__ uint2 operator+(uint2 a, uint2 b)
{
    return make_uint2(a.x + b.x, a.y + b.y);
}

/* This thread's column, of which it has the sums of h - 1 rows between steps. */
struct tm_many_column {
    int c;
    bool used;
    uint2 sums;

    __device__ __forceinline__ tm_many_column(int w)
        : c(threadIdx.x % TM_MANY_THREADS), used(c < TILE_WIDTH - 1 + w)
    {
    }

    template <int STEPS, int SHIFTS>
    __device__ __forceinline__ void start(const tm_many_ring<SHIFTS, STEPS> &ring, int h)
    {
        sums = make_uint2(0, 0);
#pragma unroll 8
        for (int r = 0; r < h - 1; r++)
            if (used) {
                unsigned v = ring.byte(r, c);
                sums = sums + make_uint2(v, v * v);
            }
    }

    template <int GROUP, int STEPS, int SHIFTS>
    __device__ __forceinline__ void step(const tm_many_ring<SHIFTS, STEPS> &ring,
                                         tm_many_scratch<GROUP, STEPS, SHIFTS> &scratch, int h, int turn)
    {
        if (!used)
            return;
#pragma unroll
        for (int s = 0; s < SHIFTS; s++) {
            unsigned in = ring.byte(s + h - 1, c), out = ring.byte(s, c);
            sums = sums + make_uint2(in, in * in);
            scratch.columns[turn][s][c] = sums;
            sums = make_uint2(sums.x - out, sums.y - out * out);
        }
    }
};

/* Adds up each 8 columns that windows want together. */
template <int GROUP, int STEPS, int SHIFTS>
__device__ __forceinline__ void tm_many_add_eights(tm_many_scratch<GROUP, STEPS, SHIFTS> &scratch, int w, int turn)
{
    const int c = threadIdx.x % TM_MANY_THREADS;
    if (c >= TILE_WIDTH + w / 8 * 8 - 8)
        return;
#pragma unroll
    for (int s = 0; s < SHIFTS; s++) {
        uint2 sum = scratch.columns[turn][s][c];
#pragma unroll
        for (int i = 1; i < 8; i++)
            sum = sum + scratch.columns[turn][s][c + i];
        scratch.eights[s][c] = sum;
    }
}

/* Puts down the sums of this warp's windows, which all of its lanes then see: sums(s, x) has S_F and S_FF.
 * cols, rows: how many of the warpgroup's windows lie in the map. */
template <int GROUP, int STEPS, int SHIFTS, typename S>
__device__ __forceinline__ void tm_many_put_windows(tm_many_scratch<GROUP, STEPS, SHIFTS> &scratch, int n, int cols, int rows,
                                                    S sums)
{
    const int lane = threadIdx.x % 32, x = threadIdx.x % TM_MANY_THREADS / 32 * 16 + lane % 16;
#pragma unroll
    for (int s = lane / 16; s < SHIFTS; s += 2) {
        const bool inside = x < cols && s < rows;
        const uint2 sum = inside ? sums(s, x) : make_uint2(0, 0);
        const float minus_var = tm_tensor_minus_var<false>(sum.x, sum.y, n);
        float root;
        asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(-minus_var));
        scratch.windows[s][x] = make_float2((float)(int)sum.x, minus_var == 0 ? TM_MANY_NO_ROOT : root);
        scratch.minus_var[s][x] = minus_var;
    }
    __syncwarp();
}

/* The sums of a window of w columns, from those of columns. */
template <int GROUP, int STEPS, int SHIFTS>
__device__ __forceinline__ uint2 tm_many_sum_window(const tm_many_scratch<GROUP, STEPS, SHIFTS> &scratch, int w, int turn, int s,
                                                    int x)
{
    uint2 sum = make_uint2(0, 0);
    int c = x;
    for (; c < x + w / 8 * 8; c += 8)
        sum = sum + scratch.eights[s][c];
    for (; c < x + w; c++)
        sum = sum + scratch.columns[turn][s][c];
    return sum;
}

#endif
