/* SPDX-License-Identifier: MIT */
/* S_F and S_FF of a tile's windows: column sums, slid down, then sums of w columns, slid across. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WINDOWS_CUH
#define TMATCH_LCC_CUDA_TENSOR_WINDOWS_CUH
#include "lcc/cuda/tensor/epilogue.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

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

/* Column sums over h rows, slid down the tile; state carries them to the tile below. */
template <bool PACK>
__device__ __forceinline__ void tc_column_sums(const uint8_t *tile, uint4 *sums, uint4 *state,
                                               int h, const tc_plan &p, bool fresh)
{
    for (int c = threadIdx.x; c < p.words; c += TC_THREADS) {
        const uint8_t *top = tile + 4 * c, *bottom = top + (h - 1) * p.row_bytes;
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

/* Window sums from column sums, in their place: win[row][x] = (S_F or S_G, -var_F as float). A
 * thread slides along 32 outputs of one row. The rows of each 8 lie in a region of their own and
 * belong to TC_THREADS * 8 / TH neighbouring threads. */
template <bool PACK, bool BIG, bool NARROW>
__device__ __forceinline__ void tc_window_sums(uint4 *sums, int w, int n, const tc_plan &p)
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
#pragma unroll
    for (int i = 0; i < 32; i++)
        out[2 * i + 1] = __float_as_uint(tc_minus_var<BIG>(out[2 * i], out[2 * i + 1], n));
    tc_group_barrier(); // the columns' sums have been read
    uint4 *d = sums + row * p.win_pitch + part * 16;
#pragma unroll
    for (int i = 0; i < 16; i++)
        d[i] = make_uint4(out[4 * i], out[4 * i + 1], out[4 * i + 2], out[4 * i + 3]);
}
#endif

#endif
