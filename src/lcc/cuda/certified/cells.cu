/* SPDX-License-Identifier: MIT */
/* Certified search: the sums of a frame's cells. */
#include "integers.h"
#include "lcc/cuda/certified/certified.cuh"

/* A thread makes EACH cells of a row. */
enum { THREADS = 128, EACH = 4 };

/* The bytes of a word that lie in a cell, as ones, where the cell begins so many bytes after the word. */
static __device__ __forceinline__ unsigned ones_of(int begin, int size)
{
    unsigned ones = 0;
#pragma unroll
    for (int i = 0; i < 4; i++)
        ones |= i >= begin && i < begin + size ? 1u << 8 * i : 0;
    return ones;
}

/* The sums of neighbouring cells, which begin at a whole word. */
template <int SIZE>
static __device__ __forceinline__ void sum_cells(unsigned (&sums)[EACH], const uint8_t *from, size_t pitch)
{
    unsigned words[SIZE][SIZE]; /* loaded before any is used */
#pragma unroll
    for (int y = 0; y < SIZE; y++)
#pragma unroll
        for (int i = 0; i < SIZE; i += 2 - SIZE % 2) {
            if constexpr (SIZE % 2) {
                words[y][i] = __ldg((const unsigned *)(from + y * pitch) + i);
            } else {
                const uint2 two = __ldg((const uint2 *)(from + y * pitch) + i / 2);
                words[y][i] = two.x, words[y][i + 1] = two.y;
            }
        }
#pragma unroll
    for (int y = 0; y < SIZE; y++)
#pragma unroll
        for (int i = 0; i < SIZE * EACH; i++) { /* word i / EACH and cell i % EACH */
            const unsigned ones = ones_of(i % EACH * SIZE - i / EACH * 4, SIZE);
            if (ones)
                sums[i % EACH] = __dp4a(words[y][i / EACH], ones, sums[i % EACH]);
        }
}

/* Those of any size, and as many as there are. */
static __device__ __forceinline__ void sum_large_cells(unsigned (&sums)[EACH], const uint8_t *from,
                                                       size_t pitch, int size, int count)
{
    for (int y = 0; y < size; y++, from += pitch)
        for (int k = 0; k < EACH && k < count; k++)
            for (int x = 0; x < size; x++)
                sums[k] += __ldg(from + k * size + x);
}

/* SIZE: of a cell, or 0: any. */
template <int SIZE>
static __global__ void __launch_bounds__(THREADS) cells_kernel(tm_certified_job j, int first, int end)
{
    tm_early_begin();
    const int size = SIZE ? SIZE : j.level.cells.size, each = (int)(j.pitch_cells / EACH),
              width = j.cells_across + j.level.cells.across - 1, i = (int)(blockIdx.x * THREADS + threadIdx.x),
              x = i % each * EACH, y = first + i / each;
    unsigned sums[EACH] = {};

    if (y >= end)
        return;
    if (x < width) {
        const uint8_t *from = j.frame + (int64_t)y * size * (int64_t)j.pitch + x * size;
        if constexpr (SIZE)
            sum_cells<SIZE>(sums, from, j.pitch);
        else
            sum_large_cells(sums, from, j.pitch, size, width - x);
    }
    const unsigned low = x + 1 < width ? ~0u : x < width ? 0xffffu : 0,
                   high = x + 3 < width ? ~0u : x + 2 < width ? 0xffffu : 0;
    *(uint2 *)(j.cells + y * j.pitch_cells + x) = make_uint2((sums[0] | sums[1] << 16) & low, (sums[2] | sums[3] << 16) & high);
}

cudaError_t tm_certified_cells(const tm_certified_job *j, int first, int end, cudaStream_t stream)
{
    const int more = j->level.cells.down - 1, size = j->level.cells.size;
    if (size == TM_CELLS_SMALLEST)
        return cudaSuccess;
    first = first ? first + more : 0, end += more;
    const int64_t threads = (int64_t)(end - first) * (j->pitch_cells / EACH);
    auto kernel = size == 3   ? cells_kernel<3>
                  : size == 4 ? cells_kernel<4>
                  : size == 5 ? cells_kernel<5>
                  : size == 6 ? cells_kernel<6>
                              : cells_kernel<0>;
    return tm_early_launch(kernel, (unsigned)ceil_div(threads, THREADS), THREADS, 0, j->early, stream, *j,
                           first, end);
}
