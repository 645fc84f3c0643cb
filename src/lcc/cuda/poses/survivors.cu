/* SPDX-License-Identifier: MIT */
/* Certified search in poses: members that bounds do not rule out, and their exact scores. A warp looks at a window. */
#include "integers.h"
#include "lcc/cuda/memory.cuh"
#include "lcc/cuda/poses/poses.cuh"

enum { WARPS = 4, THREADS = 32 * WARPS };

/* Where the windows around the best lie. */
enum { REACH = 4, SIDE = 2 * REACH + 1 };

/* The order that a score must reach to matter. */
static __device__ __forceinline__ int least_order(const tm_pose_job &j)
{
    return min(tm_pose_best_of(__ldcg(&j.state->best)), j.floor);
}

/* What a bound must reach in a class where a score of this order, or more, is asked for. */
static __device__ __forceinline__ float least_bound(int order, double share, float error)
{
    if (order == INT_MIN)
        return -4;
    return tm_family_least(share, tm_score_of_order(order) - TM_FAMILY_SCORE_MARGIN) - error - TM_FAMILY_ROUNDING;
}

/* The frame's words of 4 samples from a place on, of a row. */
struct frame_words {
    const uint32_t *from;
    unsigned shift;

    __device__ __forceinline__ frame_words(const tm_pose_job &j, int x, int y)
    {
        const uint8_t *at = j.frame + (int64_t)y * (int64_t)j.pitch + x;
        from = (const uint32_t *)(at - ((uintptr_t)at & 3));
        shift = 8 * (unsigned)((uintptr_t)at & 3);
    }

    __device__ __forceinline__ unsigned at(size_t pitch, int row, int column) const
    {
        const uint32_t *word = from + (int64_t)row * (int64_t)(pitch / 4) + column;
        return __funnelshift_r(__ldg(word), __ldg(word + 1), shift);
    }
};

/* Scores a picture with its corner at (x, y); all lanes of a warp get the order. */
static __device__ __forceinline__ int score(const tm_pose_job &j, const tm_pose_picture &p, int x, int y)
{
    const int lane = threadIdx.x & 31, words = p.row_words * p.height;
    const frame_words frame(j, x, y);
    unsigned f = 0, ff = 0, ft = 0;

    for (int i = lane; i < words; i += 32) {
        const unsigned word = frame.at(j.pitch, i / p.row_words, i % p.row_words) & __ldg(p.counts + i);
        f = __dp4a(word, 0x01010101u, f);
        ff = __dp4a(word, word, ff);
        ft = __dp4a(word, __ldg(p.taps + i), ft);
    }
    f = tm_warp_sum(f);
    ff = tm_warp_sum(ff);
    ft = tm_warp_sum(ft);
    const int64_t n = p.pixels;
    return tm_score_order(tm_lcc_score(n * ft - (int64_t)f * p.sum, n * ff - (int64_t)f * f, p.variance));
}

/* A window as the bounds of a class's members see it. */
template <int BASIS>
struct window_look {
    enum { K = TM_POSE_COLUMNS * BASIS };
    float p[K], rest;

    __device__ __forceinline__ window_look(const tm_pose_job &j, const tm_pose_level &l, int x, int y)
    {
        const int lane = threadIdx.x & 31, words = l.row_words * l.height;
        const frame_words frame(j, l.x + x, l.y + y);
        unsigned f = 0, ff = 0, z[K] = {};

        for (int i = lane; i < words; i += 32) {
            const unsigned word = frame.at(j.pitch, i / l.row_words, i % l.row_words) & __ldg(l.words + i);
            f = __dp4a(word, 0x01010101u, f);
            ff = __dp4a(word, word, ff);
#pragma unroll
            for (int k = 0; k < K; k++)
                z[k] = __dp4a(word, __ldg(l.words + (k + 1) * words + i), z[k]);
        }
        f = tm_warp_sum(f);
        ff = tm_warp_sum(ff);
        const int64_t energy = (int64_t)((uint64_t)l.pixels * ff - (uint64_t)f * f);
        const float inverse = energy ? l.root * rsqrtf(__ll2float_rn(energy)) : 0.0f;
        float own = 0;
#pragma unroll
        for (int k = 0; k < K; k++) {
            const int product = (int)(tm_warp_sum(z[k]) - 128 * f);
            own += lane < K ? __ldg(l.solve + lane * K + k) * (float)product : 0.0f;
        }
        own *= inverse;
        rest = 1 + 2 * l.error + TM_FAMILY_ROUNDING;
#pragma unroll
        for (int k = 0; k < K; k++) {
            p[k] = __shfl_sync(~0u, own, k);
            rest -= p[k] * p[k];
        }
        rest = __fsqrt_rn(fmaxf(rest, 0.0f));
    }

    __device__ __forceinline__ float bound(const tm_pose_level &l, int member) const
    {
        const float *from = l.coordinates + member;
        float sum = 0;
#pragma unroll
        for (int k = 0; k < K; k++)
            sum += p[k] * __ldg(from + k * l.padded);
        return sum + rest * __ldg(from + K * l.padded);
    }
};

/* The member's picture in a window, and whether it can lie there. */
static __device__ __forceinline__ bool place(const tm_pose_job &j, const tm_pose_level &l, int member, int x, int y,
                                             tm_pose_pair *pair)
{
    const unsigned index = l.first + (unsigned)member;
    const tm_pose_picture &p = j.pictures[index];
    *pair = (tm_pose_pair){l.x + x - p.left, l.y + y - p.top, index, 0};
    return pair->x >= p.x && pair->x < p.end_x && pair->y >= p.y && pair->y < p.end_y;
}

/* Scores the member of the greatest bound in a window, which may become the best, and returns it; without a member
 * its value is INT_MIN. */
template <int BASIS>
static __device__ __forceinline__ tm_pose_pair try_window(const tm_pose_job &j, const tm_pose_level &l, unsigned window)
{
    const int lane = threadIdx.x & 31, x = (int)(window % (unsigned)l.across), y = (int)(window / (unsigned)l.across);
    const window_look<BASIS> look(j, l, x, y);
    unsigned long long best = 0;
    tm_pose_pair pair;

    for (int a = lane; a < l.count; a += 32) {
        const unsigned order = tm_pose_biased(tm_score_order(look.bound(l, a)));
        if (place(j, l, a, x, y, &pair))
            best = max(best, (unsigned long long)order << 32 | (unsigned)a);
    }
    for (int d = 16; d; d /= 2)
        best = max(best, __shfl_xor_sync(~0u, best, d));
    if (!best)
        return (tm_pose_pair){0, 0, 0, INT_MIN};
    place(j, l, (int)(unsigned)best, x, y, &pair);
    pair.value = score(j, j.pictures[pair.picture], pair.x, pair.y);
    if (lane == 0)
        atomicMax(&j.state->best, (unsigned long long)tm_pose_biased(pair.value) << 32 | (l.first_window + window));
    return pair;
}

template <int BASIS>
static __global__ void __launch_bounds__(THREADS) guess_kernel(tm_pose_job j, tm_pose_level l)
{
    const int tile = (int)blockIdx.x * WARPS + threadIdx.x / 32;
    if (tile >= l.tiles)
        return;
    const tm_pose_pair pair = try_window<BASIS>(j, l, __ldg(l.tops + tile));
    if (j.guesses && (threadIdx.x & 31) == 0)
        j.guesses[l.first_tile + tile] = pair;
}

/* Bounds and scores of neighbours differ by little. */
template <int BASIS>
static __global__ void __launch_bounds__(THREADS) climb_kernel(tm_pose_job j, tm_pose_level l)
{
    const int i = (int)blockIdx.x * WARPS + threadIdx.x / 32;
    const unsigned window = __shfl_sync(~0u, (unsigned)__ldcg(&j.state->best), 0) - l.first_window;
    if (window >= (unsigned)l.across * (unsigned)l.down || i >= SIDE * SIDE)
        return;
    const int x = (int)(window % (unsigned)l.across) + i % SIDE - REACH,
              y = (int)(window / (unsigned)l.across) + i / SIDE - REACH;
    if (x >= 0 && x < l.across && y >= 0 && y < l.down)
        try_window<BASIS>(j, l, (unsigned)y * (unsigned)l.across + (unsigned)x);
}

/* Lists the members that pass in a window. */
template <int BASIS>
static __device__ __forceinline__ void list_members(const tm_pose_job &j, const tm_pose_level &l, unsigned window,
                                                    float least)
{
    const int lane = threadIdx.x & 31, x = (int)(window % (unsigned)l.across), y = (int)(window / (unsigned)l.across);
    const window_look<BASIS> look(j, l, x, y);

    for (int first = 0; first < l.count; first += 32) {
        const float bound = look.bound(l, first + lane); /* arrays are padded */
        tm_pose_pair pair;
        const bool passes = first + lane < l.count && bound >= least && place(j, l, first + lane, x, y, &pair);
        const unsigned all = __ballot_sync(~0u, passes);
        if (!all)
            continue;
        unsigned at = 0;
        if (lane == 0)
            at = atomicAdd(&j.state->listed, (unsigned)__popc(all));
        at = __shfl_sync(~0u, at, 0) + (unsigned)__popc(all & ((1u << lane) - 1));
        if (passes && at < j.most_listed) {
            pair.value = tm_score_order(bound);
            j.list[at] = pair;
        }
    }
}

static __device__ __forceinline__ bool has_too_many(const tm_pose_job &j)
{
    return __ldcg(&j.state->listed) > j.most_listed || __ldcg(&j.state->looked) > j.most_looked;
}

template <int BASIS>
static __global__ void __launch_bounds__(THREADS) list_kernel(tm_pose_job j, tm_pose_level l, double share)
{
    const int lane = threadIdx.x & 31;
    const unsigned windows = (unsigned)l.across * (unsigned)l.down,
                   first = ((unsigned)blockIdx.x * WARPS + threadIdx.x / 32) * 32;
    if (first >= windows)
        return;
    const float least = __shfl_sync(~0u, least_bound(least_order(j), share, l.error), 0),
                most = first + lane < windows ? __ldg(l.most + first + lane) : -8.0f;
    unsigned left = __ballot_sync(~0u, most >= least);
    if (left && lane == 0)
        atomicAdd(&j.state->looked, (unsigned)__popc(left));
    for (; left; left &= left - 1) {
        if (__shfl_sync(~0u, has_too_many(j), 0))
            return; /* nothing will come of it */
        list_members<BASIS>(j, l, first + (unsigned)__ffs(left) - 1, least);
    }
}

static __device__ __forceinline__ unsigned list_length(const tm_pose_job &j)
{
    return min(__ldcg(&j.state->listed), j.most_listed);
}

static __global__ void __launch_bounds__(THREADS) score_kernel(tm_pose_job j)
{
    const unsigned step = gridDim.x * WARPS, lane = threadIdx.x & 31;
    unsigned scored = 0;

    if (has_too_many(j))
        return;
    for (unsigned i = blockIdx.x * WARPS + threadIdx.x / 32; i < list_length(j); i += step) {
        const tm_pose_pair pair = j.list[i];
        const tm_pose_picture &p = j.pictures[pair.picture];
        const int least = __shfl_sync(~0u, least_order(j), 0);
        int order = INT_MIN;
        if (tm_score_of_order(pair.value) >= least_bound(least, p.share, p.error)) {
            order = score(j, p, pair.x, pair.y);
            scored++;
        }
        __syncwarp(); /* all have read the pair */
        if (lane == 0) {
            j.list[i].value = order;
            const unsigned long long key = (unsigned long long)tm_pose_biased(order) << 32;
            if (key > __ldcg(&j.state->best))
                atomicMax(&j.state->best, key);
        }
    }
    if (lane == 0 && scored)
        atomicAdd(&j.state->scored, scored);
}

/* The first of the best pairs, and all that reach the floor. */
static __global__ void __launch_bounds__(THREADS) finish_kernel(tm_pose_job j)
{
    const int best = tm_pose_best_of(__ldcg(&j.state->best));

    if (has_too_many(j))
        return;
    for (unsigned i = blockIdx.x * THREADS + threadIdx.x; i < list_length(j); i += gridDim.x * THREADS) {
        const tm_pose_pair pair = j.list[i];
        const tm_pose_picture &p = j.pictures[pair.picture];
        if (pair.value == best)
            atomicMax(&j.state->first, ~tm_pose_place(pair.x, pair.y, p.width, p.height, p.pose));
        if (pair.value >= j.floor && j.floor != INT_MAX) {
            const unsigned at = atomicAdd(&j.state->found, 1u);
            if (at < j.most_found)
                j.found[at] = pair;
        }
    }
}

template <int BASIS>
static cudaError_t guess(const tm_pose_job *j, const tm_pose_level *l, cudaStream_t stream)
{
    return TM_LAUNCH(guess_kernel<BASIS><<<(unsigned)ceil_div(l->tiles, WARPS), THREADS, 0, stream>>>(*j, *l));
}

template <int BASIS>
static cudaError_t climb(const tm_pose_job *j, const tm_pose_level *l, cudaStream_t stream)
{
    return TM_LAUNCH(climb_kernel<BASIS><<<(unsigned)ceil_div(SIDE * SIDE, WARPS), THREADS, 0, stream>>>(*j, *l));
}

template <int BASIS>
static cudaError_t list(const tm_pose_job *j, const tm_pose_level *l, double share, cudaStream_t stream)
{
    const int64_t windows = (int64_t)l->across * l->down;
    return TM_LAUNCH(list_kernel<BASIS><<<(unsigned)ceil_div(windows, 32 * WARPS), THREADS, 0, stream>>>(*j, *l, share));
}

cudaError_t tm_poses_guess(const tm_pose_job *j, const tm_pose_level *l, cudaStream_t stream)
{
    switch (l->basis) {
    case 1: return guess<1>(j, l, stream);
    case 2: return guess<2>(j, l, stream);
    case 3: return guess<3>(j, l, stream);
    default: return guess<4>(j, l, stream);
    }
}

cudaError_t tm_poses_climb(const tm_pose_job *j, const tm_pose_level *l, cudaStream_t stream)
{
    switch (l->basis) {
    case 1: return climb<1>(j, l, stream);
    case 2: return climb<2>(j, l, stream);
    case 3: return climb<3>(j, l, stream);
    default: return climb<4>(j, l, stream);
    }
}

cudaError_t tm_poses_list(const tm_pose_job *j, const tm_pose_level *l, double share, cudaStream_t stream)
{
    switch (l->basis) {
    case 1: return list<1>(j, l, share, stream);
    case 2: return list<2>(j, l, share, stream);
    case 3: return list<3>(j, l, share, stream);
    default: return list<4>(j, l, share, stream);
    }
}

cudaError_t tm_poses_score(const tm_pose_job *j, int multiprocessors, cudaStream_t stream)
{
    const unsigned blocks = 16 * (unsigned)multiprocessors;
    cudaError_t error = TM_LAUNCH(score_kernel<<<blocks, THREADS, 0, stream>>>(*j));
    if (error != cudaSuccess)
        return error;
    return TM_LAUNCH(finish_kernel<<<blocks, THREADS, 0, stream>>>(*j));
}
