/* SPDX-License-Identifier: MIT */
/* From the sums of a window to its score, and what both kernels that do so share: score.cu's, where
 * all sums are products, and window_sums.cu's. */
#ifndef TMATCH_LCC_CUDA_PLANES_SCORE_CUH
#define TMATCH_LCC_CUDA_PLANES_SCORE_CUH

#include <limits.h>

#include "lcc/cuda/early.cuh"
#include "lcc/cuda/planes/planes.cuh"
#include "lcc/reject.h"

#define TM_EACH 4      /* windows of a thread in a row */
#define TM_LOOK_ROWS 4 /* rows between looks at the best so far */

template <typename T>
struct __align__(16) tm_quad
{
    T of[TM_EACH];
};

/* The first count of four windows' words; nothing was written behind a row's last one. from: a multiple of 16 bytes. */
static __device__ __forceinline__ uint4 tm_first_of(const uint32_t *from, int count)
{
    return count >= 4 ? __ldcs((const uint4 *)from)
                      : make_uint4(count > 0 ? __ldcs(from) : 0, count > 1 ? __ldcs(from + 1) : 0,
                                   count > 2 ? __ldcs(from + 2) : 0, 0);
}

/* The types that a kernel keeps its sums in. All sums are exact modulo 2^32 or 2^64. */
typedef enum tm_sums_kind { TM_SUMS_8, TM_SUMS_16, TM_SUMS_INT128 } tm_sums_kind;

/* Samples of a byte, where S_FF and S_FT fit 32 bits. */
struct tm_sums_8 {
    typedef uint32_t F, FF;
    static const tm_sums_kind kind = TM_SUMS_8;
    static const bool int128 = false;
};

/* Where S_F fits 32 bits, and S_FF and S_FT 64. */
struct tm_sums_16 {
    typedef uint32_t F;
    typedef uint64_t FF;
    static const tm_sums_kind kind = TM_SUMS_16;
    static const bool int128 = false;
};

/* Where num and var_F do not fit 64 bits and are made in 128. */
struct tm_sums_int128 {
    typedef uint64_t F, FF;
    static const tm_sums_kind kind = TM_SUMS_INT128;
    static const bool int128 = true;
};

static __device__ __forceinline__ int64_t tm_mul_wide(uint32_t a, uint32_t b)
{
    int64_t d;
    asm("mul.wide.u32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
    return d;
}

/* num and var_F of LCC. */
template <int CHANNELS>
static __device__ __forceinline__ void tm_centre(const tm_planes_score &c, uint32_t ft, uint32_t ff,
                                                 const uint32_t (&f)[CHANNELS], float *num,
                                                 float *var)
{
    int64_t a = tm_mul_wide(ft, c.n), squares = 0;
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) { /* f and S_T are at most n 255 < 2^31 */
        a = tm_mad_wide((int)f[k], c.minus_s_t[k], a);
        squares = tm_mad_wide((int)f[k], (int)f[k], squares);
    }
    *num = __ll2float_rn(a);
    *var = __ll2float_rn(tm_mul_wide(ff, c.n) - squares);
}

template <int CHANNELS>
static __device__ __forceinline__ void tm_centre(const tm_planes_score &c, uint64_t ft, uint64_t ff,
                                                 const uint32_t (&f)[CHANNELS], float *num,
                                                 float *var)
{
    int64_t a = (int64_t)(ft * c.n), b = (int64_t)(ff * c.n);
#pragma unroll
    for (int k = 0; k < CHANNELS; k++) {
        a -= tm_mul_wide(f[k], (uint32_t)-c.minus_s_t[k]);
        b -= tm_mul_wide(f[k], f[k]);
    }
    *num = __ll2float_rn(a);
    *var = __ll2float_rn(b);
}

/* Never called: sums of this type are scored by tm_emit. */
template <int CHANNELS>
static __device__ __forceinline__ void tm_centre(const tm_planes_score &, uint64_t, uint64_t,
                                                 const uint64_t (&)[CHANNELS], float *num,
                                                 float *var)
{
    *num = *var = 0;
}

/* What num |num| / var_F must exceed for a score that may be the best: see lcc/reject.h. */
static __device__ __forceinline__ float tm_reject_bound_for(const tm_planes_score &c, float s)
{
    return s > 0 ? tm_reject_boundf(s, c.variance) : -INFINITY;
}

static __device__ __forceinline__ float tm_reject_bound_of(const tm_planes_score &c,
                                                           int running_best)
{
    return tm_reject_bound_for(c, tm_score_of_order(running_best));
}

static __device__ __forceinline__ bool tm_may_be_best(float num, float var, float bound)
{
    return !(num * fabsf(num) <= var * bound); /* true of a bound of -infinity and a var of 0 */
}

/* A thread's positions ascend, so an equal rank does not win. */
static __device__ __forceinline__ void tm_offer(tm_candidate *best, int64_t rank, int64_t position)
{
    if (rank > best->value)
        *best = (tm_candidate){rank, position};
}

/* The order of LCC's score. */
static __device__ __forceinline__ int tm_lcc_order(const tm_planes_score &c, float num, float var)
{
    return tm_score_order(tm_lcc_clamp(tm_normed(&c.scorer, num, var), false));
}

static __device__ __forceinline__ void tm_offer_lcc(const tm_planes_score &c, tm_candidate *best,
                                                    float num, float var, int64_t position)
{
    tm_offer(best, tm_lcc_order(c, num, var), position);
}

/* The score by any metric, with 128 bits. It is called, not inlined in each kernel. */
template <int CHANNELS>
static __device__ __noinline__ tm_value tm_score_of_int128(const tm_scorer &scorer, tm_sums sums)
{
    return tm_score_as(&scorer, &sums, CHANNELS, true);
}

/* Scores a window by any metric, for the map and the best. */
template <typename SUMS, int CHANNELS>
static __device__ __forceinline__ void
tm_emit(const tm_planes_score &c, typename SUMS::FF ft, typename SUMS::FF ff,
        const typename SUMS::F (&f)[CHANNELS], bool skipped, int64_t position, tm_candidate *best)
{
    tm_value value;
    if (skipped) {
        value = tm_skipped_value(c.scorer.metric);
    } else if (!SUMS::int128 && c.scorer.metric == TM_METRIC_LCC) {
        float num, var;
        tm_centre(c, ft, ff, f, &num, &var);
        value.score = tm_lcc_clamp(tm_normed(&c.scorer, num, var), false);
        value.rank = tm_score_order(value.score);
    } else {
        tm_sums sums = {(int64_t)ft, (int64_t)ff};
#pragma unroll
        for (int k = 0; k < CHANNELS; k++)
            sums.s_f[k] = (int64_t)f[k];
        value = SUMS::int128 ? tm_score_of_int128<CHANNELS>(c.scorer, sums)
                           : tm_score_as(&c.scorer, &sums, CHANNELS, false);
    }
    if (c.map && tm_is_integer(c.scorer.metric))
        ((int64_t *)c.map)[position] = value.integer;
    else if (c.map)
        ((float *)c.map)[position] = value.score;
    if (!skipped)
        tm_offer(best, value.rank, position);
}

/* Tells other blocks of this warp's best score, and returns its order. running_best: what they knew a while ago. */
static __device__ __forceinline__ int tm_tell_best(const tm_planes_score &c, const tm_candidate &best, int running_best)
{
    int order = best.value < INT_MIN ? INT_MIN : (int)best.value;
    for (int offset = 16; offset > 0; offset /= 2)
        order = max(order, __shfl_xor_sync(0xffffffffu, order, offset));
    if (threadIdx.x % 32 == 0 && order > running_best)
        atomicMax(c.running_best, order);
    return order;
}

/* Writes the best of a block's threads, of which there are so many, as its candidate; best becomes that. */
template <int THREADS>
static __device__ __forceinline__ void tm_write_candidate(const tm_planes_score &c, tm_candidate &best)
{
    best = tm_block_best<THREADS>(best, threadIdx.x);
    if (threadIdx.x == 0)
        c.candidates[(int64_t)blockIdx.y * gridDim.x + blockIdx.x] = best;
}

static inline tm_sums_kind tm_sums_kind_of(const tm_scorer *s, int bytes)
{
    if (s->int128)
        return TM_SUMS_INT128;
    return bytes == 1 && s->n * s->channels <= UINT32_MAX / (255 * 255) ? TM_SUMS_8 : TM_SUMS_16;
}

/* The tiles of a launch, one a block. */
typedef struct tm_tiles {
    int threads, tile_columns, tile_rows;
    dim3 grid;
} tm_tiles;

/* fit: how many blocks a multiprocessor takes. */
tm_tiles tm_tiles_make(const tm_planes_score *c, int threads, int tile_columns, int fit);

/* window_sums.cu */
tm_tiles tm_window_sums_tiles(const tm_planes_score *c);
cudaError_t tm_window_sums_launch(const tm_planes_score *c, cudaStream_t stream);

/* window_runs.cu, for those bands that it takes */
bool tm_window_runs_take(const tm_planes_score *c);
tm_tiles tm_window_runs_tiles(const tm_planes_score *c);
cudaError_t tm_window_runs_launch(const tm_planes_score *c, cudaStream_t stream);

#endif
