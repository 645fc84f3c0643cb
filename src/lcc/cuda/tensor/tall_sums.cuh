/* SPDX-License-Identifier: MIT */
/* For wgmma_tall.cu: window sums without tensor cores, of 4 rows of a tile at a time by each of 8 warps. A lane has 8 columns of
 * two of the rows: lanes 0 to 15 of the first two.
 *
 * A row's sums are those of the row above and what the frame row that enters has more than the one that leaves. That is
 * summed over blocks of 8 columns, over as many blocks as the template has by doubling, and then moved along by one column at a
 * time; the rows above come from the warp that has the group above. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_SUMS_CUH
#include "lcc/cuda/tensor/tall_block.cuh"

/* What a thread has of a frame row: its 8 columns, those 128 columns on, and the 16 that begin with the block of 8 in which the
 * columns behind its windows begin. */
struct tm_tall_line {
    uint2 own, beyond, at, next;
};

/* Less the sum of a word's bytes. */
__device__ __forceinline__ unsigned tm_tall_less(unsigned word, unsigned sum)
{
    asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(sum) : "r"(word), "r"(~0u));
    return sum;
}

/* The products of bytes, added up. */
__device__ __forceinline__ unsigned tm_tall_dot(uint2 u, uint2 v, unsigned sum = 0)
{
    return __dp4a(u.y, v.y, __dp4a(u.x, v.x, sum));
}

__device__ __forceinline__ uint2 tm_tall_and(uint2 u, uint2 v)
{
    return make_uint2(u.x & v.x, u.y & v.y);
}

/* Bytes of a frame row that a tile's windows have. */
__device__ __forceinline__ int tm_tall_row_bytes(int w)
{
    return (TILE_WIDTH - 1 + w + 15) / 16 * 16;
}

/* S_F and S_FF, or what they grow by, of a thread's windows: 8 columns of two rows. */
struct tm_tall_windows {
    unsigned f[2][8], ff[2][8];
};

template <int STEPS, bool ODD>
struct tm_tall_sum_maker {
    const tm_tall_block<STEPS, ODD> &b;
    const int part, half, i, blocks, rest; // the warp, its two rows, the block of 8 columns; the template's width in such blocks
    const int last;                        // row of the frame
    const bool has_beyond, has_next;
    const uint2 ones; // bytes of 1 for the template's last columns, fewer than 8
    const uint8_t *own, *behind; // columns of the frame
    tm_tall_line enters[2] = {}, leaves[2] = {};
    int round = 0;

    __device__ __forceinline__ tm_tall_sum_maker(const tm_tall_block<STEPS, ODD> &block, int warp)
        : b(block), part(warp), half(threadIdx.x % 32 / 16), i(threadIdx.x % 16), blocks(b.j.width / 8), rest(b.j.width % 8),
          last((int)(b.j.map_height + b.j.height - 2)), has_beyond(128 + 8 * i < tm_tall_row_bytes(b.j.width)),
          has_next(rest && 8 * (i + blocks) + 8 < tm_tall_row_bytes(b.j.width)),
          ones(make_uint2(0x01010101u & (rest < 4 ? ~(~0u << 8 * rest) : ~0u),
                          rest > 4 ? 0x01010101u & ~(~0u << 8 * (rest - 4)) : 0))
    {
    }

    /* Groups of rows above a column of tiles, whose pixels its first windows have too. */
    __device__ __forceinline__ int ahead() const
    {
        const int groups = (b.j.height - 1 + TM_TALL_GROUP_ROWS - 1) / TM_TALL_GROUP_ROWS;
        return (groups + TM_TALL_SUM_WARPS - 1) / TM_TALL_SUM_WARPS * TM_TALL_SUM_WARPS;
    }

    __device__ __forceinline__ const uint2 *address(const uint8_t *column, int row) const
    {
        uint64_t at;
        asm("mad.wide.u32 %0, %1, %2, %3;" : "=l"(at) : "r"(min(row, last)), "r"((unsigned)b.j.pitch), "l"(column));
        return (const uint2 *)at;
    }

    __device__ __forceinline__ void load(tm_tall_line &l, int row) const
    {
        const uint2 *const from = address(own, row), *const from_behind = address(behind, row);
        l.own = __ldg(from);
        if (has_beyond)
            l.beyond = __ldg(from + 16);
        l.at = __ldg(from_behind);
        if (has_next)
            l.next = __ldg(from_behind + 1);
    }

    /* Loads what group g of the tiles from row y on takes. */
    __device__ __forceinline__ void load_lines(int y, int g)
    {
        const int r = y + TM_TALL_GROUP_ROWS * g + 2 * half, h = b.j.height;
        if (g > 0) {
#pragma unroll
            for (int a = 0; a < 2; a++) {
                load(enters[a], r + a + h - 1);
                load(leaves[a], r + a - 1);
            }
        } else { // above the column of tiles nothing enters, and nothing leaves its first row
#pragma unroll
            for (int a = 0; a < 2; a++) {
                enters[a] = leaves[a] = {};
                if (r + a + h - 1 >= y)
                    load(enters[a], r + a + h - 1);
                if (r + a > y)
                    load(leaves[a], r + a - 1);
            }
        }
    }

    /* What the sums of the first of a thread's 8 windows grow by, over whole blocks: S_F of both rows, in 16 bits each, S_FF of the
     * first row, and of the second. */
    __device__ __forceinline__ void grow(unsigned (&first)[3]) const
    {
        unsigned of_own[3] = {}, of_beyond[3] = {};
#pragma unroll
        for (int a = 0; a < 2; a++) {
            const uint2 all = make_uint2(0x01010101u, 0x01010101u);
            auto sum = [all](uint2 enter, uint2 leave) {
                return tm_tall_less(leave.y, tm_tall_less(leave.x, tm_tall_dot(enter, all)));
            };
            of_own[0] += sum(enters[a].own, leaves[a].own) << 16 * a;
            of_beyond[0] += sum(enters[a].beyond, leaves[a].beyond) << 16 * a;
            of_own[1 + a] = tm_tall_dot(enters[a].own, enters[a].own) - tm_tall_dot(leaves[a].own, leaves[a].own);
            of_beyond[1 + a] = tm_tall_dot(enters[a].beyond, enters[a].beyond) - tm_tall_dot(leaves[a].beyond, leaves[a].beyond);
        }
        auto blocks_on = [&](int v, int d) { return __shfl_sync(~0u, i >= d ? of_own[v] : of_beyond[v], (i + d) % 16, 16); };
        int done = 0;
#pragma unroll
        for (int v = 0; v < 3; v++)
            first[v] = 0;
#pragma unroll
        for (int d = 1; d <= 8; d *= 2) { // of_own and of_beyond are of d blocks
            if (blocks & d) {
#pragma unroll
                for (int v = 0; v < 3; v++)
                    first[v] += done ? blocks_on(v, done) : of_own[v];
                done += d;
            }
            if (d < 8 && blocks >= 2 * d)
#pragma unroll
                for (int v = 0; v < 3; v++) {
                    of_own[v] += blocks_on(v, d);
                    of_beyond[v] += __shfl_down_sync(~0u, of_beyond[v], d, 16);
                }
        }
    }

    /* The 8 bytes of a line that begin behind a thread's first window. */
    __device__ __forceinline__ uint2 behind_first(const tm_tall_line &l) const
    {
        if (!rest)
            return l.at;
        const bool far = rest >= 4;
        const unsigned u = far ? l.at.y : l.at.x, v = far ? l.next.x : l.at.y, w = far ? l.next.y : l.next.x;
        return make_uint2(__funnelshift_r(u, v, 8 * (rest & 3)), __funnelshift_r(v, w, 8 * (rest & 3)));
    }

    /* From the first window's, over whole blocks, to those of 8 windows of row a. */
    __device__ __forceinline__ void move_along(tm_tall_windows &s, int a, unsigned f, unsigned ff) const
    {
        const tm_tall_line &enter = enters[a], &leave = leaves[a];
        if (rest) {
            const uint2 bytes = make_uint2(255 * ones.x, 255 * ones.y);
            f = tm_tall_dot(enter.at, ones, f) - tm_tall_dot(leave.at, ones);
            ff = tm_tall_dot(enter.at, tm_tall_and(enter.at, bytes), ff) - tm_tall_dot(leave.at, tm_tall_and(leave.at, bytes));
        }
        const uint2 enter_behind = behind_first(enter), leave_behind = behind_first(leave);
        s.f[a][0] = f, s.ff[a][0] = ff;
#pragma unroll
        for (int k = 0; k < 8; k += 2) { // two windows on, by two columns before them and two behind
            const unsigned select = k % 4 | (k % 4 + 1) << 4 | (4 + k % 4) << 8 | (5 + k % 4) << 12;
            const unsigned more = __byte_perm(k < 4 ? enter_behind.x : enter_behind.y, k < 4 ? leave.own.x : leave.own.y, select),
                           less = __byte_perm(k < 4 ? leave_behind.x : leave_behind.y, k < 4 ? enter.own.x : enter.own.y, select);
            s.f[a][k + 1] = tm_tall_less(less & 0x00FF00FF, __dp4a(more, 0x00010001u, f));
            s.ff[a][k + 1] = __dp4a(more, more & 0x00FF00FF, ff) - __dp4a(less, less & 0x00FF00FF, 0u);
            if (k + 2 < 8) {
                f = s.f[a][k + 2] = tm_tall_less(less, __dp4a(more, 0x01010101u, f));
                ff = s.ff[a][k + 2] = __dp4a(more, more, ff) - __dp4a(less, less, 0u);
            }
        }
    }

    /* What the sums of a thread's windows grow by from the row above. */
    __device__ __forceinline__ void grow_all(tm_tall_windows &s) const
    {
        unsigned first[3];
        grow(first);
        const int low = (short)first[0];
        move_along(s, 0, (unsigned)low, first[1]);
        move_along(s, 1, (unsigned)((int)(first[0] - (unsigned)low) >> 16), first[2]);
    }

    /* Adds the sums of the row above the group, which is a column's first one or not, and passes on those of its last row. */
    __device__ __forceinline__ void add_rows_above(tm_tall_windows &s, bool first)
    {
        const unsigned from = b.chain((part + 1) % 2) + 8 * i, to = b.chain(part % 2) + 8 * i;
        uint2 above[8], upper[8]; // upper: what the group's first two rows add
#pragma unroll
        for (int k = 0; k < 8; k++) {
            s.f[1][k] += s.f[0][k], s.ff[1][k] += s.ff[0][k];
            upper[k] = make_uint2(__shfl_sync(~0u, s.f[1][k], i), __shfl_sync(~0u, s.ff[1][k], i));
        }
        const int warp_above = (part + TM_TALL_SUM_WARPS - 1) % TM_TALL_SUM_WARPS;
        if (round || part)
            tm_barrier_wait(b.barrier(TM_TALL_CHAINED + warp_above), part ? round : round - 1);
#pragma unroll
        for (int k = 0; k < 8; k++)
            above[k] = tm_load8(from + 128 * k);
#pragma unroll
        for (int k = 0; k < 8; k++) {
            if (first)
                above[k] = make_uint2(0, 0);
            if (half)
                above[k].x += upper[k].x, above[k].y += upper[k].y;
            s.f[1][k] += above[k].x, s.ff[1][k] += above[k].y;
            if (half)
                tm_store8(to + 128 * k, make_uint2(s.f[1][k], s.ff[1][k]));
        }
        tm_barrier_arrive(b.barrier(TM_TALL_CHAINED + part));
        round++;
#pragma unroll
        for (int k = 0; k < 8; k++)
            s.f[0][k] += above[k].x, s.ff[0][k] += above[k].y;
    }

    /* Makes the windows beyond the map, of which left columns and below rows lie in it, such that none is a best one: with the
     * greatest S_F, n S_FT is no more than S_F S_T, and var_F = 2^14 n^2 is greater than any. */
    __device__ __forceinline__ void leave_out(tm_tall_windows &s, int64_t left, int64_t below) const
    {
        const unsigned n = b.j.width * b.j.height, f = 255 * n, ff = 255 * f + (n << 14);
#pragma unroll
        for (int a = 0; a < 2; a++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                if (k >= left || a >= below)
                    s.f[a][k] = f, s.ff[a][k] = ff;
    }

    /* Writes the sums of a tile's group to the warp's slot. */
    __device__ __forceinline__ void put(const tm_tall_windows &s, int tile, int turn) const
    {
        const unsigned to = b.slot(part) + 2 * half * TM_TALL_SLOT_ROW + 8 * i;
        const int before = tile * TM_TALL_TURNS + turn - 1, of = before / TM_TALL_TURNS; // the last use, and its tile
        if (before >= 0)
            tm_barrier_wait(b.barrier(TM_TALL_FREE + of % 2 * TM_TALL_SUM_WARPS + part),
                            of / 2 * TM_TALL_TURNS + before % TM_TALL_TURNS);
#pragma unroll
        for (int a = 0; a < 2; a++)
#pragma unroll
            for (int k = 0; k < 8; k++)
                tm_store8(to + a * TM_TALL_SLOT_ROW + k * TM_TALL_ELEMENT, make_uint2(s.f[a][k], s.ff[a][k]));
        tm_barrier_arrive(b.barrier(TM_TALL_FULL + tile % 2 * TM_TALL_SUM_WARPS + part));
    }

    /* The sums of tiles [n, end), which lie one below another. was_read(tile) is called once the first slot with a tile's sums was
     * read, and at the next group's begin works what at_begin does. */
    template <typename B, typename R>
    __device__ __forceinline__ void make(int n, int end, B at_begin, R was_read)
    {
        const int64_t x = b.x(n), y = b.y(n);
        own = b.j.frame + x + 8 * i;
        behind = own + 8 * blocks;
        const int from = part - ahead();
        load_lines((int)y, from);
#pragma unroll 1
        for (int g = from; g < TM_TALL_GROUPS * (end - n); g += TM_TALL_SUM_WARPS) {
            tm_tall_windows s;
            at_begin();
            grow_all(s);
            load_lines((int)y, g + TM_TALL_SUM_WARPS);
            add_rows_above(s, g == -ahead());
            if (g < 0)
                continue;
            const int tile = n + g / TM_TALL_GROUPS, turn = g % TM_TALL_GROUPS / TM_TALL_SUM_WARPS;
            const int64_t left = b.j.map_width - x - 8 * i, below = b.j.map_height - y - TM_TALL_GROUP_ROWS * g - 2 * half;
            if (__any_sync(~0u, left < 8 || below < 2))
                leave_out(s, left, below);
            put(s, tile, turn);
            if (turn == 1)
                was_read(tile);
        }
    }
};

#endif
