/* SPDX-License-Identifier: MIT */
/* Certified search: exact scores of neighbouring windows, by a warp or by a block of several. */
#ifndef TMATCH_LCC_CUDA_CERTIFIED_WINDOWS_CUH
#define TMATCH_LCC_CUDA_CERTIFIED_WINDOWS_CUH

#include "lcc/cuda/certified/certified.cuh"

/* The key of a window with these sums. */
static __device__ __forceinline__ unsigned long long tm_certified_key(const tm_certified_job &j, int x, int y,
                                                                      unsigned f, unsigned ff, unsigned ft)
{
    const float score = tm_lcc_score(j.n * (int64_t)ft - (int64_t)f * j.sum,
                                     j.n * (int64_t)ff - (int64_t)f * f, j.variance);
    const unsigned position = (unsigned)y * (unsigned)j.map_width + (unsigned)x,
                   order = (unsigned)tm_score_order(score) ^ 0x80000000u;
    return (unsigned long long)order << 32 | (0xffffffffu - position);
}

/* Writes a window, if it is one of those that are. */
static __device__ __forceinline__ void tm_certified_write(const tm_certified_job &j, unsigned long long key)
{
    if (!j.reaching.count || tm_certified_order(key) < j.reaching.least)
        return;
    const unsigned long long at = atomicAdd(j.reaching.count, 1ull);
    if (at < j.reaching.capacity)
        j.reaching.keys[at] = key;
}

/* Takes a window for the launch's best, if it is better. WANTED: and for those that are written. */
template <bool WANTED>
static __device__ __forceinline__ void tm_certified_offer(const tm_certified_job &j, unsigned long long key)
{
    if (key > __ldcg(&j.state->best))
        atomicMax(&j.state->best, key);
    if (WANTED)
        tm_certified_write(j, key);
}

/* Scores COUNT <= 5 windows from (x, y) on, along the row; those beyond the map are left out. All
 * threads of the WARPS warps call, which are the block or one of its warps; a thread of theirs calls take
 * with a window's key. Returns how many were scored. */
template <int COUNT, int WARPS, typename Take>
static __device__ __forceinline__ unsigned tm_certified_each(const tm_certified_job &j, int x, int y, Take take)
{
    enum { THREADS = 32 * WARPS };
    const int lane = threadIdx.x & 31, first = threadIdx.x & (THREADS - 1);
    const int row_words = j.level.row_words, count = row_words * j.height;
    const int down = THREADS / row_words, along = THREADS % row_words, left = j.width & 3;
    const unsigned last = left ? (1u << 8 * left) - 1 : ~0u, shift = 8 * (x & 3);
    const uint8_t *from = j.frame + (int64_t)y * (int64_t)j.pitch + (x & ~3);
    int row = first / row_words, column = first % row_words;
    unsigned f[COUNT] = {}, ff[COUNT] = {}, ft[COUNT] = {};

#pragma unroll 4
    for (int i = first; i < count; i += THREADS) {
        const uint32_t *at = (const uint32_t *)(from + (int64_t)row * (int64_t)j.pitch) + column;
        const unsigned mask = column == row_words - 1 ? last : ~0u, tap = __ldg(j.level.words + i),
                       b = __ldg(at + 1), low = __funnelshift_r(__ldg(at), b, shift),
                       high = __funnelshift_r(b, __ldg(at + 2), shift);
#pragma unroll
        for (int k = 0; k < COUNT; k++) {
            const unsigned word = (k < 4 ? __funnelshift_r(low, high, 8 * k) : high) & mask;
            f[k] = __dp4a(word, 0x01010101u, f[k]);
            ff[k] = __dp4a(word, word, ff[k]);
            ft[k] = __dp4a(word, tap, ft[k]);
        }
        row += down, column += along;
        if (column >= row_words)
            column -= row_words, row++;
    }
    const int end = (int)min((int64_t)COUNT, j.map_width - x);
    __shared__ unsigned sums[WARPS][COUNT][3];
    if (WARPS > 1)
        __syncthreads(); /* the block's last windows have been read */
#pragma unroll
    for (int k = 0; k < COUNT; k++) {
        f[k] = tm_warp_sum(f[k]);
        ff[k] = tm_warp_sum(ff[k]);
        ft[k] = tm_warp_sum(ft[k]);
        if (WARPS == 1 && lane == k && k < end)
            take(tm_certified_key(j, x + k, y, f[k], ff[k], ft[k]));
        if (WARPS > 1 && lane == 0)
            sums[first / 32][k][0] = f[k], sums[first / 32][k][1] = ff[k], sums[first / 32][k][2] = ft[k];
    }
    if (WARPS > 1) {
        __syncthreads();
        unsigned own[3] = {};
        for (int i = 0; first < end && i < 3 * WARPS; i++)
            own[i % 3] += sums[i / 3][first][i % 3];
        if (first < end)
            take(tm_certified_key(j, x + first, y, own[0], own[1], own[2]));
    }
    return (unsigned)end;
}

/* The same for the launch's best. WANTED: those that reach what is asked for are written. */
template <int COUNT, int WARPS, bool WANTED>
static __device__ __forceinline__ unsigned tm_certified_score(const tm_certified_job &j, int x, int y)
{
    return tm_certified_each<COUNT, WARPS>(
        j, x, y, [&](unsigned long long key) { tm_certified_offer<WANTED>(j, key); });
}

/* Scores one row of the windows that a cell window serves, or a part of it if they are more than
 * COUNT: the tasks of a cell window are size * ceil_div(size, COUNT). */
template <int COUNT, int WARPS, bool WANTED>
static __device__ __forceinline__ unsigned tm_certified_serve(const tm_certified_job &j, int cell_x,
                                                              int cell_y, int task)
{
    const int size = j.level.cells.size, y = cell_y * size - task % size,
              x = max(cell_x * size - size + 1 + task / size * COUNT, 0);
    return y < 0 || y >= j.map_height || x >= j.map_width ? 0 : tm_certified_score<COUNT, WARPS, WANTED>(j, x, y);
}

#endif
