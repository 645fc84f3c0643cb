/* SPDX-License-Identifier: MIT */
/* For wgmma_wide_roles.cu: window sums without tensor cores, from prefix sums of column sums. */
#ifndef TMATCH_LCC_CUDA_TENSOR_ROLES_SUMS_CUH
#define TMATCH_LCC_CUDA_TENSOR_ROLES_SUMS_CUH
#include "lcc/cuda/tensor/roles_block.cuh"

/* Sums over h rows of a thread's columns: of its first column, of the first two, and so on. S_FF = entered - left. */
struct tm_roles_column_sums {
    int f[TM_ROLES_EACH];
    unsigned entered[TM_ROLES_EACH], left[TM_ROLES_EACH];

    __device__ __forceinline__ void enter(unsigned word)
    {
#pragma unroll
        for (int e = 0; e < TM_ROLES_EACH; e++) {
            const unsigned first = ~0u >> (24 - 8 * e);
            entered[e] = __dp4a(word, word & first, entered[e]);
            f[e] = (int)__dp4a(word, 0x01010101u & first, (unsigned)f[e]);
        }
    }

    __device__ __forceinline__ void leave(unsigned word)
    {
#pragma unroll
        for (int e = 0; e < TM_ROLES_EACH; e++) {
            const unsigned first = ~0u >> (24 - 8 * e);
            left[e] = __dp4a(word, word & first, left[e]);
            asm("dp4a.u32.s32 %0, %1, %2, %0;" : "+r"(f[e]) : "r"(word), "r"(first)); // less the bytes
        }
    }
};

/* S_F and S_FF of a row of a warp's columns: of all before each of a thread's, and of all. */
struct tm_roles_row_sums {
    uint2 before[TM_ROLES_EACH], all;
};

/* What makes the sums of a warp's columns, from row to row. */
template <int STEPS, bool ODD>
struct tm_roles_sum_maker {
    const tm_roles_block<STEPS, ODD> &b;
    const int word; // of 4 columns, in a row of the ring
    const bool there;
    int slot; // in the ring, of the tile whose rows are next
    tm_roles_column_sums columns;

    __device__ __forceinline__ tm_roles_sum_maker(const tm_roles_block<STEPS, ODD> &block, int part)
        : b(block), word(32 * part + threadIdx.x % 32), there(TM_ROLES_EACH * word < (int)tm_wide_row_bytes(block.j.width))
    {
    }

    __device__ __forceinline__ unsigned load(int first, int r) const
    {
        return there ? tm_load4(b.ring.row(first, r) + TM_ROLES_EACH * word) : 0;
    }

    /* The sums of a column of tiles' first row. */
    __device__ __forceinline__ void start(const tm_roles_column &c)
    {
        const int h = b.j.height;
        columns = {};
        slot = 0;
#pragma unroll 1
        for (int batch = 0, r = 0; batch < TM_WIDE_BATCHES; batch++) {
            const int end = min(h, 8 * tm_wide_batch_end(batch, tm_wide_groups(h)));
            tm_barrier_wait(b.barrier(TM_ROLES_START + batch), c.number);
#pragma unroll 4
            for (; r < end; r++)
                columns.enter(load(0, r));
        }
    }

    /* The sums of a tile's row r, of which columns has those, and of the row below; columns goes on to the next one, unless the
     * column of tiles ends there. */
    __device__ __forceinline__ void take(tm_roles_row_sums (&rows)[TM_ROLES_AT_ONCE], int r, bool ends)
    {
        const int lane = threadIdx.x % 32;
        int f[TM_ROLES_AT_ONCE];
        unsigned ff[TM_ROLES_AT_ONCE];
#pragma unroll
        for (int i = 0; i < TM_ROLES_AT_ONCE; i++) {
            f[i] = columns.f[TM_ROLES_EACH - 1], ff[i] = columns.entered[TM_ROLES_EACH - 1] - columns.left[TM_ROLES_EACH - 1];
            rows[i].before[0] = make_uint2(-f[i], -ff[i]);
#pragma unroll
            for (int e = 1; e < TM_ROLES_EACH; e++)
                rows[i].before[e] = make_uint2(columns.f[e - 1] - f[i], columns.entered[e - 1] - columns.left[e - 1] - ff[i]);
            if (i + 1 < TM_ROLES_AT_ONCE || !ends) {
                const unsigned enters = load(slot, r + i + b.j.height), leaves = load(slot, r + i);
                columns.enter(enters);
                columns.leave(leaves);
            }
        }
#pragma unroll
        for (int d = 1; d < 32; d *= 2)
#pragma unroll
            for (int i = 0; i < TM_ROLES_AT_ONCE; i++) {
                const unsigned more_ff = __shfl_up_sync(~0u, ff[i], d);
                const int more_f = __shfl_up_sync(~0u, f[i], d);
                ff[i] += lane >= d ? more_ff : 0;
                f[i] += lane >= d ? more_f : 0;
            }
#pragma unroll
        for (int i = 0; i < TM_ROLES_AT_ONCE; i++) {
            rows[i].all = make_uint2(__shfl_sync(~0u, f[i], 31), __shfl_sync(~0u, ff[i], 31));
#pragma unroll
            for (int e = 0; e < TM_ROLES_EACH; e++)
                rows[i].before[e].x += f[i], rows[i].before[e].y += ff[i];
        }
    }

    /* Goes on from a tile's row r to those below it, whose sums it takes; nothing below the column of tiles. */
    __device__ __forceinline__ void go_on(tm_roles_row_sums (&rows)[TM_ROLES_AT_ONCE], const tm_roles_column &c, int tile, int r)
    {
        if (r == 8 - TM_ROLES_AT_ONCE) {
            if (tile + 1 == c.tiles)
                return;
            b.wait_for_rows(c, tile + 2); // the row that enters last may be of these
            slot = b.ring.after(slot, 1);
            take(rows, 0, false);
        } else {
            take(rows, r + TM_ROLES_AT_ONCE, tile + 1 == c.tiles && r == 8 - 2 * TM_ROLES_AT_ONCE);
        }
    }

    /* Writes the sums where all warps that sum find them. meetings: of all before. */
    __device__ __forceinline__ void put(const tm_roles_row_sums (&rows)[TM_ROLES_AT_ONCE], unsigned &meetings) const
    {
        meet(meetings); // the sums before are read
#pragma unroll
        for (int i = 0; i < TM_ROLES_AT_ONCE; i++)
#pragma unroll
            for (int e = 0; e < TM_ROLES_EACH; e++)
                b.shared.before[i][e][word] = rows[i].before[e];
        meet(meetings);
    }

    __device__ __forceinline__ void meet(unsigned &meetings) const
    {
        tm_barrier_arrive(b.barrier(TM_ROLES_MEET));
        tm_barrier_wait(b.barrier(TM_ROLES_MEET), meetings++);
    }
};

#endif
