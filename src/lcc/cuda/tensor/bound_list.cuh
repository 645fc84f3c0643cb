/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu and wgmma_bound_pixels.cu: the windows that a block lists because they may be the best, in pairs, one below the other. A
 * scorer of theirs has
 *
 *     int2 orders(x, y)              the orders of a pair's scores, by a warp
 *     void scores(pair, windows, s)  the scores of a pair, or of its upper window alone, by a thread
 */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_LIST_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_LIST_CUH
#include "lcc/cuda/tensor/bound_part.cuh"
#include "lcc/cuda/tensor/few_windows.cuh"

enum {
    TM_BOUND_LANES = 128,                   // that multiply in a step
    TM_BOUND_WORDS = 256,                   // masks that a block lists at most,
    TM_BOUND_LISTED = 32 * TM_TENSOR_WARPS, // and pairs that it scores: one of each thread
    TM_BOUND_FEW = 6 * TM_TENSOR_WARPS,     // so many pairs take less time by a warp each than by a thread each
    TM_BOUND_COLUMNS = TILE_WIDTH > 512 ? 1024 : 512
};
static_assert(+TILE_WIDTH <= +TM_BOUND_COLUMNS && TILE_HEIGHT / 2 * TM_BOUND_COLUMNS == 4096, "a pair's place in its tile has 12 bits");

/* A word of shared memory that the compiler would keep, had it been loaded before, for which there are no registers. */
__device__ __forceinline__ unsigned tm_bound_load_again(unsigned address)
{
    unsigned v;
    asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(v) : "r"(address) : "memory");
    return v;
}

/* A pair by its number: the tile's in the block, its rows', its column in the tile. */
__device__ __forceinline__ unsigned tm_bound_pair_number(unsigned tile, unsigned rows, unsigned column)
{
    return tile << 12 | rows * TM_BOUND_COLUMNS | column;
}

/* In shared memory. words: what lanes that multiply found in a step, where it is not nothing: the tile's number in the block and the lane's
 * among all that multiply, and which of its pairs may be the best.
 * tops: of the last steps by turns, the greatest excess over a limit, and behind it the word's number; or 0. When a warp that stages reads a
 * step's, those of the steps after it may be written, of which there are fewer. */
struct tm_bound_list {
    enum { TURNS = 8 };
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
            word[at] = make_uint2((unsigned)(tile * TM_BOUND_LANES) + threadIdx.x % TM_BOUND_LANES, mask);
            atomicMax(&tops[tile % TURNS], excess << 16 | at);
        }
        return at != TM_BOUND_WORDS && (before > TM_BOUND_LISTED || before + __popc(mask) <= TM_BOUND_LISTED);
    }

    /* By all threads, which must be synchronized before and after. pair_of: the pair that a word's lowest bit is of. */
    template <typename F>
    __device__ __forceinline__ void list_pairs(F pair_of)
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

/* Lists those of a lane's pairs that may reach the score: of 16 words of limits, at address(i). excess_of(i, limits, excess) is the greatest of
 * excess and what the pairs' sums are above the word's two limits. Bit 16 e + i of the mask is that of word i and its limit e. */
template <typename A, typename F>
__device__ __forceinline__ void tm_bound_compare(tm_bound_list &list, int tile, int *running_best, A address, F excess_of)
{
    unsigned excess[2] = {0, 0}, mask = 0;
#pragma unroll
    for (int first = 0; first < 16; first += 8) {
        unsigned addends[8];
#pragma unroll
        for (int i = 0; i < 8; i++)
            addends[i] = tm_load4(address(first + i));
#pragma unroll
        for (int i = 0; i < 8; i++)
            excess[i % 2] = excess_of(first + i, addends[i], excess[i % 2]);
    }
    const unsigned both = __vmaxs2(excess[0], excess[1]);
    if (both) {
#pragma unroll
        for (int i = 0; i < 16; i++)
            mask = mask >> 1 | (excess_of(i, tm_bound_load_again(address(i)), 0) + 0x7fff7fff & 0x80008000);
        if (!list.add(tile, mask, max(both & 0xffff, both >> 16)))
            atomicMax(running_best, (int)TM_BOUND_GIVEN_UP);
    }
    __syncwarp();
}

/* Where a pair lies: a few are not in the map. */
struct tm_bound_pair {
    int64_t x, y;

    template <typename B>
    __device__ __forceinline__ tm_bound_pair(const B &b, unsigned number)
    {
        const int tile = b.first + (int)(number >> 12);
        x = (int64_t)(tile / b.p.tiles_y) * TILE_WIDTH + number % TM_BOUND_COLUMNS;
        y = (int64_t)(tile % b.p.tiles_y) * TILE_HEIGHT + number % 4096 / TM_BOUND_COLUMNS * 2;
    }
};

/* Takes the better one of a pair, by a warp. */
template <typename S>
__device__ __forceinline__ void tm_bound_score_pair(const S &scorer, const tm_tensor_job &j, const tm_bound_pair &pair, tm_tensor_best &best)
{
    const int2 orders = scorer.orders(pair.x, pair.y);
    const bool lower = pair.y + 1 < j.map_height && orders.y > orders.x;
    const int order = lower ? orders.y : orders.x;
    const int64_t position = (pair.y + lower) * j.map_width + pair.x;
    if (pair.x < j.map_width && pair.y < j.map_height && tm_tensor_beats(order, position, best.order, best.pos))
        best.order = order, best.pos = position;
}

/* A warp scores a pair of the word of a tile's greatest excess, if it has one, and tells all blocks of a better score. tile: its number in the block. */
template <typename B, typename S, typename F>
__device__ __forceinline__ void tm_bound_score_top(const B &b, const S &scorer, F pair_of, tm_bound_list &list, int tile, tm_tensor_best &best)
{
    const unsigned top = list.tops[tile % tm_bound_list::TURNS];
    if (!top)
        return;
    const uint2 word = list.word[top % 65536];
    const int before = best.order;
    tm_bound_score_pair(scorer, b.j, tm_bound_pair(b, pair_of(word.x, word.y)), best);
    if (threadIdx.x % 32 == 0) {
        list.tops[tile % tm_bound_list::TURNS] = 0;
        if (best.order > before)
            atomicMax(b.j.running_bests, best.order);
    }
}

/* Scores a warp's part of the list. Each lane has the best of what it scored. */
template <typename B, typename S>
__device__ __forceinline__ void tm_bound_score_list(const B &b, const S &scorer, const tm_bound_list &list, int warp, tm_tensor_best &best)
{
    const tm_tensor_job &j = b.j;
    if (list.pairs <= TM_BOUND_FEW) {
        for (unsigned i = warp; i < list.pairs; i += TM_TENSOR_WARPS)
            tm_bound_score_pair(scorer, j, tm_bound_pair(b, list.pair[i]), best);
        return;
    }
    for (unsigned i = threadIdx.x; i < list.pairs; i += TM_TENSOR_THREADS) {
        const tm_bound_pair pair(b, list.pair[i]);
        const int windows = (int)min((int64_t)2, j.map_height - pair.y);
        float scores[2];
        scorer.scores(pair, windows, scores);
#pragma unroll
        for (int k = 0; k < 2; k++) {
            const int order = tm_score_order(scores[k]);
            const int64_t position = (pair.y + k) * j.map_width + pair.x;
            if (k < windows && pair.x < j.map_width && tm_tensor_beats(order, position, best.order, best.pos))
                best.order = order, best.pos = position;
        }
    }
}

/* The block's best, of the list and of what its warps have scored before; in each thread. angle: the rounding's. */
template <typename B, typename S>
__device__ __forceinline__ tm_tensor_best tm_bound_best(const B &b, const S &scorer, const tm_bound_list &list, int warp, bool is_given_up,
                                                        const tm_rounding &angle, tm_tensor_best best)
{
    tm_tensor_best of_warp = {0, INT_MIN};
    if (!list.is_whole() || is_given_up)
        return TM_TENSOR_UNKNOWN;
    tm_bound_score_list(b, scorer, list, warp, best);
    tm_few_offer(best, of_warp);
    /* of so small a score the rounded template does not even know the sign: a better one as small may have been left out */
    if (of_warp.order > INT_MIN && !(tm_rounded_least(angle, tm_score_of_order(of_warp.order)) > 0))
        of_warp = {0, INT_MIN};
    return of_warp;
}

#endif
