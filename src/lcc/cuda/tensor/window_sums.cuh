/* SPDX-License-Identifier: MIT */
/* S_F and S_FF of a tile's windows, for mma.cu. First the sums over h rows of each column: a thread
 * goes down some columns, adds the row that enters and takes away the one that leaves. Then the
 * sums over w columns: a thread goes along a row likewise. */
#ifndef TMATCH_LCC_CUDA_TENSOR_WINDOW_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_WINDOW_SUMS_CUH
#include "lcc/cuda/tensor/epilogue.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800

/* One column's sums over h rows. Up to 31 rows, those of G = F - 128 fit in one word together:
 * 2^19 S_G + S_GG, with S_GG < 2^19. The variance of G is that of F, and
 * n S_FT - S_F S_T = n (S_FT - 128 S_T) - S_G S_T. replace(x, z): x enters and z leaves. */
template <bool PACK>
struct tm_mma_column;

template <>
struct tm_mma_column<true> {
    unsigned v;
    __device__ void zero()
    {
        v = 0;
    }
    __device__ void add(unsigned x)
    {
        replace(x, 128);
    }
    __device__ void replace(unsigned x, unsigned z)
    {
        v += (x - z) * (x + z + ((1u << 19) - 256));
    }
};

template <>
struct tm_mma_column<false> {
    unsigned s, ss;
    __device__ void zero()
    {
        s = ss = 0;
    }
    __device__ void add(unsigned x)
    {
        s += x, ss += x * x;
    }
    __device__ void replace(unsigned x, unsigned z)
    {
        s += x - z, ss += (x - z) * (x + z);
    }
};

__device__ __forceinline__ void tm_mma_put(uint4 *a, uint4 *, const tm_mma_column<true> (&s)[4])
{
    *a = make_uint4(s[0].v, s[1].v, s[2].v, s[3].v);
}

__device__ __forceinline__ void tm_mma_put(uint4 *a, uint4 *b, const tm_mma_column<false> (&s)[4])
{
    *a = make_uint4(s[0].s, s[0].ss, s[1].s, s[1].ss);
    *b = make_uint4(s[2].s, s[2].ss, s[3].s, s[3].ss);
}

__device__ __forceinline__ void tm_mma_get(tm_mma_column<true> (&s)[4], const uint4 *a,
                                           const uint4 *)
{
    uint4 u = *a;
    s[0].v = u.x, s[1].v = u.y, s[2].v = u.z, s[3].v = u.w;
}

__device__ __forceinline__ void tm_mma_get(tm_mma_column<false> (&s)[4], const uint4 *a,
                                           const uint4 *b)
{
    uint4 u = *a, v = *b;
    s[0].s = u.x, s[0].ss = u.y, s[1].s = u.z, s[1].ss = u.w;
    s[2].s = v.x, s[2].ss = v.y, s[3].s = v.z, s[3].ss = v.w;
}

/* The column sums of each 8 rows, and later their window sums, have a region of shared memory:
 * its size in uint4. */
__device__ __forceinline__ int tm_mma_region(const tm_tensor_plan &p)
{
    return 8 * max(p.sums_pitch, p.win_pitch);
}

/* A barrier of the threads that share 8 rows of a tile of 16. */
__device__ __forceinline__ void tm_mma_group_barrier()
{
    if (threadIdx.x < TM_TENSOR_THREADS / 2)
        asm volatile("bar.sync 1, %0;" ::"n"(TM_TENSOR_THREADS / 2) : "memory");
    else
        asm volatile("bar.sync 2, %0;" ::"n"(TM_TENSOR_THREADS / 2) : "memory");
}

/* The column sums of all rows of a tile. state carries the last ones to the tile below, of the same
 * block; fresh: there is none above. */
template <bool PACK>
__device__ __forceinline__ void tm_mma_column_sums(const uint8_t *tile, uint4 *sums, uint4 *state,
                                                   int h, const tm_tensor_plan &p, bool fresh)
{
    for (int c = threadIdx.x; c < p.words; c += TM_TENSOR_THREADS) {
        const uint8_t *top = tile + 4 * c, *bottom = top + (h - 1) * p.row_bytes;
        /* Unpacked, lanes 4..7 of each 8 take the word's halves in the other order: with 32 bytes
         * a lane, their 16-byte stores would meet those of lanes 0..3 in the same banks. */
        int swap = PACK ? 0 : c >> 2 & 1, each = PACK ? 1 : 2;
        unsigned sel[4];
        tm_mma_column<PACK> s[4];
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
            tm_mma_get(s, sa, sb);
        /* Rows are loaded 4 ahead of their use: the compiler would not move a load before the
         * stores. */
        unsigned in[2][4], out[2][4];
        auto load = [&](int y) {
#pragma unroll
            for (int i = 0; i < 4; i++, top += p.row_bytes, bottom += p.row_bytes)
                out[y / 4 & 1][i] = *(const unsigned *)top,
                            in[y / 4 & 1][i] = *(const unsigned *)bottom;
        };
        load(0);
#pragma unroll
        for (int y = 0; y < TILE_HEIGHT; y++) {
            unsigned v = in[y / 4 & 1][y & 3], o = y ? out[(y - 1) / 4 & 1][(y - 1) & 3] : 0;
            if (y % 4 == 0 && y + 4 < TILE_HEIGHT)
                load(y + 4);
#pragma unroll
            for (int i = 0; i < 4; i++)
                if (y)
                    s[i].replace(__byte_perm(v, 0, sel[i]), __byte_perm(o, 0, sel[i]));
                else
                    s[i].add(__byte_perm(v, 0, sel[i]));
            tm_mma_put(a, b, s);
            int step = (y + 1) & 7 ? p.sums_pitch : tm_mma_region(p) - 7 * p.sums_pitch;
            a += step, b += step;
        }
#pragma unroll
        for (int i = 0; i < 4; i++)
            s[i].replace(PACK ? 128 : 0, __byte_perm(out[(TILE_HEIGHT - 1) / 4 & 1][3], 0, sel[i]));
        tm_mma_put(sa, sb, s);
    }
}

/* Sums of w columns, from c on, for 32 neighbouring windows of one row: S_G and S_GG, or S_F and
 * S_FF, of each. A is (w - 1) modulo the columns of a 16-byte load. */
template <int A, bool NARROW>
__device__ __forceinline__ void tm_mma_sum_columns(unsigned (&out)[64], const uint4 *c, int w,
                                                   tm_mma_column<true>)
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
__device__ __forceinline__ void tm_mma_sum_columns(unsigned (&out)[64], const uint4 *c, int w,
                                                   tm_mma_column<false>)
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

/* Replaces column sums by window sums, of which there are two words: S_F or S_G, and -var_F as
 * float. A thread makes 32 neighbouring windows of one row. Each 8 rows have a region of their own
 * and TM_TENSOR_THREADS * 8 / TILE_HEIGHT neighbouring threads. */
template <bool PACK, bool BIG, bool NARROW>
__device__ __forceinline__ void tm_mma_window_sums(uint4 *sums, int w, int n,
                                                   const tm_tensor_plan &p)
{
    enum { GROUP = TM_TENSOR_THREADS * 8 / TILE_HEIGHT };
    int row = threadIdx.x % 8, part = threadIdx.x % GROUP / 8;
    sums += threadIdx.x / GROUP * tm_mma_region(p);
    const uint4 *c = sums + row * p.sums_pitch + part * (PACK ? 8 : 16);
    unsigned out[64];
    if (PACK)
        switch (w - 1 & 3) {
        case 0:
            tm_mma_sum_columns<0, NARROW>(out, c, w, tm_mma_column<PACK>());
            break;
        case 1:
            tm_mma_sum_columns<1, NARROW>(out, c, w, tm_mma_column<PACK>());
            break;
        case 2:
            tm_mma_sum_columns<PACK ? 2 : 0, NARROW>(out, c, w, tm_mma_column<PACK>());
            break;
        case 3:
            tm_mma_sum_columns<PACK ? 3 : 0, NARROW>(out, c, w, tm_mma_column<PACK>());
            break;
        }
    else if (w - 1 & 1)
        tm_mma_sum_columns<1, NARROW>(out, c, w, tm_mma_column<PACK>());
    else
        tm_mma_sum_columns<0, NARROW>(out, c, w, tm_mma_column<PACK>());
#pragma unroll
    for (int i = 0; i < 32; i++)
        out[2 * i + 1] = __float_as_uint(tm_tensor_minus_var<BIG>(out[2 * i], out[2 * i + 1], n));
    tm_mma_group_barrier(); // all column sums have been read
    uint4 *d = sums + row * p.win_pitch + part * 16;
#pragma unroll
    for (int i = 0; i < 16; i++)
        d[i] = make_uint4(out[4 * i], out[4 * i + 1], out[4 * i + 2], out[4 * i + 3]);
}
#endif

#endif
