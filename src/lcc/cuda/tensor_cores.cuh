/* SPDX-License-Identifier: MIT */
/* What the tensor-core kernels share: the job, the window sums, the score, the peak. */
#ifndef TMATCH_LCC_CUDA_TENSOR_CORES_CUH
#define TMATCH_LCC_CUDA_TENSOR_CORES_CUH
#include <limits.h>

#include "lcc/cuda/tensor.h"

#ifndef TC_TW
#define TC_TW 256
#define TC_TH 16
#endif
enum { TW = TC_TW, TH = TC_TH, TC_THREADS = TW / 128 * TH / 8 * 32 };

typedef struct { // the launcher's geometry
    int tiles_y, tiles;
    int row_bytes; // of a staged frame row
    int words;     // 4-column groups of the column sums
    int sums_pitch,
        win_pitch; // of column and window sums, in uint4; odd: rows fall into different banks
} tc_plan;

/* The *_run functions refuse with cudaErrorNotSupported what they cannot do, before any launch. */
cudaError_t tc_reset(int *hint, int k, cudaStream_t stream);
size_t tc_mma_frag_bytes(int w, int h, int k); // of tc_mma_launch and tc_mma_wide_launch
size_t tc_wgmma_frag_bytes(int w, int h, int k);
cudaError_t tc_mma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int k,
                           cudaStream_t stream);
cudaError_t tc_wgmma_prepare(void *frag, const uint8_t *tmpl, int w, int h, int k,
                             cudaStream_t stream);
cudaError_t tc_mma_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream);
cudaError_t tc_mma_wide_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream);
cudaError_t tc_wgmma_launch(tm_tensor_job j, int sms, size_t smem_max, cudaStream_t stream);

typedef struct {
    int64_t pos;
    int order;
} tc_best;

#ifdef __CUDACC__
/* Nothing of this exists before compute capability 8.0. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

__device__ __forceinline__ void tc_copy16(unsigned dst, const void *src)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(dst), "l"(src) : "memory");
}

__device__ __forceinline__ void tc_copy_wait()
{
    asm volatile("cp.async.wait_all;" ::: "memory");
}

/* One column's sums over h rows. Up to 31 rows both fit in one word, of G = F - 128:
 * 2^19 S_G + S_GG, with S_GG < 2^19. The variance does not change with the shift, and
 * n S_FT - S_F S_T = n (S_FT - 128 S_T) - S_G S_T. */
template <bool PACK>
struct tc_sum;

template <>
struct tc_sum<true> {
    unsigned v;
    __device__ void zero()
    {
        v = 0;
    }
    __device__ void add(unsigned x)
    {
        slide(x, 128);
    }
    __device__ void slide(unsigned x, unsigned z)
    {
        v += (x - z) * (x + z + ((1u << 19) - 256));
    }
};

template <>
struct tc_sum<false> {
    unsigned s, ss;
    __device__ void zero()
    {
        s = ss = 0;
    }
    __device__ void add(unsigned x)
    {
        s += x, ss += x * x;
    }
    __device__ void slide(unsigned x, unsigned z)
    {
        s += x - z, ss += (x - z) * (x + z);
    }
};

__device__ __forceinline__ void tc_put(uint4 *a, uint4 *, const tc_sum<true> (&s)[4])
{
    *a = make_uint4(s[0].v, s[1].v, s[2].v, s[3].v);
}

__device__ __forceinline__ void tc_put(uint4 *a, uint4 *b, const tc_sum<false> (&s)[4])
{
    *a = make_uint4(s[0].s, s[0].ss, s[1].s, s[1].ss);
    *b = make_uint4(s[2].s, s[2].ss, s[3].s, s[3].ss);
}

__device__ __forceinline__ void tc_get(tc_sum<true> (&s)[4], const uint4 *a, const uint4 *)
{
    uint4 u = *a;
    s[0].v = u.x, s[1].v = u.y, s[2].v = u.z, s[3].v = u.w;
}

__device__ __forceinline__ void tc_get(tc_sum<false> (&s)[4], const uint4 *a, const uint4 *b)
{
    uint4 u = *a, v = *b;
    s[0].s = u.x, s[0].ss = u.y, s[1].s = u.z, s[1].ss = u.w;
    s[2].s = v.x, s[2].ss = v.y, s[3].s = v.z, s[3].ss = v.w;
}

/* Column and window sums of each 8 rows have a region, in uint4. */
__device__ __forceinline__ int tc_region(const tc_plan &p)
{
    return 8 * max(p.sums_pitch, p.win_pitch);
}

/* A barrier of the threads that share 8 rows; TH = 16 */
__device__ __forceinline__ void tc_group_barrier()
{
    if (threadIdx.x < TC_THREADS / 2)
        asm volatile("bar.sync 1, %0;" ::"n"(TC_THREADS / 2) : "memory");
    else
        asm volatile("bar.sync 2, %0;" ::"n"(TC_THREADS / 2) : "memory");
}

/* Column sums over h rows, slid down the tile; state carries them to the tile below.
 * DOUBLED: the row's bytes [8u, 8u + 16) stand at 16u (wgmma.cu). */
template <bool PACK, bool DOUBLED>
__device__ __forceinline__ void tc_column_sums(const uint8_t *tile, uint4 *sums, uint4 *state,
                                               int h, const tc_plan &p, bool fresh)
{
    for (int c = threadIdx.x; c < p.words; c += TC_THREADS) {
        /* doubled: lanes 16..31 read the same bytes from the unit before, in other banks */
        const uint8_t *top = tile + (DOUBLED ? 16 * (c >> 1) + 4 * (c & 1) - (c >> 1 & 8) : 4 * c),
                      *bottom = top + (h - 1) * p.row_bytes;
        /* Unpacked, lanes 4..7 of each 8 take the word's halves in the other order: with 32 bytes
         * a lane, their 16-byte stores would meet those of lanes 0..3 in the same banks. */
        int swap = PACK ? 0 : c >> 2 & 1, each = PACK ? 1 : 2;
        unsigned sel[4];
        tc_sum<PACK> s[4];
#pragma unroll
        for (int i = 0; i < 4; i++)
            sel[i] = 0x4440 + (i ^ 2 * swap);
        uint4 *a = sums + each * c + swap, *b = sums + each * c + 1 - swap;
        uint4 *sa = state + each * c + swap, *sb = state + each * c + 1 - swap;
        if (fresh) {
#pragma unroll
            for (int i = 0; i < 4; i++)
                s[i].zero();
#pragma unroll 5
            for (int r = 0; r < h - 1; r++) {
                unsigned v = *(const unsigned *)(top + r * p.row_bytes);
#pragma unroll
                for (int i = 0; i < 4; i++)
                    s[i].add(__byte_perm(v, 0, sel[i]));
            }
        } else
            tc_get(s, sa, sb);
        /* Loads of 4 rows ahead of their use: none could pass the stores by itself. */
        unsigned in[2][4], out[2][4];
        auto load = [&](int y) {
#pragma unroll
            for (int i = 0; i < 4; i++, top += p.row_bytes, bottom += p.row_bytes)
                out[y / 4 & 1][i] = *(const unsigned *)top,
                            in[y / 4 & 1][i] = *(const unsigned *)bottom;
        };
        load(0);
#pragma unroll
        for (int y = 0; y < TH; y++) {
            unsigned v = in[y / 4 & 1][y & 3], o = y ? out[(y - 1) / 4 & 1][(y - 1) & 3] : 0;
            if (y % 4 == 0 && y + 4 < TH)
                load(y + 4);
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (y)
                    s[i].slide(__byte_perm(v, 0, sel[i]), __byte_perm(o, 0, sel[i]));
                else
                    s[i].add(__byte_perm(v, 0, sel[i]));
            tc_put(a, b, s);
            int step = (y + 1) & 7 ? p.sums_pitch : tc_region(p) - 7 * p.sums_pitch;
            a += step, b += step;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            s[i].slide(PACK ? 128 : 0, __byte_perm(out[(TH - 1) / 4 & 1][3], 0, sel[i]));
        tc_put(sa, sb, s);
    }
}

__device__ __forceinline__ int64_t tc_mul(int a, int b)
{
    int64_t d;
    asm("mul.wide.s32 %0, %1, %2;" : "=l"(d) : "r"(a), "r"(b));
    return d;
}

__device__ __forceinline__ int64_t tc_mad(int a, int b, int64_t c)
{
    int64_t d;
    asm("mad.wide.s32 %0, %1, %2, %3;" : "=l"(d) : "r"(a), "r"(b), "l"(c));
    return d;
}

/* -(float)var_F: the score multiplies it by -(float)var_T, and one negation is saved. */
template <bool BIG>
__device__ __forceinline__ float tc_minus_var(unsigned s, unsigned ss, int n)
{
    if (BIG)
        return __ll2float_rn((int64_t)s * s - (int64_t)((uint64_t)ss * (unsigned)n));
    return __ll2float_rn(tc_mad(s, s, tc_mul(ss, -n)));
}

/* Sums of w columns, from c on, for 32 neighbouring outputs of one row. A is (w - 1) modulo the
 * columns of a 16-byte load. */
template <int A, bool NARROW>
__device__ __forceinline__ void tc_slide(unsigned (&out)[64], const uint4 *c, int w, tc_sum<true>)
{
    unsigned s = 0, sum = 0; // the word's upper part alone; whole words, modulo 2^32
    const uint4 *q = c + (w - 1) / 4;
    auto add = [&](unsigned v) { s += (int)v >> 19, sum += v; };
    uint4 first[6]; // w <= 25: loaded at once
    if (NARROW) {
#pragma unroll
        for (int e = 0; e < 6; e++)
            first[e] = c[e];
#pragma unroll
        for (int e = 0; e < 6; e++)
            if (c + e < q)
                add(first[e].x), add(first[e].y), add(first[e].z), add(first[e].w);
    } else
        for (const uint4 *e = c; e < q; e++)
            add(e->x), add(e->y), add(e->z), add(e->w);
    uint4 n = *q;
    unsigned v[8] = {n.x, n.y, n.z, n.w};
#pragma unroll
    for (int i = 0; i < A; i++)
        add(v[i]);
#pragma unroll
    for (int i = 0; i < 8; i++) {
        uint4 o = NARROW && i < 6 ? first[i < 6 ? i : 0] : c[i];
        unsigned z[4] = {o.x, o.y, o.z, o.w};
        if (A || i)
            n = q[i + !!A], v[4 * !!A] = n.x, v[4 * !!A + 1] = n.y, v[4 * !!A + 2] = n.z,
            v[4 * !!A + 3] = n.w;
#pragma unroll
        for (int e = 0; e < 4; e++) {
            add(v[A + e]);
            out[8 * i + 2 * e] = s, out[8 * i + 2 * e + 1] = sum - (s << 19);
            s -= (int)z[e] >> 19, sum -= z[e];
        }
        if (A)
            v[0] = n.x, v[1] = n.y, v[2] = n.z, v[3] = n.w;
    }
}

template <int A, bool NARROW>
__device__ __forceinline__ void tc_slide(unsigned (&out)[64], const uint4 *c, int w, tc_sum<false>)
{
    unsigned s = 0, ss = 0;
    const uint4 *q = c + (w - 1) / 2;
    for (const uint4 *e = c; e < q; e++)
        s += e->x + e->z, ss += e->y + e->w;
    uint4 n = *q;
    if (A)
        s += n.x, ss += n.y;
#pragma unroll
    for (int i = 0; i < 16; i++) {
        uint4 o = c[i], v = q[i + A];
        s += A ? n.z : v.x, ss += A ? n.w : v.y;
        out[4 * i] = s, out[4 * i + 1] = ss;
        s += (A ? v.x : v.z) - o.x, ss += (A ? v.y : v.w) - o.y;
        out[4 * i + 2] = s, out[4 * i + 3] = ss;
        s -= o.z, ss -= o.w;
        n = v;
    }
}

/* Window sums from column sums, in their place: win[row][x] = (S_F or S_G, -var_F as float), RAW:
 * (S_F or S_G, S_FF or S_GG). A thread slides along 32 outputs of one row; between() runs, with a
 * barrier of the block in it, after its reads and before its writes. The rows of each 8 lie in a
 * region of their own and belong to TC_THREADS * 8 / TH neighbouring threads. */
template <bool PACK, bool BIG, bool NARROW, bool RAW, typename F>
__device__ __forceinline__ void tc_window_sums(uint4 *sums, int w, int n, const tc_plan &p,
                                               F between)
{
    enum { GROUP = TC_THREADS * 8 / TH };
    int row = threadIdx.x % 8, part = threadIdx.x % GROUP / 8;
    sums += threadIdx.x / GROUP * tc_region(p);
    const uint4 *c = sums + row * p.sums_pitch + part * (PACK ? 8 : 16);
    unsigned out[64];
    if (PACK)
        switch (w - 1 & 3) {
        case 0:
            tc_slide<0, NARROW>(out, c, w, tc_sum<PACK>());
            break;
        case 1:
            tc_slide<1, NARROW>(out, c, w, tc_sum<PACK>());
            break;
        case 2:
            tc_slide<PACK ? 2 : 0, NARROW>(out, c, w, tc_sum<PACK>());
            break;
        case 3:
            tc_slide<PACK ? 3 : 0, NARROW>(out, c, w, tc_sum<PACK>());
            break;
        }
    else if (w - 1 & 1)
        tc_slide<1, NARROW>(out, c, w, tc_sum<PACK>());
    else
        tc_slide<0, NARROW>(out, c, w, tc_sum<PACK>());
    if (!RAW)
#pragma unroll
        for (int i = 0; i < 32; i++)
            out[2 * i + 1] = __float_as_uint(tc_minus_var<BIG>(out[2 * i], out[2 * i + 1], n));
    between();
    uint4 *d = sums + row * p.win_pitch + part * 16;
#pragma unroll
    for (int i = 0; i < 16; i++)
        d[i] = make_uint4(out[4 * i], out[4 * i + 1], out[4 * i + 2], out[4 * i + 3]);
}

/* SHIFT: the window sums are those of F - 128, raw, and S_FT is still that of F */
template <bool BIG, bool SHIFT>
__device__ __forceinline__ float tc_num(int s_ft, unsigned s_f, int n, int s_t)
{
    if (BIG)
        return __ll2float_rn((int64_t)((uint64_t)(unsigned)s_ft * (unsigned)n) -
                             (int64_t)s_f * s_t);
    return __ll2float_rn(tc_mad(s_f, -s_t, tc_mul(SHIFT ? s_ft - 128 * s_t : s_ft, n)));
}

/* num / sqrt(var_F * var_T), each operation rounded once. The root and the quotient are the
 * sequences that __fsqrt_rn and __fdiv_rn come to in the normal range, without their range checks:
 * 1 <= var_F * var_T < 2^93. A flat window has num = 0, and any finite divisor gives its 0. */
__device__ __forceinline__ float tc_score(float num, float minus_var_f, float minus_var_t)
{
    float p = fmaxf(__fmul_rn(minus_var_f, minus_var_t), 1.0f), r, d, y, q;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(p));
    d = __fmul_rn(p, r);
    d = __fmaf_rn(__fmaf_rn(-d, d, p), __fmul_rn(r, 0.5f), d);
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(d));
    y = __fmaf_rn(__fmaf_rn(-d, r, 1.0f), r, r);
    q = __fmul_rn(num, y);
    q = __fmaf_rn(__fmaf_rn(-d, q, num), y, q);
    q = __fmaf_rn(__fmaf_rn(-d, q, num), y, q);
    return fminf(fmaxf(q, -1.0f), 1.0f);
}

enum { TC_NO_MAP, TC_PAIRS, TC_SINGLES };

/* A warp's 8 rows x 128 columns from S_FT to scores, which replace it in acc; returns the greatest.
 * Lane l holds columns 2l, 2l+1, 64+2l, 64+2l+1. */
template <bool BIG, bool RAW>
__device__ __forceinline__ float tc_var(unsigned s, unsigned v, int n)
{
    return RAW ? tc_minus_var<BIG>(s, v, n) : __uint_as_float(v);
}

template <int STORE, bool EDGE, bool BIG, bool SHIFT>
__device__ __forceinline__ float tc_scores(int (&acc)[8][4], const uint4 *win, int pitch, int n,
                                           int s_t, float minus_var_t, float *map, int64_t out_w,
                                           int cols, int rows)
{
    float top = -2.0f;
#pragma unroll
    for (int i = 0; i < 8; i++) {
#pragma unroll
        for (int c = 0; c < 2; c++) {
            uint4 v = win[i * pitch + 32 * c];
            float a = tc_score(tc_num<BIG, SHIFT>(acc[i][2 * c], v.x, n, s_t),
                               tc_var<BIG, SHIFT>(v.x, v.y, n), minus_var_t);
            float b = tc_score(tc_num<BIG, SHIFT>(acc[i][2 * c + 1], v.z, n, s_t),
                               tc_var<BIG, SHIFT>(v.z, v.w, n), minus_var_t);
            bool in_a = !EDGE || (i < rows && 64 * c < cols),
                 in_b = !EDGE || (i < rows && 64 * c + 1 < cols);
            if (EDGE)
                a = in_a ? a : -2.0f, b = in_b ? b : -2.0f;
            if (STORE == TC_PAIRS && !EDGE)
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

/* Scores, map and the warp's best so far. Without a map, a window that cannot reach the best score
 * is not worth its division: score >= s > 0 needs num^2 >= s^2 var_F var_T, tested with a margin
 * far above the roundings. */
template <bool MAP, bool BIG, bool SHIFT>
__device__ __forceinline__ void tc_finish(int (&acc)[8][4], const uint4 *win, int pitch,
                                          const tm_tensor_job &j, tm_tensor_template t, int n,
                                          int k, int hint, tc_best *best, int64_t x, int64_t y)
{
    if (x >= j.map_width || y >= j.map_height)
        return; // beyond the edge, all of the warp
    int lane = threadIdx.x & 31, s_t = t.sum, seen = best->order;
    float minus_var_t = -t.variance;
    win += lane;
    if (!MAP) {
        float s = tm_score_of_order(max(hint, seen)), reach = 0.0f;
        if (s > 0) {
            float cut = s * s * (1 - 0x1p-18f) * -minus_var_t;
#pragma unroll
            for (int i = 0; i < 8; i++)
#pragma unroll
                for (int c = 0; c < 2; c++) {
                    uint4 v = win[i * pitch + 32 * c];
                    float a = tc_num<BIG, SHIFT>(acc[i][2 * c], v.x, n, s_t),
                          b = tc_num<BIG, SHIFT>(acc[i][2 * c + 1], v.z, n, s_t);
                    reach = fmaxf(reach, __fmaf_rn(a, a, tc_var<BIG, SHIFT>(v.x, v.y, n) * cut));
                    reach = fmaxf(reach, __fmaf_rn(b, b, tc_var<BIG, SHIFT>(v.z, v.w, n) * cut));
                }
            if (!__any_sync(~0u, reach > 0))
                return;
        }
    }
    int cols = (int)min((int64_t)128, j.map_width - x),
        rows = (int)min((int64_t)8, j.map_height - y);
    float *map = MAP ? j.map + ((size_t)k * j.map_height + y) * j.map_width + x + 2 * lane : 0, top;
    bool even = !(j.map_width & 1) && !((size_t)j.map & 7);
    /* Two forms alone: with a third, the compiler makes one loop of both full ones with a branch at
     * every pair, and no pair overlaps another. */
    if (cols < 128 || rows < 8 || (MAP && !even))
        top = tc_scores < MAP ? TC_SINGLES : TC_NO_MAP, true, BIG,
        SHIFT > (acc, win, pitch, n, s_t, minus_var_t, map, j.map_width, cols - 2 * lane, rows);
    else
        top = tc_scores < MAP ? TC_PAIRS : TC_NO_MAP, false, BIG,
        SHIFT > (acc, win, pitch, n, s_t, minus_var_t, map, j.map_width, 0, 0);

    /* Positions grow down a strip, so an equal score wins only where the block went on to the next
     * strip. */
    int order = __reduce_max_sync(~0u, tm_score_order(top));
    if (order < hint || order < seen || (order == seen && y * j.map_width + x > best->pos))
        return;
    float s = tm_score_of_order(order);
    if (s < -1.0f)
        return;
    unsigned at = ~0u;
#pragma unroll
    for (int i = 7; i >= 0; i--)
#pragma unroll
        for (int c = 3; c >= 0; c--)
            if (__int_as_float(acc[i][c]) == s)
                at = 128 * i + 64 * (c >> 1) + 2 * lane + (c & 1);
    at = __reduce_min_sync(~0u, at);
    if (lane)
        return;
    int64_t pos = (y + (at >> 7)) * j.map_width + x + (at & 127);
    if (order == seen && best->pos < pos)
        return;
    best->order = order;
    best->pos = pos;
    atomicMax(j.hints + k, order);
}

/* The block's best of each template; the last block to come by makes the launch's. */
__device__ __forceinline__ bool tc_above(int64_t ao, int64_t ap, int64_t bo, int64_t bp)
{
    return ao > bo || (ao == bo && ap < bp);
}

__device__ __forceinline__ void tc_peaks(const tm_tensor_job &j, const tc_best *best)
{
    __shared__ int last;
    __syncthreads();
    for (int k = threadIdx.x; k < j.count; k += TC_THREADS) {
        tc_best b = best[k];
        for (int i = 1; i < TC_THREADS / 32; i++) {
            tc_best o = best[i * j.count + k];
            if (tc_above(o.order, o.pos, b.order, b.pos))
                b = o;
        }
        tm_candidate r = {b.order, b.pos};
        j.blocks[(size_t)k * gridDim.x + blockIdx.x] = r;
    }
    __threadfence();
    __syncthreads();
    if (!threadIdx.x)
        last = atomicAdd(j.counter, 1) == (int)gridDim.x - 1;
    __syncthreads();
    if (!last)
        return;
    __threadfence();
    for (int k = threadIdx.x / 32; k < j.count; k += TC_THREADS / 32) {
        int64_t order = INT64_MIN, pos = 0;
        for (int i = threadIdx.x & 31; i < gridDim.x; i += 32) {
            tm_candidate o = j.blocks[(size_t)k * gridDim.x + i];
            if (tc_above(o.value, o.position, order, pos))
                order = o.value, pos = o.position;
        }
        for (int d = 16; d; d /= 2) {
            int64_t o = __shfl_xor_sync(~0u, order, d), q = __shfl_xor_sync(~0u, pos, d);
            if (tc_above(o, q, order, pos))
                order = o, pos = q;
        }
        if (!(threadIdx.x & 31)) {
            tm_candidate r = {order, pos};
            j.best[k] = r;
            j.hints[k] = INT_MIN;
        }
    }
    if (!threadIdx.x)
        *j.counter = 0;
}
#endif
#endif

#endif
