/* SPDX-License-Identifier: MIT */
/* For wgmma_bound.cu: limits, of which bound_score.cuh says what they are. */
#ifndef TMATCH_LCC_CUDA_TENSOR_BOUND_LIMITS_CUH
#define TMATCH_LCC_CUDA_TENSOR_BOUND_LIMITS_CUH
#include "lcc/cuda/tensor/bound_block.cuh"
#include "lcc/cuda/tensor/bound_score.cuh"

/* A lane keeps the roots of its cells' V in a step: for 4 pairs of rows, of 4 cells' columns. */
struct tm_bound_roots {
    float of[4][4];
};

/* Sums of a lane's 8 columns over a core's rows, in bins of 2 columns: of two bins each, and of the first of these. */
struct tm_bound_columns {
    unsigned squares[2], first_squares[2], left[2], first_left[2]; // left: those of rows that have left
    int sums[2], first_sums[2];

    /* bias: taken off the squares of each bin. */
    __device__ __forceinline__ void clear(int bias)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            squares[i] = -2 * bias, first_squares[i] = -bias;
            left[i] = first_left[i] = 0;
            sums[i] = first_sums[i] = 0;
        }
    }

    __device__ __forceinline__ void enter(uint2 row)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned v = i ? row.y : row.x;
            squares[i] = __dp4a(v, v, squares[i]), first_squares[i] = __dp4a(v & 0xffff, v, first_squares[i]);
            sums[i] = tm_bound_add(v, 0x01010101, sums[i]), first_sums[i] = tm_bound_add(v, 0x0101, first_sums[i]);
        }
    }

    __device__ __forceinline__ void leave(uint2 row)
    {
#pragma unroll
        for (int i = 0; i < 2; i++) {
            const unsigned v = i ? row.y : row.x;
            left[i] = __dp4a(v, v, left[i]), first_left[i] = __dp4a(v & 0xffff, v, first_left[i]);
            sums[i] = tm_bound_add(v, -1, sums[i]), first_sums[i] = tm_bound_add(v, 0xffff, first_sums[i]);
        }
    }
};

__device__ __forceinline__ void tm_bound_store(unsigned address, int v)
{
    asm volatile("{.reg .b16 low, high; mov.b32 {low, high}, %1; st.shared.u16 [%0], low;}" ::"r"(address), "r"(v) : "memory");
}

/* A warp's part of the limits: USEFUL units of 8 columns, a lane each; the other lanes have what their cores need of the next ones. BINS: of
 * the core; 0: the core is that of a mask. */
template <int BINS>
struct tm_bound_summer {
    enum { USEFUL = 32 - ((BINS ? BINS : TM_BOUND_MOST_BINS) + 2) / 4 };
    static_assert(USEFUL * TM_BOUND_SUM_WARPS > 2 * TM_BOUND_UNITS - 2, "each unit has a lane, as has the one behind the last");
    const tm_bound_block &b;
    const tm_bound_core core;
    const int unit;
    const unsigned column;        // of the lane's pixels, from a row's address on
    const bool has_unit, is_next; // whether the lane stores its unit's limits, and the last ones of the unit before
    const float minus_of_n;
    unsigned to, to_before;

    __device__ __forceinline__ tm_bound_summer(const tm_bound_block &b, int warp)
        : b(b), core(BINS ? tm_bound_core_of(BINS, b.j.width, b.j.height) : *b.masked_core()), unit(USEFUL * warp + (int)threadIdx.x % 32),
          column(column_of(unit)),
          has_unit((int)threadIdx.x % 32 < USEFUL && unit < 2 * TM_BOUND_UNITS - 2),
          is_next((int)threadIdx.x % 32 < USEFUL && unit && unit < 2 * TM_BOUND_UNITS - 1), minus_of_n(-1.0f / (2 * core.bins * core.rows))
    {
        to = b.limits + place(unit);
        to_before = b.limits + 4 * TM_BOUND_PLANE + place(unit - 1);
    }

    /* The even units have the pixels of all but the last one, which is the last odd one's second half. What is behind it is of no use. */
    static __device__ __forceinline__ unsigned column_of(int unit)
    {
        return unit < 2 * TM_BOUND_UNITS ? 8 * unit : 2 * TM_BOUND_ODD - 8;
    }

    /* Where a unit's limit stands in a plane. Column 8i + 2t + e of B is unit 2 (8i + 2t + e), or for i >= 8 an odd one; a lane that multiplies has
     * e = 0 and 1 in a word. */
    static __device__ __forceinline__ unsigned place(int unit)
    {
        return (unit / 16 * 2 + unit % 2) * 16 + unit / 4 % 4 * 4 + unit / 2 % 2 * 2;
    }

    /* Sums the rows of the first cores of a column of tiles. */
    __device__ __forceinline__ void begin(tm_bound_columns &columns) const
    {
        columns.clear(core.taken_off);
#pragma unroll 4
        for (int r = core.row; r < core.row + core.rows; r++)
            columns.enter(tm_load8(b.ring.row(r) + column));
    }

    /* Makes the roots of a step. */
    __device__ __forceinline__ void make_roots(tm_bound_columns &columns, tm_bound_roots &roots) const
    {
        typedef tm_ring_pair_of<TM_BOUND_ROW> ring_pair;
        const ring_pair rows(b.ring, core.row + core.rows);
#pragma unroll
        for (int pair = 0; pair < 4; pair++) {
            uint2 in[2], out[2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                const int row = core.row + 2 * pair + i;
                in[i] = tm_load8(rows.entering(2 * pair + i) + column);
                out[i] = tm_load8((BINS && row < 8 ? rows.leaving(row) : b.ring.row(row)) + column);
            }
            int squares[4], sums[4];
            const int of_squares[2] = {(int)(columns.squares[0] - columns.left[0]), (int)(columns.squares[1] - columns.left[1])};
            const int of_firsts[2] = {(int)(columns.first_squares[0] - columns.first_left[0]),
                                      (int)(columns.first_squares[1] - columns.first_left[1])};
            tm_bound_across(core.bins, squares, of_squares, of_firsts);
            tm_bound_across(core.bins, sums, columns.sums, columns.first_sums);
#pragma unroll
            for (int i = 0; i < 2; i++)
                columns.enter(in[i]), columns.leave(out[i]);
#pragma unroll
            for (int i = 0; i < 4; i++) {
                const float s = (float)sums[i];
                roots.of[pair][i] = tm_bound_root(__fmaf_rn(s * minus_of_n, s, (float)squares[i]));
            }
        }
    }

    /* Stores the limits of a step. */
    __device__ __forceinline__ void store(const tm_bound_roots &roots, int step, const tm_bound_score &score) const
    {
        if (BINS)
            store_here(roots, step, score);
        else
            store_there(roots, step, score);
    }

    /* Where each core begins in its own cell. */
    __device__ __forceinline__ void store_here(const tm_bound_roots &roots, int step, const tm_bound_score &score) const
    {
        const unsigned turn = step % 2 * TM_BOUND_LIMITS;
#pragma unroll
        for (int pair = 0; pair < 4; pair++) {
            const int64_t left = b.y() + 2 * pair < b.j.map_height ? b.j.map_width - b.x() - 8 * unit : -1;
            const unsigned at = turn + pair * TM_BOUND_LIMITS_ROW;
            if (has_unit) {
#pragma unroll
                for (int i = 0; i < 4; i++)
                    tm_bound_store(to + at + i * TM_BOUND_PLANE, score.addend(roots.of[pair][i], left > 0));
            }
            if (is_next)
                tm_bound_store(to_before + at, score.addend(roots.of[pair][0], left >= 0)); // its last window is the column before
        }
    }

    /* Where that is some cells before. */
    __device__ __forceinline__ void store_there(const tm_bound_roots &roots, int step, const tm_bound_score &score) const
    {
        if ((int)threadIdx.x % 32 >= USEFUL)
            return;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const int cell = 4 * unit + i - core.bin, of = cell >> 2;
            if (cell < 0 || of > 2 * TM_BOUND_UNITS - 2)
                continue;
            const bool is_first = cell % 4 == 0;
            const unsigned to = b.limits + step % 2 * TM_BOUND_LIMITS + cell % 4 * TM_BOUND_PLANE + place(of),
                           to_before = b.limits + step % 2 * TM_BOUND_LIMITS + 4 * TM_BOUND_PLANE + place(of - 1);
#pragma unroll
            for (int pair = 0; pair < 4; pair++) {
                const int64_t left = b.y() + 2 * pair < b.j.map_height ? b.j.map_width - b.x() - 8 * of : -1;
                if (of < 2 * TM_BOUND_UNITS - 2)
                    tm_bound_store(to + pair * TM_BOUND_LIMITS_ROW, score.addend(roots.of[pair][i], left > 0));
                if (is_first && of)
                    tm_bound_store(to_before + pair * TM_BOUND_LIMITS_ROW, score.addend(roots.of[pair][i], left >= 0));
            }
        }
    }
};

#endif
