/* SPDX-License-Identifier: MIT */
/* The kernel for float pictures, for any metric, mask and number of channels. */
#include "integers.h"
#include "lcc/cuda/float/window.cuh"
#include "lcc/cuda/memory.cuh"

/* A bit for each of this thread's windows: it has a pixel that the frame's mask leaves out. */
template <bool MASKED>
static __device__ unsigned find_skipped(tm_f32_panel &p, const tm_f32_launch &l,
                                        const tm_f32_tile &t)
{
    tm_partial_sums touched = {}, none = {};
    unsigned skipped = 0;

    if (!l.mask)
        return 0;
    if (MASKED)
        tm_f32_correlate<TM_ADD_SUMS, false, true>(p, l, t, TM_F32_LEFT_OUT, 0, touched);
    else
        tm_f32_add_boxes<true, false, false>(p, l, t, TM_F32_LEFT_OUT, 0, touched, none);
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++)
        skipped |= (unsigned)(touched.whole[r] + touched.part[r] > 0) << r;
    return skipped;
}

/* Makes the sums of this thread's windows. */
template <bool CENTRED, bool DISTANCE, bool MASKED>
static __device__ __forceinline__ void add_up(tm_f32_panel &p, const tm_f32_launch &l,
                                              const tm_f32_tile &t,
                                              tm_f32_sums (&windows)[TM_F32_EACH])
{
    const bool squares = CENTRED || tm_f32_needs_s_ff(l.scorer.metric);
    tm_partial_sums products = {}, s_ff = {};

    for (int c = 0; c < l.scorer.channels; c++) {
        const double pivot = CENTRED ? tm_f32_pivot_of(l, t, c) : 0;
        tm_partial_sums s_f = {};
        tm_f32_correlate<DISTANCE ? TM_ADD_DISTANCES : TM_ADD_PRODUCTS, CENTRED, MASKED>(
            p, l, t, c, pivot, products);
        if (MASKED) {
            if (CENTRED)
                tm_f32_correlate<TM_ADD_SUMS, CENTRED, true>(p, l, t, c, pivot, s_f);
            if (squares)
                tm_f32_correlate<TM_ADD_SQUARES, CENTRED, true>(p, l, t, c, pivot, s_ff);
        } else if (squares) {
            tm_f32_add_boxes<CENTRED, true, CENTRED>(p, l, t, c, pivot, s_f, s_ff);
        }
#pragma unroll
        for (int r = 0; r < TM_F32_EACH; r++) {
            if (CENTRED)
                tm_f32_centre(&l.scorer, &windows[r], c, s_f.whole[r] + s_f.part[r]);
        }
    }
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++) {
        windows[r].products += products.whole[r] + products.part[r];
        windows[r].s_ff = s_ff.whole[r] + s_ff.part[r];
    }
}

/* Makes the scores. A bit for each window whose mean is too far from the pivot for that. */
static __device__ __forceinline__ unsigned find_scores(const tm_f32_launch &l, const tm_f32_tile &t,
                                                       const tm_f32_sums (&windows)[TM_F32_EACH],
                                                       unsigned skipped,
                                                       double (&scores)[TM_F32_EACH])
{
    unsigned far = 0;
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++) {
        const bool is_there = t.x + TM_F32_EACH * t.lane + r < l.map_width &&
                              t.y + t.row < l.map_height && !(skipped >> r & 1);
        if (!tm_f32_score_of(&l.scorer, &windows[r], &scores[r]) && is_there)
            far |= 1u << r;
    }
    return far;
}

/* Makes the scores of those windows around their own means, one after the other. */
static __device__ __forceinline__ void look_closer(const tm_f32_launch &l, const tm_f32_tile &t,
                                                   unsigned far, double (&scores)[TM_F32_EACH])
{
    const int lane = threadIdx.x % 32, first_row = t.row - lane / TM_F32_LANES;
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++) {
        unsigned lanes = __ballot_sync(TM_ALL_LANES, far >> r & 1);
        for (; lanes; lanes &= lanes - 1) {
            const int from = __ffs(lanes) - 1;
            const double score = tm_f32_window_score(l, t.x + from % TM_F32_LANES * TM_F32_EACH + r,
                                                     t.y + first_row + from / TM_F32_LANES);
            if (lane == from)
                scores[r] = score;
        }
    }
}

template <bool CENTRED, bool DISTANCE, bool MASKED>
static __device__ __forceinline__ void direct_scores(tm_f32_panel &p, const tm_f32_launch &l,
                                                     const tm_f32_tile &t, unsigned skipped,
                                                     double (&scores)[TM_F32_EACH])
{
    tm_f32_sums windows[TM_F32_EACH] = {};
    add_up<CENTRED, DISTANCE, MASKED>(p, l, t, windows);
    const unsigned far = find_scores(l, t, windows, skipped, scores);
    if (CENTRED)
        look_closer(l, t, far, scores);
}

/* Makes the scores of products that FFT has estimated. False where those of one of this thread's
 * windows are not near enough. */
template <bool CENTRED, bool DISTANCE>
static __device__ __forceinline__ bool fft_scores(tm_f32_panel &p, const tm_f32_launch &l,
                                                  const tm_f32_tile &t, unsigned skipped,
                                                  double (&scores)[TM_F32_EACH])
{
    tm_f32_rule rule = l.rule;
    tm_f32_estimates sums[TM_F32_EACH] = {}, error = {};
    tm_partial_sums s_ff = {}, squares = {}, none = {};
    double norm = 0;
    bool near = true;

    for (int c = 0; c < l.scorer.channels; c++) {
        const double pivot = CENTRED ? tm_f32_pivot_of(l, t, c) : DISTANCE ? l.pivots[c] : 0;
        tm_partial_sums s_f = {};
        if (CENTRED || DISTANCE || tm_f32_needs_s_ff(l.scorer.metric))
            tm_f32_add_boxes<CENTRED, true, CENTRED || DISTANCE>(p, l, t, c, pivot, s_f, s_ff);
        if (DISTANCE && tm_f32_needs_s_ff(l.scorer.metric))
            tm_f32_add_boxes<false, true, false>(p, l, t, c, 0, none, squares);
        if (CENTRED) /* the means of the taps are rounded sums */
            error.products += l.shift_error * fabs(pivot - l.pivots[c]);
        for (int i = 0; i < TM_F32_NORM_PARTS; i++)
            norm += __longlong_as_double((long long)l.norms[c * TM_F32_NORM_PARTS + i]);
#pragma unroll
        for (int r = 0; r < TM_F32_EACH; r++) {
            sums[r].s_f[c] = s_f.whole[r] + s_f.part[r];
            if (CENTRED) /* from the transforms' pivot to this one */
                sums[r].products -= l.scorer.n * (pivot - l.pivots[c]) * l.scorer.means[c];
        }
    }
    error.products += l.error * sqrt(norm);
    tm_f32_rule_at(&rule, &error);
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++) {
        const int64_t x = t.x + TM_F32_EACH * t.lane + r, y = t.y + t.row;
        if (x >= l.map_width || y >= l.map_height || (skipped >> r & 1))
            continue;
        sums[r].products += l.products[y * l.map_width + x];
        sums[r].s_ff = s_ff.whole[r] + s_ff.part[r];
        sums[r].squares = squares.whole[r] + squares.part[r];
        const tm_f32_sums scored = tm_f32_scored(&rule, &sums[r]);
        const bool says = tm_f32_score_of(&l.scorer, &scored, &scores[r]);
        const bool flat = CENTRED && sums[r].s_ff == 0;
        near = near && says && (flat || tm_f32_near(&rule, &sums[r]));
    }
    return near;
}

template <bool CENTRED, bool DISTANCE, bool MASKED, bool FFT>
static __global__ void __launch_bounds__(TM_F32_THREADS, 2)
    f32_kernel(const __grid_constant__ tm_f32_launch l, int64_t across)
{
    __shared__ tm_f32_panel p;
    double scores[TM_F32_EACH];
    tm_f32_tile t;

    t.x = blockIdx.x % across * TM_F32_TILE_WIDTH;
    t.y = blockIdx.x / across * TM_F32_TILE_HEIGHT;
    t.left = t.x - l.pad_x;
    t.top = t.y - l.pad_y;
    t.row = threadIdx.x / TM_F32_LANES;
    t.lane = threadIdx.x % TM_F32_LANES;

    const unsigned skipped = find_skipped<MASKED>(p, l, t);
    /* where the products of one window are not near enough, none of the tile's are taken */
    if (!FFT || __syncthreads_or(!fft_scores<CENTRED, DISTANCE>(p, l, t, skipped, scores)))
        direct_scores<CENTRED, DISTANCE, MASKED>(p, l, t, skipped, scores);

    tm_candidate best = TM_NO_CANDIDATE;
#pragma unroll
    for (int r = 0; r < TM_F32_EACH; r++) {
        const int64_t x = t.x + TM_F32_EACH * t.lane + r, y = t.y + t.row;
        if (x >= l.map_width || y >= l.map_height)
            break;
        const bool skip = skipped >> r & 1;
        const tm_value value =
            skip ? tm_skipped_value(l.scorer.metric) : tm_f32_value(l.scorer.metric, scores[r]);
        const tm_candidate candidate = {value.rank, l.position + y * l.map_width + x};
        if (l.map)
            l.map[candidate.position] = value.score;
        if (!skip && tm_candidate_beats(candidate, best))
            best = candidate;
    }
    best = tm_block_best<TM_F32_THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        l.candidates[blockIdx.x] = best;
}

static int64_t tiles_across(const tm_f32_launch *l)
{
    return ceil_div(l->map_width, TM_F32_TILE_WIDTH);
}

int64_t tm_f32_blocks(const tm_f32_launch *l)
{
    return tiles_across(l) * ceil_div(l->map_height, TM_F32_TILE_HEIGHT);
}

typedef void f32_form(tm_f32_launch, int64_t);

template <bool MASKED, bool FFT>
static f32_form *form_of(tm_metric metric)
{
    return tm_needs_s_f(metric)     ? f32_kernel<true, false, MASKED, FFT>
           : tm_is_distance(metric) ? f32_kernel<false, true, MASKED, FFT>
                                    : f32_kernel<false, false, MASKED, FFT>;
}

cudaError_t tm_f32_start(const tm_f32_launch *l, cudaStream_t stream)
{
    const int64_t blocks = tm_f32_blocks(l);
    const tm_metric metric = l->scorer.metric;
    f32_form *kernel = l->products ? form_of<false, true>(metric)
                       : l->counts ? form_of<true, false>(metric)
                                   : form_of<false, false>(metric);

    if (blocks > INT32_MAX)
        return cudaErrorInvalidConfiguration;
    return TM_LAUNCH(kernel<<<(unsigned)blocks, TM_F32_THREADS, 0, stream>>>(*l, tiles_across(l)));
}
