/* SPDX-License-Identifier: MIT */
/* Frame rows in shared memory for wgmma_many.cu. Unit u of a row is the 16 bytes from its byte u on, so
 * that 64 units which follow each other are the lines of A for 64 neighbouring windows, and 16 bytes of k
 * further stand 16 units on.
 *
 * A warpgroup makes SHIFTS rows of 64 windows at a step, with GROUP templates that take STEPS steps of k. */
#ifndef TMATCH_LCC_CUDA_TENSOR_MANY_ROWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_MANY_ROWS_CUH
#include "lcc/cuda/tensor/kernels.cuh"

enum { TM_MANY_THREADS = 128 }; // of a warpgroup

template <int SHIFTS, int STEPS>
struct tm_many_ring {
    enum { UNITS = TILE_WIDTH - 16 + 32 * STEPS, ROW = 16 * UNITS };
    unsigned rows;    // address of slot 0
    int count, first; // slot of the step's first row

    __device__ __forceinline__ unsigned row(int r) const
    {
        int slot = first + r;
        return rows + (slot < count ? slot : slot - count) * ROW;
    }

    /* The row's byte c. It stands in 16 units or fewer. */
    __device__ __forceinline__ unsigned byte(int r, int c) const
    {
        unsigned v;
        int u = min(c & ~15, UNITS - 1);
        asm volatile("ld.shared.u8 %0, [%1];" : "=r"(v) : "r"(row(r) + 15 * u + c) : "memory");
        return v;
    }

    __device__ __forceinline__ void step()
    {
        first += SHIFTS;
        first = first < count ? first : first - count;
    }
};

/* The rows that a step's products read, and those that are staged meanwhile. */
__host__ __device__ __forceinline__ int tm_many_rows(int h, int shifts)
{
    return h + 2 * shifts - 1;
}

/* A thread's N units of some rows, on their way from the frame into the ring. */
template <typename R, int N>
struct tm_many_stage {
    int r[N], u[N]; // where they are: row and unit
    unsigned words[N][5];

    /* This thread's N of all units of these rows, from first on. */
    __device__ __forceinline__ tm_many_stage(int first)
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            const int e = first + TM_MANY_THREADS * i;
            r[i] = e / R::UNITS, u[i] = e % R::UNITS;
        }
    }

    /* x, y: where unit 0 of row 0 begins in the frame. */
    __device__ __forceinline__ void load(const tm_tensor_job &j, int x, int y, int rows)
    {
        const uint8_t *const frame = j.frame + (size_t)y * j.pitch + x;
#pragma unroll
        for (int i = 0; i < N; i++) {
            const unsigned *from = (const unsigned *)(frame + r[i] * j.pitch + (u[i] & ~3));
#pragma unroll
            for (int k = 0; k < 5; k++)
                words[i][k] = r[i] < rows ? __ldg(from + k) : 0;
        }
    }

    /* Stores them in the ring, from its row at on. */
    __device__ __forceinline__ void store(const R &ring, int at, int rows) const
    {
#pragma unroll
        for (int i = 0; i < N; i++) {
            unsigned v[4];
#pragma unroll
            for (int k = 0; k < 4; k++)
                v[k] = __funnelshift_r(words[i][k], words[i][k + 1], 8 * (u[i] & 3));
            if (r[i] < rows)
                asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(ring.row(at + r[i]) + 16 * u[i]),
                             "r"(v[0]), "r"(v[1]), "r"(v[2]), "r"(v[3])
                             : "memory");
        }
    }
};

/* Brings the first rows of a strip into the ring. */
template <typename R>
__device__ __forceinline__ void tm_many_fill(const R &ring, const tm_tensor_job &j, int x, int y, int rows)
{
    enum { AT_ONCE = 5 };
#pragma unroll 1
    for (int i = threadIdx.x % TM_MANY_THREADS; i < rows * R::UNITS; i += AT_ONCE * TM_MANY_THREADS) {
        tm_many_stage<R, AT_ONCE> stage(i);
        stage.load(j, x, y, rows);
        stage.store(ring, 0, rows);
    }
}

#endif
