/* SPDX-License-Identifier: MIT */
/* What becomes of a warp's sums S_FT: scores, the map, the best match.
 *
 * A warp has 8 rows x 128 columns of windows in registers, acc[8][4] of each thread: row i, and of
 * lane l the columns 2l, 2l + 1, 64 + 2l, 64 + 2l + 1. */
#ifndef TMATCH_LCC_CUDA_TENSOR_EPILOGUE_CUH
#define TMATCH_LCC_CUDA_TENSOR_EPILOGUE_CUH
#include "lcc/cuda/device.cuh"
#include "lcc/cuda/tensor/kernels.cuh"
#include "lcc/reject.h"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

__device__ __forceinline__ int64_t tm_mul_signed(int a, int b)
{
    int64_t d;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
    return d;
}

/* -(float)var_F. The score multiplies it by -(float)var_T, which saves a negation. BIG: n up to
 * TM_TENSOR_TAPS, else at most 33025. */
template <bool BIG>
__device__ __forceinline__ float tm_tensor_minus_var(unsigned s, unsigned ss, int n)
{
    if (BIG)
        return __ll2float_rn((int64_t)s * s - (int64_t)((uint64_t)ss * (unsigned)n));
    return __ll2float_rn(tm_mad_wide(s, s, tm_mul_signed(ss, -n)));
}

/* (float)(n S_FT - S_F S_T) */
template <bool BIG>
__device__ __forceinline__ float tm_tensor_num(int s_ft, unsigned s_f, int n, int s_t)
{
    if (BIG)
        return __ll2float_rn((int64_t)((uint64_t)(unsigned)s_ft * (unsigned)n) -
                             (int64_t)s_f * s_t);
    return __ll2float_rn(tm_mad_wide(s_f, -s_t, tm_mul_signed(s_ft, n)));
}

/* The nearest score from -1 to 1. */
__device__ __forceinline__ float tm_tensor_clamp(float q)
{
#if __CUDA_ARCH__ >= 860
    float clamped; // of both magnitudes the lesser, with q's sign
    asm("min.xorsign.abs.f32 %0, %1, %2;" : "=f"(clamped) : "f"(q), "f"(1.0f));
    return clamped;
#else
    return fminf(fmaxf(q, -1.0f), 1.0f);
#endif
}

/* The root of p, rounded once: what __fsqrt_rn comes to for 1 <= p < 2^99, without its range checks. */
__device__ __forceinline__ float tm_tensor_root(float p)
{
    float r, d;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(p));
    d = __fmul_rn(p, r);
    return __fmaf_rn(__fmaf_rn(-d, d, p), __fmul_rn(r, 0.5f), d);
}

/* 1 / d for such a root d: on compute capability 9.0 always the nearest number to it. */
__device__ __forceinline__ float tm_tensor_reciprocal(float d)
{
    float r;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
    return __fmaf_rn(__fmaf_rn(-d, r, 1.0f), r, r);
}

/* num / sqrt(var_F * var_T), each operation rounded once, where 1 <= var_F * var_T < 2^99. A flat window has num = 0, and any
 * finite divisor gives its 0. Both variances may be negated. The quotient is what __fdiv_rn comes to without its range checks, but
 * that the nearest reciprocal needs no second correction: tests/lcc/test_score.c has the proof, and tries all reciprocals. */
__device__ __forceinline__ float tm_tensor_score(float num, float var_f, float var_t)
{
    const float d = tm_tensor_root(fmaxf(__fmul_rn(var_f, var_t), 1.0f)), y = tm_tensor_reciprocal(d);
    float q = __fmul_rn(num, y);
    q = __fmaf_rn(__fmaf_rn(-d, q, num), y, q);
#ifndef __CUDA_ARCH_FEAT_SM90_ALL // code for sm_90a, which runs on 9.0 only, does without
    q = __fmaf_rn(__fmaf_rn(-d, q, num), y, q);
#endif
    return tm_tensor_clamp(q);
}

enum { TM_STORE_NOTHING, TM_STORE_PAIRS, TM_STORE_SINGLES };

/* Replaces S_FT in acc by scores and stores them in the map; returns the greatest of this thread.
 * win: this lane's window sums of the first row. EDGE: only cols columns, from this lane's first
 * on, and some rows lie in the map. */
template <int STORE, bool EDGE, bool BIG>
__device__ __forceinline__ float tm_mma_scores(int (&acc)[8][4], const uint4 *win, int pitch, int n,
                                               int s_t, float minus_var_t, float *map,
                                               int64_t out_w, int cols, int rows)
{
    float top = -2.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            uint4 v = win[i * pitch + 32 * c];
            float a = tm_tensor_score(tm_tensor_num<BIG>(acc[i][2 * c], v.x, n, s_t),
                                      __uint_as_float(v.y), minus_var_t);
            float b = tm_tensor_score(tm_tensor_num<BIG>(acc[i][2 * c + 1], v.z, n, s_t),
                                      __uint_as_float(v.w), minus_var_t);
            bool in_a = !EDGE || (i < rows && 64 * c < cols),
                 in_b = !EDGE || (i < rows && 64 * c + 1 < cols);
            if (EDGE)
                a = in_a ? a : -2.0f, b = in_b ? b : -2.0f;
            if (STORE == TM_STORE_PAIRS && !EDGE)
                __stcs((float2 *)(map + 64 * c), make_float2(a, b));
            else if (STORE) {
                if (in_a)
                    __stcs(map + 64 * c, a);
                if (in_b)
                    __stcs(map + 64 * c + 1, b);
            }
            top = fmaxf(top, fmaxf(a, b));
            acc[i][2 * c] = __float_as_int(a);
            acc[i][2 * c + 1] = __float_as_int(b);
        }
        if (STORE)
            map += out_w;
    }
    return top;
}

/* Takes the greatest value of acc for template k's best of this warp, if it is better: its bits as
 * in acc, and the order by which it is ranked. All lanes write the same. x, y: the warp's first
 * window in the map. */
__device__ __forceinline__ void tm_tensor_offer(const int (&acc)[8][4], int bits, int order,
                                                int running_best, const tm_tensor_job &j, int k,
                                                tm_tensor_best &best, int64_t x, int64_t y)
{
    /* Positions grow down a column of tiles, so an equal value wins only where the block has gone
     * on to the next column. */
    int lane = threadIdx.x & 31, seen = best.order;
    if (order < running_best || order < seen || (order == seen && y * j.map_width + x > best.pos))
        return;
    unsigned at = ~0u;
#pragma unroll
    for (int i = 7; i >= 0; i--)
#pragma unroll
        for (int c = 3; c >= 0; c--)
            if (acc[i][c] == bits)
                at = 128 * i + 64 * (c >> 1) + 2 * lane + (c & 1);
    at = __reduce_min_sync(~0u, at);
    int64_t pos = (y + (at >> 7)) * j.map_width + x + (at & 127);
    if (order == seen && best.pos < pos)
        return;
    best.order = order;
    best.pos = pos;
    if (!lane)
        atomicMax(j.running_bests + k, order);
}

/* Scores a warp's windows, of which cols x rows lie in the map, and offers the greatest score. The scores replace num, whose bits as
 * binary32 are in acc. Both variances may be negated. */
__device__ __forceinline__ void tm_tensor_offer_scores(int (&acc)[8][4], const float (&var_f)[8][4], float var_t, int running_best,
                                                       const tm_tensor_job &j, tm_tensor_best &best, int64_t x, int64_t y, int cols,
                                                       int rows)
{
    const int lane = threadIdx.x & 31;
    float top = -2.0f;
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            float q = tm_tensor_score(__int_as_float(acc[i][c]), var_f[i][c], var_t);
            if (i >= rows || 2 * lane + 64 * (c >> 1) + (c & 1) >= cols)
                q = -2.0f;
            acc[i][c] = __float_as_int(q);
            top = fmaxf(top, q);
        }
    const int order = __reduce_max_sync(~0u, tm_score_order(top));
    top = tm_score_of_order(order);
    if (top >= -1.0f)
        tm_tensor_offer(acc, __float_as_int(top), order, running_best, j, 0, best, x, y);
}

/* From S_FT in acc to scores, the map and the warp's best so far of template k. Without a map, no
 * score is made if no window can be the best: see lcc/reject.h. */
template <bool MAP, bool BIG>
__device__ __forceinline__ void tm_mma_finish(int (&acc)[8][4], const uint4 *win, int pitch,
                                              const tm_tensor_job &j, tm_tensor_template t, int n,
                                              int k, int running_best, tm_tensor_best *best,
                                              int64_t x, int64_t y)
{
    if (x >= j.map_width || y >= j.map_height)
        return; // all of the warp lies beyond the edge
    int lane = threadIdx.x & 31, s_t = t.sum, seen = best->order;
    float minus_var_t = -t.variance;
    win += lane;
    if (!MAP) {
        float s = tm_score_of_order(max(running_best, seen)), excess = 0.0f;
        if (s > 0) {
            float bound = tm_reject_boundf(s, t.variance);
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    uint4 v = win[i * pitch + 32 * c];
                    float a = tm_tensor_num<BIG>(acc[i][2 * c], v.x, n, s_t),
                          b = tm_tensor_num<BIG>(acc[i][2 * c + 1], v.z, n, s_t);
                    excess = fmaxf(excess, __fmaf_rn(a, a, __uint_as_float(v.y) * bound));
                    excess = fmaxf(excess, __fmaf_rn(b, b, __uint_as_float(v.w) * bound));
                }
            if (!__any_sync(~0u, excess > 0))
                return;
        }
    }
    int cols = (int)min((int64_t)128, j.map_width - x),
        rows = (int)min((int64_t)8, j.map_height - y);
    float *map = MAP ? j.map + ((size_t)k * j.map_height + y) * j.map_width + x + 2 * lane : 0, top;
    bool even = !(j.map_width & 1) && !((size_t)j.map & 7);
    /* There are only two forms: with a third, the compiler makes one loop of both that are not at
     * the edge, with a branch at every pair of columns, and no pair overlaps another. */
    if (cols < 128 || rows < 8 || (MAP && !even))
        top = tm_mma_scores<(MAP ? TM_STORE_SINGLES : TM_STORE_NOTHING), true, BIG>(
            acc, win, pitch, n, s_t, minus_var_t, map, j.map_width, cols - 2 * lane, rows);
    else
        top = tm_mma_scores<(MAP ? TM_STORE_PAIRS : TM_STORE_NOTHING), false, BIG>(
            acc, win, pitch, n, s_t, minus_var_t, map, j.map_width, 0, 0);

    int order = __reduce_max_sync(~0u, tm_score_order(top));
    top = tm_score_of_order(order);
    if (top >= -1.0f)
        tm_tensor_offer(acc, __float_as_int(top), order, running_best, j, k, *best, x, y);
}

template <typename T>
struct tm_tensor_pair;

template <>
struct tm_tensor_pair<int64_t> {
    typedef longlong2 type;
};

template <>
struct tm_tensor_pair<uint32_t> {
    typedef uint2 type;
};

/* Stores acc in a map of 32 or 64 bits, of which cols x rows elements from here on exist. */
template <typename T>
__device__ __forceinline__ void tm_tensor_store_sums(const int (&acc)[8][4], T *map, int64_t stride,
                                                     int cols, int rows)
{
    typedef typename tm_tensor_pair<T>::type pair;
    bool full = cols >= 128 && rows >= 8 && !(stride & 1) && !((size_t)map & (sizeof(pair) - 1));
    int lane = threadIdx.x & 31;
    map += 2 * lane, cols -= 2 * lane;
#pragma unroll
    for (int i = 0; i < 8; i++, map += stride)
#pragma unroll
        for (int c = 0; c < 2; c++) {
            T a = (T)(unsigned)acc[i][2 * c], b = (T)(unsigned)acc[i][2 * c + 1];
            T *at = map + 64 * c;
            if (full) {
                pair v;
                v.x = a, v.y = b;
                __stcs((pair *)at, v);
            } else {
                if (i < rows && 64 * c < cols)
                    at[0] = a;
                if (i < rows && 64 * c + 1 < cols)
                    at[1] = b;
            }
        }
}

/* Unsigned sums, xor this, have as int the order that they have as unsigned. */
#define TM_TENSOR_UNSIGNED 0x80000000u

/* From S_FT in acc to the map of sums and the warp's best so far of template k. */
__device__ __forceinline__ void tm_tensor_finish_sums(int (&acc)[8][4], const tm_tensor_job &j,
                                                      int k, int running_best, tm_tensor_best &best,
                                                      int64_t x, int64_t y)
{
    if (x >= j.map_width || y >= j.map_height)
        return; // all of the warp lies beyond the edge
    int cols = (int)min((int64_t)128, j.map_width - x),
        rows = (int)min((int64_t)8, j.map_height - y), lane = threadIdx.x & 31;
    if (j.sums.map64)
        tm_tensor_store_sums(acc, j.sums.map64 + y * j.sums.stride + x, j.sums.stride, cols, rows);
    else if (j.sums.map32)
        tm_tensor_store_sums(acc, j.sums.map32 + y * j.sums.stride + x, j.sums.stride, cols, rows);
    if (!j.best)
        return;
    unsigned top = 0;
#pragma unroll
    for (int i = 0; i < 8; i++)
#pragma unroll
        for (int c = 0; c < 4; c++) {
            if (i >= rows || 64 * (c >> 1) + 2 * lane + (c & 1) >= cols)
                acc[i][c] = 0;
            top = max(top, (unsigned)acc[i][c]);
        }
    top = __reduce_max_sync(~0u, top);
    if (top) // with no sum above 0 in the launch, the first position is the best, as at the start
        tm_tensor_offer(acc, (int)top, (int)(top ^ TM_TENSOR_UNSIGNED), running_best, j, k, best, x,
                        y);
}

__device__ __forceinline__ bool tm_tensor_beats(int64_t ao, int64_t ap, int64_t bo, int64_t bp)
{
    return ao > bo || (ao == bo && ap < bp);
}

/* A block's best where it is not known. */
#define TM_TENSOR_UNKNOWN {INT64_MAX, INT_MAX}

__device__ __forceinline__ bool tm_tensor_is_unknown(const tm_tensor_best &best)
{
    return best.order == INT_MAX;
}

/* Writes the block's best of each template, of the bests of its warps. The last block that does so
 * writes the launch's, and leaves the scratch as it was before. SOME: not all windows were scored; if a block's best is not known, or
 * no score is above 0, the launch's is TM_NO_CANDIDATE, in the former case with the least position of such blocks. */
template <tm_tensor_outcome OUTCOME, bool SOME = false>
__device__ __forceinline__ void tm_tensor_write_bests(const tm_tensor_job &j,
                                                      const tm_tensor_best *best)
{
    if (OUTCOME == TM_TENSOR_SUMS && !j.best)
        return;
    __syncthreads();
    for (int k = threadIdx.x; k < j.count; k += TM_TENSOR_THREADS) {
        tm_tensor_best b = best[k];
        for (int i = 1; i < TM_TENSOR_THREADS / 32; i++) {
            tm_tensor_best o = best[i * j.count + k];
            if (tm_tensor_beats(o.order, o.pos, b.order, b.pos))
                b = o;
        }
        tm_candidate r = {b.order, b.pos};
        j.blocks[(size_t)k * gridDim.x + blockIdx.x] = r;
        __threadfence();
    }
    __syncthreads();
    /* not by shared memory: where warpgroups have passed barriers of their own, racecheck does not see that this one is between store and load */
    if (!__syncthreads_or(!threadIdx.x && atomicAdd(j.counter, 1) == (int)gridDim.x - 1))
        return;
    __threadfence();
    /* a few lanes for each template; all threads for one alone, whose launch waits for this */
    __shared__ tm_candidate parts[TM_TENSOR_THREADS / 32];
    const int warps = TM_TENSOR_THREADS / 32;
    int lanes = j.count == 1 ? TM_TENSOR_THREADS : 32;
    while (lanes <= 32 && lanes > 8 && lanes * j.count > TM_TENSOR_THREADS)
        lanes /= 2;
    const int step = TM_TENSOR_THREADS / lanes;
    for (int first = 0; first < j.count; first += step) {
        const int k = min(first + (int)threadIdx.x / lanes, j.count - 1);
        int64_t order = INT64_MIN, pos = 0;
#pragma unroll 8
        for (int i = threadIdx.x % lanes; i < gridDim.x; i += lanes) {
            tm_candidate o = j.blocks[(size_t)k * gridDim.x + i];
            if (tm_tensor_beats(o.value, o.position, order, pos))
                order = o.value, pos = o.position;
        }
        for (int d = min(lanes, 32) / 2; d; d /= 2) {
            int64_t o = __shfl_xor_sync(~0u, order, d), q = __shfl_xor_sync(~0u, pos, d);
            if (tm_tensor_beats(o, q, order, pos))
                order = o, pos = q;
        }
        tm_candidate part = {order, pos};
        if (lanes > 32) {
            if (!(threadIdx.x & 31))
                parts[threadIdx.x / 32] = part;
            __syncthreads();
            for (int i = 0; i < warps; i++)
                if (tm_tensor_beats(parts[i].value, parts[i].position, part.value, part.position))
                    part = parts[i];
        }
        if (threadIdx.x % lanes == 0 && first + (int)threadIdx.x / lanes < j.count) {
            part.value += OUTCOME == TM_TENSOR_SUMS ? TM_TENSOR_UNSIGNED : 0;
            if (SOME && (part.value == INT_MAX || part.value <= 0)) {
                const tm_candidate none = TM_NO_CANDIDATE;
                part = {none.value, part.value == INT_MAX ? part.position : none.position};
            }
            j.best[k] = part;
            j.running_bests[k] = INT_MIN;
        }
    }
    if (!threadIdx.x)
        *j.counter = 0;
}
#endif

#endif
