/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu: the windows that a block lists because they may be the best, in pairs, one below the other, and their scores. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_WINDOWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_WINDOWS_CUH
#include "lcc/cuda/tensor/bound_block.cuh"
#include "lcc/cuda/tensor/few_windows.cuh"

enum {
    TM_BOUND_WORDS = 256,                   // masks that a block lists at most,
    TM_BOUND_LISTED = 32 * TM_TENSOR_WARPS, // and pairs that it scores: one of each thread
    TM_BOUND_FEW = 6 * TM_TENSOR_WARPS      // so many pairs take less time by a warp each than by a thread each
};

/* In shared memory. words: what lanes that multiply found in a step, where it is not nothing: the tile's number in the block and the lane's
 * among all that multiply, and which of its pairs may be the best. Bit 16 e + i is that of its accumulators i and the limit e of a word.
 * tops: of the last steps by turns, the greatest excess over a limit, and behind it the word's number; or 0. When the warp that stages reads a
 * step's, those of the three steps after it may be written. */
struct tm_bound_list {
    enum { TURNS = 4 };
    unsigned words, found, pairs, tops[TURNS]; // found: pairs in words; pairs: those that have been listed
    uint2 word[TM_BOUND_WORDS];
    unsigned pair[TM_BOUND_LISTED];

    __device__ __forceinline__ void clear()
    {
        words = found = pairs = 0;
        for (int i = 0; i < TURNS; i++)
            tops[i] = 0;
    }

    /* excess: the greatest of those pairs', of 15 bits. false: it was too much. Of many lanes for which it is only few are told. */
    __device__ __forceinline__ bool add(int tile, unsigned mask, unsigned excess)
    {
        const unsigned at = atomicAdd(&words, 1u), before = atomicAdd(&found, (unsigned)__popc(mask));
        if (at < TM_BOUND_WORDS) {
            word[at] = make_uint2((unsigned)(tile * 32 * TM_BOUND_PRODUCT_WARPS) + threadIdx.x, mask);
            atomicMax(&tops[tile % TURNS], excess << 16 | at);
        }
        return at != TM_BOUND_WORDS && (before > TM_BOUND_LISTED || before + __popc(mask) <= TM_BOUND_LISTED);
    }

    /* The pair that a word's lowest bit is of, by its number: the tile's in the block, its rows', its column in the tile. */
    static __device__ __forceinline__ unsigned pair_of(unsigned place, unsigned mask)
    {
        const unsigned lane = place % 32, bit = __ffs(mask) - 1, unit = 2 * (8 * (bit % 8) + lane % 4 * 2 + bit / 16) + bit / 8 % 2;
        return place / 32 << 10 | 8 * unit + lane / 4;
    }

    /* By all threads, which must be synchronized before and after. */
    __device__ __forceinline__ void list_pairs()
    {
        for (unsigned i = threadIdx.x; i < min(words, (unsigned)TM_BOUND_WORDS); i += TM_TENSOR_THREADS) {
            for (unsigned mask = word[i].y; mask; mask &= mask - 1) {
                const unsigned at = atomicAdd(&pairs, 1u);
                if (at < TM_BOUND_LISTED)
                    pair[at] = pair_of(word[i].x, mask);
            }
        }
    }

    __device__ __forceinline__ bool is_whole() const
    {
        return words <= TM_BOUND_WORDS && pairs <= TM_BOUND_LISTED;
    }
};

/* Where a pair lies: a few are not in the map. */
struct tm_bound_pair {
    int64_t x, y;

    __device__ __forceinline__ tm_bound_pair(const tm_bound_block &b, unsigned number)
    {
        const int tile = b.first + (int)(number >> 12);
        x = (int64_t)(tile / b.p.tiles_y) * TILE_WIDTH + number % 1024;
        y = (int64_t)(tile % b.p.tiles_y) * TILE_HEIGHT + number / 1024 % 4 * 2;
    }
};

/* Orders of the scores of a pair, by a warp. from: its first row, at a multiple of 4 columns, of which column is the rest. The template is in
 * shared memory: if all blocks asked one slice of the second-level cache for its rows, a call would take 10,000 cycles. One copy of the code
 * is for all uses, because what is run once has to come from there, too. */
static __device__ __noinline__ int2 tm_bound_orders(const uint8_t *from, size_t pitch, int column, unsigned taps, int w, int h,
                                                    const tm_tensor_template *t)
{
    unsigned sums[6] = {}; // S_FT, S_F and S_FF of both windows
    const int r = threadIdx.x % 32;
    if (r <= h) {
        const tm_few_mask mask(w);
        unsigned f[TM_FEW_WORDS + 1];
#pragma unroll
        for (int k = 0; k <= TM_FEW_WORDS; k++)
            f[k] = *((const unsigned *)(from + (size_t)r * pitch) + k);
        const tm_few_row v(f, column, mask);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const unsigned row = taps + (r - k) * TM_BOUND_TAPS; // zeros before the first one and behind the last
            sums[3 * k] = v.add_products(tm_load16(row), tm_load16(row + 16), 0);
            const bool has_row = k ? r > 0 : r < h;
            sums[3 * k + 1] = has_row ? v.sum : 0, sums[3 * k + 2] = has_row ? v.squares : 0;
        }
    }
    __syncwarp();
#pragma unroll
    for (int i = 0; i < 6; i++)
        sums[i] = __reduce_add_sync(~0u, sums[i]);
    return make_int2(tm_score_order(tm_few_score(sums[0], sums[1], sums[2], w * h, *t)),
                     tm_score_order(tm_few_score(sums[3], sums[4], sums[5], w * h, *t)));
}

/* Takes the better one of a pair. */
__device__ __forceinline__ void tm_bound_score_pair(const tm_bound_block &b, const tm_bound_pair &pair, tm_tensor_best &best)
{
    const tm_tensor_job &j = b.j;
    const int2 orders = tm_bound_orders(j.frame + (size_t)pair.y * j.pitch + (pair.x & ~3), j.pitch, (int)(pair.x & 3), b.taps, j.width, j.height,
                                        j.templates);
    const bool lower = pair.y + 1 < j.map_height && orders.y > orders.x;
    const int order = lower ? orders.y : orders.x;
    const int64_t position = (pair.y + lower) * j.map_width + pair.x;
    if (pair.x < j.map_width && pair.y < j.map_height && tm_tensor_beats(order, position, best.order, best.pos))
        best.order = order, best.pos = position;
}

/* A warp scores a pair of the word of a tile's greatest excess, if it has one, and tells all blocks of a better score. tile: its number in the block. */
__device__ __forceinline__ void tm_bound_score_top(const tm_bound_block &b, tm_bound_list &list, int tile, tm_tensor_best &best)
{
    const unsigned top = list.tops[tile % tm_bound_list::TURNS];
    if (!top)
        return;
    const uint2 word = list.word[top % 65536];
    const int before = best.order;
    tm_bound_score_pair(b, tm_bound_pair(b, tm_bound_list::pair_of(word.x, word.y)), best);
    if (threadIdx.x % 32 == 0) {
        list.tops[tile % tm_bound_list::TURNS] = 0;
        if (best.order > before)
            atomicMax(b.j.running_bests, best.order);
    }
}

/* Scores a warp's part of the list. Each lane has the best of what it scored. */
__device__ __forceinline__ void tm_bound_score_list(const tm_bound_block &b, const tm_bound_list &list, int warp, tm_tensor_best &best)
{
    const tm_tensor_job &j = b.j;
    if (list.pairs <= TM_BOUND_FEW) {
        for (unsigned i = warp; i < list.pairs; i += TM_TENSOR_WARPS)
            tm_bound_score_pair(b, tm_bound_pair(b, list.pair[i]), best);
        return;
    }
    const tm_few_mask mask(j.width);
    const tm_tensor_template t = *j.templates;
    for (unsigned i = threadIdx.x; i < list.pairs; i += TM_TENSOR_THREADS) {
        const tm_bound_pair pair(b, list.pair[i]);
        const int windows = (int)min((int64_t)2, j.map_height - pair.y);
        float scores[2];
        tm_few_scores(j, mask, t, pair.x, pair.y, windows, scores);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int order = tm_score_order(scores[k]);
            const int64_t position = (pair.y + k) * j.map_width + pair.x;
            if (k < windows && pair.x < j.map_width && tm_tensor_beats(order, position, best.order, best.pos))
                best.order = order, best.pos = position;
        }
    }
}

#endif
