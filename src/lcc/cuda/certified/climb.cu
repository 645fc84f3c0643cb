/* SPDX-License-Identifier: MIT */
/* Certified search: some peaks of the map, uphill from the greatest bounds, to choose a cut by. */
#include "lcc/cuda/certified/tops.cuh"
#include "lcc/cuda/certified/windows.cuh"

enum { THREADS = 256, COUNT = 5 };

/* From where it is climbed, at least and, where very many tiles share a bound, at most; and how often at most a
 * climb goes on. */
enum { LEAST_STARTS = 3 * TM_CERTIFIED_CLIMBED / 4, MOST_STEPS = 24 };

/* The best of the windows from (x, y) on, so many across and down, and perhaps of some more to the right, for all
 * threads of the block. The map has one of them. */
static __device__ unsigned long long best_of(const tm_certified_job &j, int x, int y, int across, int down,
                                             unsigned *scored)
{
    __shared__ unsigned long long best;
    const int parts = (across + COUNT - 1) / COUNT;

    __syncthreads(); /* it has been read */
    if (threadIdx.x == 0)
        best = 0;
    __syncthreads();
    for (int task = (int)threadIdx.x / 32; task < parts * down; task += THREADS / 32) {
        const int row = y + task / parts, column = max(x + task % parts * COUNT, 0);
        if (row >= 0 && row < j.map_height && column < j.map_width)
            *scored += tm_certified_each<COUNT, 1>(
                j, column, row, [&](unsigned long long key) { atomicMax(&best, key); });
    }
    __syncthreads();
    return best;
}

/* Goes to the best of the windows that are at most 2 away, until that is no more than 1 away: it beats all its
 * neighbours then. */
static __global__ void __launch_bounds__(THREADS) climb_kernel(tm_certified_job j, int tiles)
{
    __shared__ unsigned chosen[TM_CERTIFIED_CLIMBED];
    unsigned scored = 0;

    tm_early_begin();
    const int starts = tm_certified_choose<LEAST_STARTS, TM_CERTIFIED_CLIMBED>(j.part_tops, TM_CERTIFIED_PARTS * tiles,
                                                                               chosen),
              size = j.level.cells.size;
    for (int start = (int)blockIdx.x; start < starts; start += (int)gridDim.x) {
        const int part = (int)chosen[start];
        const unsigned bound = __ldg(j.part_tops + part);
        if (bound >> 16 == 0)
            continue; /* no cell window of the map's is there */
        const uint2 top = tm_certified_top_of(j, bound, part / TM_CERTIFIED_PARTS);
        unsigned long long best = best_of(j, ((int)top.x - 1) * size + 1, ((int)top.y - 1) * size + 1, size, size,
                                          &scored);
        bool is_peak = false;
        for (int step = 0; step < MOST_STEPS && !is_peak; step++) {
            const unsigned width = (unsigned)j.map_width, before = tm_certified_position(best);
            const int x = (int)(before % width), y = (int)(before / width);
            best = best_of(j, x - 2, y - 2, COUNT, COUNT, &scored);
            const unsigned position = tm_certified_position(best);
            is_peak = abs((int)(position % width) - x) <= 1 && abs((int)(position / width) - y) <= 1;
        }
        if (threadIdx.x)
            continue;
        tm_certified_offer<false>(j, best);
        if (is_peak)
            j.climbed[atomicAdd(&j.state->climbed, 1u)] = {tm_certified_order(best), tm_certified_position(best)};
    }
    if (!(threadIdx.x & 31) && scored)
        atomicAdd(&j.state->scored, (unsigned long long)scored);
}

cudaError_t tm_certified_climb(const tm_certified_job *j, int multiprocessors, cudaStream_t stream)
{
    return tm_early_launch(climb_kernel, (unsigned)(2 * multiprocessors), THREADS, 0, j->early, stream, *j,
                           tm_certified_tiles(j));
}
