/* SPDX-License-Identifier: MIT */
/* A thread looks at a window: its cells are read once for all basis templates, whose taps a block keeps in shared memory. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/poses/large.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS, MOST_GRID_ROWS = 65535 };

static __global__ void __launch_bounds__(THREADS) cells_kernel(tm_large_level l, const uint8_t *plane, size_t pitch,
                                                                int width, int height)
{
    __shared__ unsigned columns[THREADS];
    const tm_large_cells &c = l.cells[blockIdx.z];
    const int side = l.side, each = THREADS / side, first = (int)blockIdx.x * each, thread = (int)threadIdx.x,
              x = c.x + first * side + thread;

    for (int row = (int)blockIdx.y; row < c.height; row += (int)gridDim.y) {
        unsigned sum = 0;
        if (thread < each * side && x >= 0 && x < width) {
            for (int y = max(0, c.y + row * side); y < min(height, c.y + (row + 1) * side); y++)
                sum += __ldg(plane + (int64_t)y * (int64_t)pitch + x);
        }
        columns[thread] = sum;
        __syncthreads();
        sum = 0;
        if (thread < each && first + thread < c.width) {
            for (int i = 0; i < side; i++)
                sum += columns[thread * side + i];
            const int64_t at = (int64_t)row * (int64_t)l.pitch + first + thread;
            c.means[at] = (uint8_t)(sum / (unsigned)(side * side));
            c.rests[at] = (uint8_t)(sum % (unsigned)(side * side));
        }
        __syncthreads();
    }
}

/* Four samples of a row from a place on, and the next four. */
struct row_words {
    const uint32_t *next;
    unsigned shift, word;

    __device__ __forceinline__ row_words(const uint8_t *at)
    {
        next = (const uint32_t *)(at - ((uintptr_t)at & 3));
        shift = 8 * (unsigned)((uintptr_t)at & 3);
        word = __ldg(next);
    }

    __device__ __forceinline__ unsigned take()
    {
        const unsigned before = word;
        word = __ldg(++next);
        return __funnelshift_r(before, word, shift);
    }
};

/* Sums over a window's core. */
struct core_sums {
    unsigned means, rests, square, cross, rest_square; /* of means, of both and of rests */
};

/* Adds the products of a window's means or rests, which begin at from, with all basis templates. The block does so together. */
template <int K, bool RESTS>
static __device__ __forceinline__ void multiply(unsigned (&z)[K], core_sums &sums, const tm_large_level &l,
                                                const uint8_t *from, const uint8_t *means, uint32_t *shared)
{
    for (int top = 0; top < l.height; top += l.rows_at_once) {
        const int words = min(l.rows_at_once, l.height - top) * l.row_words;
        const uint32_t *taps = l.taps + (int64_t)top * l.row_words * K, *mask = l.mask + top * l.row_words;
        __syncthreads();
        for (int i = threadIdx.x; i < words * K; i += THREADS)
            shared[i] = __ldg(taps + i);
        __syncthreads();
        for (int i = 0; i < words; i += l.row_words) {
            const int64_t row = (int64_t)(top + i / l.row_words) * (int64_t)l.pitch;
            row_words own(from + row), other(means + row);
            for (int k = i; k < i + l.row_words; k++) {
                const unsigned counts = __ldg(mask + k), word = own.take() & counts;
                if (RESTS) {
                    const unsigned mean = other.take() & counts;
                    sums.rests = __dp4a(word, 0x01010101u, sums.rests);
                    sums.rest_square = __dp4a(word, word, sums.rest_square);
                    sums.cross = __dp4a(word, mean, sums.cross);
                } else {
                    sums.means = __dp4a(word, 0x01010101u, sums.means);
                    sums.square = __dp4a(word, word, sums.square);
                }
                const uint4 *at = (const uint4 *)(shared + k * K);
#pragma unroll
                for (int j = 0; j < K / 4; j++) {
                    const uint4 t = at[j];
                    z[4 * j] = __dp4a(word, t.x, z[4 * j]);
                    z[4 * j + 1] = __dp4a(word, t.y, z[4 * j + 1]);
                    z[4 * j + 2] = __dp4a(word, t.z, z[4 * j + 2]);
                    z[4 * j + 3] = __dp4a(word, t.w, z[4 * j + 3]);
                }
            }
        }
    }
}

/* The core's cells without their mean: their squared length. */
static __device__ __forceinline__ double energy_of(const tm_large_level &l, const core_sums &s)
{
    const int64_t unit = l.side * l.side, sum = unit * s.means + s.rests,
                  square = unit * (unit * s.square + 2 * (int64_t)s.cross) + s.rest_square;
    return (double)((int64_t)l.pixels * square - sum * sum) / l.pixels;
}

template <int BASIS>
static __global__ void __launch_bounds__(THREADS) bound_kernel(tm_large_level l)
{
    enum { K = TM_LARGE_COLUMNS * BASIS };
    __shared__ __align__(16) uint32_t shared[TM_LARGE_WORDS];
    const tm_large_cells &c = l.cells[blockIdx.y];
    const int windows = c.across * c.down, window = (int)blockIdx.x * THREADS + (int)threadIdx.x,
              at = min(window, windows - 1);
    unsigned z[K] = {};
    core_sums sums = {};
    float p[K], rest = 1 + 2 * l.error + TM_FAMILY_ROUNDING, most = -8;
    int best = 0;

    if ((int)blockIdx.x * THREADS >= windows)
        return;
    const int64_t from = (int64_t)(c.first_y + at / c.across) * (int64_t)l.pitch + c.first_x + at % c.across;
    multiply<K, false>(z, sums, l, c.means + from, c.means + from, shared);
#pragma unroll
    for (int k = 0; k < K; k++)
        z[k] *= (unsigned)(l.side * l.side);
    multiply<K, true>(z, sums, l, c.rests + from, c.means + from, shared);
    const double energy = energy_of(l, sums);
    const float inverse = energy > 1e-3 ? 1 / __fsqrt_rn((float)energy) : 0.0f;
    const unsigned sum_of_cells = (unsigned)(l.side * l.side) * sums.means + sums.rests, bias = 128 * sum_of_cells; /* taps are 128 more */
    if (window >= windows)
        return;
#pragma unroll
    for (int k = 0; k < K; k++)
        p[k] = (float)(int)(z[k] - bias) * inverse;
#pragma unroll
    for (int k = K - 1; k >= 0; k--) {
        float sum = 0;
#pragma unroll
        for (int i = 0; i <= k; i++)
            sum += __ldg(l.solve + k * K + i) * p[i];
        p[k] = sum;
        rest -= sum * sum;
    }
    rest = __fsqrt_rn(fmaxf(rest, 0.0f));
    for (int a = 0; a < l.count; a++) {
        const float *with = l.coordinates + a * (K + 1);
        float sum = rest * __ldg(with + K);
#pragma unroll
        for (int k = 0; k < K; k++)
            sum += p[k] * __ldg(with + k);
        if (sum > most) {
            most = sum;
            best = a;
        }
    }
    const unsigned to = c.first + (unsigned)window;
#pragma unroll
    for (int k = 0; k < K; k++)
        l.p[(size_t)k * l.windows + to] = p[k];
    l.p[(size_t)K * l.windows + to] = rest;
    l.most[to] = most;
    l.best[to] = best;
    l.energies[to] = energy / (l.side * l.side);
    l.sums[to] = sum_of_cells;
}

cudaError_t tm_large_make_cells(const tm_large_level *l, const uint8_t *plane, size_t pitch, int width, int height,
                               cudaStream_t stream)
{
    int across = 0, down = 0;
    for (int i = 0; i < l->frames; i++) {
        across = max(across, l->cells[i].width);
        down = max(down, l->cells[i].height);
    }
    const dim3 blocks((unsigned)ceil_div(across, THREADS / l->side), (unsigned)smaller(down, MOST_GRID_ROWS), (unsigned)l->frames);
    return TM_LAUNCH(cells_kernel<<<blocks, THREADS, 0, stream>>>(*l, plane, pitch, width, height));
}

template <int BASIS>
static cudaError_t bound(const tm_large_level *l, cudaStream_t stream)
{
    const dim3 blocks((unsigned)ceil_div(tm_large_most_windows(l), THREADS), (unsigned)l->frames);
    return TM_LAUNCH(bound_kernel<BASIS><<<blocks, THREADS, 0, stream>>>(*l));
}

cudaError_t tm_large_bound(const tm_large_level *l, cudaStream_t stream)
{
    switch (l->basis) {
    case 1: return bound<1>(l, stream);
    case 2: return bound<2>(l, stream);
    case 3: return bound<3>(l, stream);
    default: return bound<4>(l, stream);
    }
}
