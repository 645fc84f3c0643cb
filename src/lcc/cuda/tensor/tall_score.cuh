/* SPDX-License-Identifier: MIT */
/* For wgmma_tall.cu and wgmma_tall_masked.cu: scores of a tile's windows by the warpgroup that has multiplied, in whose accumulators S_FT stands.
 *
 * A warp has one row of each group, and a lane 4 windows of it, 8 columns apart. The next group's sums are loaded while one is
 * scored: otherwise a warp, one of few on its scheduler, would wait for them each time. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_SCORE_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_SCORE_CUH
#include "lcc/cuda/tensor/rejection.cuh"
#include "lcc/cuda/tensor/tall_block.cuh"

/* S_F and S_FF of a lane's 4 windows. */
struct tm_tall_sums {
    unsigned f[4], ff[4];
};

/* Windows' sums in the slots of warps that sum: a lane's 4 windows of a tile's group. */
template <int STEPS, bool ODD>
struct tm_tall_slots {
    enum { AHEAD = 1 };
    const tm_tall_block<STEPS, ODD> &b;
    const unsigned first; // address of the lane's windows' in the first slot

    __device__ __forceinline__ explicit tm_tall_slots(const tm_tall_block<STEPS, ODD> &block)
        : b(block), first(b.slot(0) + tm_tall_lane().row * TM_TALL_SLOT_ROW + threadIdx.x % 32 / 4 * TM_TALL_ELEMENT +
                          threadIdx.x % 4 * 32)
    {
    }

    /* Those of a tile's group, once they are there. */
    __device__ __forceinline__ tm_tall_sums take(int tile, int group) const
    {
        const int slot = group % TM_TALL_SUM_WARPS, barrier = tile % 2 * TM_TALL_SUM_WARPS + slot;
        tm_barrier_wait(b.barrier(TM_TALL_FULL + barrier), tile / 2 * TM_TALL_TURNS + group / TM_TALL_SUM_WARPS);
        const uint4 u = tm_load16(first + slot * TM_TALL_SLOT), v = tm_load16(first + slot * TM_TALL_SLOT + 16);
        tm_barrier_arrive(b.barrier(TM_TALL_FREE + barrier));
        return {{u.x, u.z, v.x, v.z}, {u.y, u.w, v.y, v.w}};
    }
};

/* S: where the windows' sums come from. n: taps that count. */
template <int STEPS, bool ODD, typename S>
struct tm_tall_scorer {
    enum { AHEAD = S::AHEAD }; // groups whose sums are loaded before their turn
    const tm_tall_block<STEPS, ODD> &b;
    const tm_tensor_job &j;
    const tm_tensor_template t;
    const int n;
    const tm_tall_lane lane;
    const S sums;
    tm_tensor_best best = {0, INT_MIN};

    __device__ __forceinline__ tm_tall_scorer(const tm_tall_block<STEPS, ODD> &block, const tm_tensor_job &job,
                                              const tm_tensor_template &of, int taps, const S &of_windows)
        : b(block), j(job), t(of), n(taps), sums(of_windows)
    {
    }

    __device__ __forceinline__ float score(int ft, const tm_tall_sums &s, int e) const
    {
        return tm_tensor_score(tm_tensor_num<false>(ft, s.f[e], n, t.sum), tm_tensor_minus_var<false>(s.f[e], s.ff[e], n), -t.variance);
    }

    /* Takes the warp's greatest order for its best if it is better; at: place in the tile of the lane's window that may have it,
     * 256 for a row and 1 for a column. Returns whether the best has become greater. */
    __device__ __forceinline__ bool offer(int tile, int own, unsigned at)
    {
        const int order = __reduce_max_sync(~0u, own), seen = best.order;
        if (order < seen || tm_score_of_order(order) < -1.0f)
            return false;
        const unsigned first = __reduce_min_sync(~0u, own == order ? at : ~0u);
        const int64_t pos = (b.y(tile) + (first >> 8)) * j.map_width + b.x(tile) + (first & 255);
        if (order > seen || pos < best.pos)
            best = {pos, order};
        return order > seen;
    }

    /* Writes the scores of a tile's windows to the map. */
    __device__ __forceinline__ void score_all(int tile, const int (&acc)[TM_TALL_GROUPS][4])
    {
        const int64_t x = b.x(tile) + lane.column, y = b.y(tile) + lane.row;
        const int left = (int)min((int64_t)TILE_WIDTH, j.map_width - x), below = (int)min((int64_t)TILE_HEIGHT, j.map_height - y);
        float *to = j.map + y * j.map_width + x, top = -2.0f;
        unsigned at = 0;
        tm_tall_sums coming[AHEAD];
#pragma unroll
        for (int g = 0; g < AHEAD; g++)
            coming[g] = sums.take(tile, g);
#pragma unroll
        for (int g = 0; g < TM_TALL_GROUPS; g++, to += TM_TALL_GROUP_ROWS * j.map_width) {
            const tm_tall_sums s = coming[g % AHEAD];
            float q[4];
            if (g + AHEAD < TM_TALL_GROUPS)
                coming[g % AHEAD] = sums.take(tile, g + AHEAD);
#pragma unroll
            for (int e = 0; e < 4; e++) {
                q[e] = score(tm_tall_product(acc[g], e), s, e);
                if (8 * e < left && TM_TALL_GROUP_ROWS * g < below)
                    __stcs(to + 8 * e, q[e]);
                else
                    q[e] = -2.0f;
            }
            const float most = fmaxf(fmaxf(q[0], q[1]), fmaxf(q[2], q[3]));
            if (most > top) {
                const int first = q[0] == most ? 0 : q[1] == most ? 1 : q[2] == most ? 2 : 3;
                top = most;
                at = (TM_TALL_GROUP_ROWS * g + lane.row) << 8 | (lane.column + 8 * first);
            }
        }
        offer(tile, tm_score_order(top), at);
    }

    /* Scores what may be the best of a tile. */
    __device__ __forceinline__ void score_best(int tile, const int (&acc)[TM_TALL_GROUPS][4], tm_rejection &reject)
    {
        enum { LOADED = AHEAD + 1 }; // with those of the group whose turn it is, which need no registers of their own then
        int known = max(__ldcg(j.running_bests), best.order), fresh = known, group = 0, ft[4];
        tm_tall_sums s, coming[LOADED];
#pragma unroll
        for (int g = 0; g < AHEAD; g++)
            coming[g] = sums.take(tile, g);
        reject.set(known);
        /* Whether a group's windows may be the best. */
        auto reaches = [&](int g) {
            const tm_tall_sums &of_group = coming[g % LOADED];
            tm_extremes extremes;
            if (g + AHEAD < TM_TALL_GROUPS)
                coming[(g + AHEAD) % LOADED] = sums.take(tile, g + AHEAD);
            if (fresh > known) {
                known = fresh;
                reject.set(known);
            }
            if (g < 4 || g % 4 == 0)
                fresh = __ldcg(j.running_bests);
#pragma unroll
            for (int e = 0; e < 4; e++)
                reject.offer(extremes, tm_tall_product(acc[g], e), (int)of_group.f[e], (int)of_group.ff[e]);
            return __any_sync(~0u, reject.may_reach(extremes));
        };
        /* Takes a group's windows to where they are scored. __syncwarp keeps this a branch: to select registers for each group instead
         * takes as long as its test. */
        auto take = [&](int g) {
            __syncwarp();
#pragma unroll
            for (int e = 0; e < 4; e++)
                ft[e] = tm_tall_product(acc[g], e);
            s = coming[g % LOADED];
            group = g;
        };
        static_assert(TM_TALL_GROUPS == 16, "each group has its test");
        for (;;) {
            /* Only code that names an accumulator can read it; so the tests of all groups stand in a row, and what follows one
             * that is passed stands once. */
#define TM_TALL_TEST(g) case g: if (reaches(g)) { take(g); break; }
#define TM_TALL_TEST_4(g) TM_TALL_TEST(g) TM_TALL_TEST(g + 1) TM_TALL_TEST(g + 2) TM_TALL_TEST(g + 3)
            switch (group) {
                TM_TALL_TEST_4(0) TM_TALL_TEST_4(4) TM_TALL_TEST_4(8) TM_TALL_TEST_4(12)
            default:
                return;
            }
#undef TM_TALL_TEST_4
#undef TM_TALL_TEST
            const int row = TM_TALL_GROUP_ROWS * group + lane.row;
            float top = -2.0f;
            unsigned at = 0;
#pragma unroll
            for (int e = 0; e < 4; e++) {
                const float q = score(ft[e], s, e);
                if (q > top && b.x(tile) + lane.column + 8 * e < j.map_width && b.y(tile) + row < j.map_height) {
                    top = q;
                    at = row << 8 | (lane.column + 8 * e);
                }
            }
            const int own = tm_score_order(top);
            if (__any_sync(~0u, own >= known) && offer(tile, own, at) && best.order > known) {
                known = best.order;
                reject.set(known);
                if (threadIdx.x % 32 == 0)
                    atomicMax(j.running_bests, known);
            }
            group++;
        }
    }
};

#endif
