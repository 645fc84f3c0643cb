/* SPDX-License-Identifier: MIT */
/* The direct kernel for float pictures, of any metric, mask and number of channels. */
#include "integers.h"
#include "lcc/cuda/real_window.cuh"

/* Bits of the windows that have a pixel which the frame's mask leaves out. */
template <bool MASKED>
static __device__ unsigned find_skipped(panel &p, const tm_real_launch &l, const tile &t)
{
    parts touched = {}, none = {};
    unsigned skipped = 0;

    if (!l.mask)
        return 0;
    if (MASKED)
        correlate<SUMS, false, true>(p, l, t, LEFT_OUT, 0, touched);
    else
        add_boxes<true, false, false>(p, l, t, LEFT_OUT, 0, touched, none);
#pragma unroll
    for (int r = 0; r < EACH; r++)
        skipped |= (unsigned)(touched.whole[r] + touched.part[r] > 0) << r;
    return skipped;
}

/* The sums of a thread's windows. */
template <bool CENTRED, bool DISTANCE, bool MASKED>
static __device__ __forceinline__ void add_up(panel &p, const tm_real_launch &l, const tile &t,
                                              tm_real_sums (&windows)[EACH])
{
    const bool squares = CENTRED || l.scorer.metric == TM_METRIC_CCORR_NORMED ||
                         l.scorer.metric == TM_METRIC_SQDIFF_NORMED;
    parts products = {}, s_ff = {};

    for (int c = 0; c < l.scorer.channels; c++) {
        const double pivot = CENTRED ? pivot_of(l, t, c) : 0;
        parts s_f = {};
        correlate<DISTANCE ? DISTANCES : PRODUCTS, CENTRED, MASKED>(p, l, t, c, pivot, products);
        if (MASKED) {
            if (CENTRED)
                correlate<SUMS, CENTRED, true>(p, l, t, c, pivot, s_f);
            if (squares)
                correlate<SQUARES, CENTRED, true>(p, l, t, c, pivot, s_ff);
        } else if (squares) {
            add_boxes<CENTRED, true, CENTRED>(p, l, t, c, pivot, s_f, s_ff);
        }
#pragma unroll
        for (int r = 0; r < EACH; r++) {
            if (CENTRED)
                tm_real_centre(&l.scorer, &windows[r], c, s_f.whole[r] + s_f.part[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        windows[r].products += products.whole[r] + products.part[r];
        windows[r].s_ff = s_ff.whole[r] + s_ff.part[r];
    }
}

/* Bits of the windows whose sums are too far from their mean to say. */
static __device__ __forceinline__ unsigned find_scores(const tm_real_launch &l, const tile &t,
                                                       const tm_real_sums (&windows)[EACH],
                                                       unsigned skipped, double (&scores)[EACH])
{
    unsigned far = 0;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        const bool is_there = t.x + EACH * t.lane + r < l.map_width &&
                              t.y + t.row < l.map_height && !(skipped >> r & 1);
        if (!tm_real_score_of(&l.scorer, &windows[r], &scores[r]) && is_there)
            far |= 1u << r;
    }
    return far;
}

/* Does them again, one after the other. */
static __device__ __forceinline__ void look_closer(const tm_real_launch &l, const tile &t,
                                                   unsigned far, double (&scores)[EACH])
{
    const int lane = threadIdx.x % 32, first_row = t.row - lane / LANES;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        unsigned lanes = __ballot_sync(ALL_LANES, far >> r & 1);
        for (; lanes; lanes &= lanes - 1) {
            const int from = __ffs(lanes) - 1;
            const double score = window_score(l, t.x + from % LANES * EACH + r,
                                              t.y + first_row + from / LANES);
            if (lane == from)
                scores[r] = score;
        }
    }
}

template <bool CENTRED, bool DISTANCE, bool MASKED>
static __global__ void __launch_bounds__(THREADS, 2)
    real_kernel(const __grid_constant__ tm_real_launch l, int64_t across)
{
    __shared__ panel p;
    tm_real_sums windows[EACH] = {};
    double scores[EACH];
    tile t;

    t.x = blockIdx.x % across * TILE_WIDTH;
    t.y = blockIdx.x / across * TILE_HEIGHT;
    t.left = t.x - l.pad_x;
    t.top = t.y - l.pad_y;
    t.row = threadIdx.x / LANES;
    t.lane = threadIdx.x % LANES;

    const unsigned skipped = find_skipped<MASKED>(p, l, t);
    add_up<CENTRED, DISTANCE, MASKED>(p, l, t, windows);
    const unsigned far = find_scores(l, t, windows, skipped, scores);
    if (CENTRED)
        look_closer(l, t, far, scores);

    tm_candidate best = TM_NO_CANDIDATE;
#pragma unroll
    for (int r = 0; r < EACH; r++) {
        const int64_t x = t.x + EACH * t.lane + r, y = t.y + t.row;
        if (x >= l.map_width || y >= l.map_height)
            break;
        const bool skip = skipped >> r & 1;
        const tm_value value = skip ? tm_skipped_value(l.scorer.metric)
                                    : tm_real_value(l.scorer.metric, scores[r]);
        const tm_candidate candidate = {value.rank, y * l.map_width + x};
        if (l.map)
            l.map[candidate.position] = value.real;
        if (!skip && tm_candidate_beats(candidate, best))
            best = candidate;
    }
    best = tm_block_best<THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        l.candidates[blockIdx.x] = best;
}

static int64_t tiles_across(const tm_real_launch *l)
{
    return ceil_div(l->map_width, TILE_WIDTH);
}

int64_t tm_real_blocks(const tm_real_launch *l)
{
    return tiles_across(l) * ceil_div(l->map_height, TILE_HEIGHT);
}

typedef void real_form(tm_real_launch, int64_t);

template <bool MASKED> static real_form *form_of(tm_metric metric)
{
    return tm_needs_s_f(metric)     ? real_kernel<true, false, MASKED>
           : tm_is_distance(metric) ? real_kernel<false, true, MASKED>
                                    : real_kernel<false, false, MASKED>;
}

cudaError_t tm_real_start(const tm_real_launch *l, cudaStream_t stream)
{
    const int64_t blocks = tm_real_blocks(l);
    real_form *kernel =
        l->counts ? form_of<true>(l->scorer.metric) : form_of<false>(l->scorer.metric);

    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    kernel<<<(unsigned)blocks, THREADS, 0, stream>>>(*l, tiles_across(l));
    return cudaGetLastError();
}
