/* SPDX-License-Identifier: MIT */
/* For wgmma_tall.cu and its likes: a tile's products, and what they take into shared memory. WARPS copy, of which part is one. */
#ifndef TMATCH_LCC_CUDA_TENSOR_TALL_PRODUCTS_CUH
#define TMATCH_LCC_CUDA_TENSOR_TALL_PRODUCTS_CUH
#include "lcc/cuda/tensor/tall_block.cuh"

template <bool SIGNED, int B_APART, int A_APART>
__device__ __forceinline__ void tm_tall_product_of(int (&acc)[TM_TALL_GROUPS][4], unsigned a, unsigned b, int more)
{
    if (SIGNED)
        tm_wgmma_signed<B_APART, A_APART>(acc, a, b, more);
    else
        tm_wgmma<B_APART, A_APART>(acc, a, b, more);
}

/* Issues the products of a tile, whose frame rows stand in one of the two buffers, with a template's blocks in shared memory, whose bytes
 * have a sign or none. adds: to what acc has. */
template <bool SIGNED, int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_products(const tm_tall_block<STEPS, ODD> &b, unsigned blocks, int buffer, bool adds,
                                                 int (&acc)[TM_TALL_GROUPS][4])
{
    enum { ROW = tm_tall_block<STEPS, ODD>::ROW, WHOLE = STEPS - ODD, AT_ONCE = ODD ? 2 : 1, BLOCK = TM_WIDE_BLOCK / 16 };
    const int h = b.rows(), step_blocks = (h + 3) * BLOCK;
    /* low words of descriptors: addresses in units of 16 bytes, and the bytes to the second half of k, likewise */
    unsigned of_template = blocks >> 4 | 128 / 16 << 16;
    unsigned of_halves = (blocks >> 4) + tm_tall_whole_blocks(2 * WHOLE, h) * BLOCK | TM_WIDE_BLOCK / 2 / 16 << 16;
    unsigned of_frame = b.frame_rows(buffer) >> 4 | 16 / 16 << 16;
    auto issue_whole = [&](unsigned row_a, unsigned row_b, int more) {
#pragma unroll
        for (int k = 0; k < WHOLE; k++, more = 1)
            tm_tall_product_of<SIGNED, TM_TALL_GROUP_ROWS * ROW, 256>(acc, row_a + k * step_blocks, row_b + 2 * k, more);
    };
    auto issue_halves = [&]() { // this row's last unit and the next one's
        tm_tall_product_of<SIGNED, TM_TALL_GROUP_ROWS * ROW, 128>(acc, of_halves, of_frame + 2 * WHOLE + ((ROW / 16 - 1) << 16), 1);
    };
    int row = 0;
#pragma unroll 1
    for (; row + (AT_ONCE - 1) < h + 3; row += AT_ONCE) {
        tm_wgmma_begin();
        issue_whole(of_template, of_frame, adds || row);
        if (ODD) {
            issue_halves();
            issue_whole(of_template + BLOCK, of_frame + ROW / 16, 1);
        }
        tm_wgmma_end();
        of_template += AT_ONCE * BLOCK;
        of_halves += AT_ONCE * BLOCK / 2;
        of_frame += AT_ONCE * (ROW / 16);
    }
    if (ODD && row < h + 3) { // the row after the last one meets zeros
        tm_wgmma_begin();
        issue_whole(of_template, of_frame, 1);
        issue_halves();
        tm_wgmma_end();
    }
}

/* Waits until it is the warpgroup's turn. Turns are numbered: even ones are the first warpgroup's, whose frame rows stand in the
 * first buffer. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_wait_for_turn(const tm_tall_block<STEPS, ODD> &b, int warpgroup, int turn)
{
    tm_barrier_wait(b.barrier(TM_TALL_ROWS + warpgroup), turn / 2);
    if (turn)
        tm_barrier_wait(b.barrier(TM_TALL_ISSUED + 1 - warpgroup), (turn - 1) / 2);
}

/* Makes a turn's products. */
template <bool SIGNED = false, int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_multiply(const tm_tall_block<STEPS, ODD> &b, int warpgroup, int turn, unsigned blocks,
                                                 bool adds, int (&acc)[TM_TALL_GROUPS][4])
{
    tm_tall_wait_for_turn(b, warpgroup, turn);
    tm_tall_products<SIGNED>(b, blocks, turn % 2, adds, acc);
    tm_barrier_arrive(b.barrier(TM_TALL_ISSUED + warpgroup));
    tm_wgmma_wait();
    tm_wgmma_keep(acc);
}

/* Tells that all that the thread has begun to copy has come, for a turn. */
template <int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_tell(const tm_tall_block<STEPS, ODD> &b, int turn)
{
    tm_copy_wait();
    tm_wgmma_publish();
    tm_barrier_arrive(b.barrier(TM_TALL_ROWS + turn % 2));
}

/* Begins to copy a warp's part of the frame rows of tile n, of a plane that begins so many bytes from the frame, to a buffer. rows: of the
 * template, from the plane's first row on. Bulk copies would be fewer, but to begin one takes a warp as long as some twenty of these
 * instructions. */
template <int WARPS, int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_stage_rows(const tm_tall_block<STEPS, ODD> &b, int n, int buffer, int64_t plane, int rows,
                                                   int part)
{
    enum { UNITS = tm_tall_block<STEPS, ODD>::ROW / 16, AT_ONCE = 32 * WARPS / UNITS };
    const tm_device_windows &j = b.j;
    const int thread = 32 * part + threadIdx.x % 32, last = (int)(j.map_height + rows - 2 - b.y(n));
    const uint8_t *const from = j.frame + plane + (size_t)b.y(n) * j.pitch + b.x(n) + 16 * (thread % UNITS);
    if (thread >= AT_ONCE * UNITS)
        return;
    unsigned to = b.frame_rows(buffer) + 16 * thread;
#pragma unroll 4
    for (int row = thread / UNITS; row < tm_tall_rows(b.rows()); row += AT_ONCE, to += 16 * AT_ONCE * UNITS)
        tm_copy16(to, from + (size_t)min(row, last) * j.pitch);
}

/* Likewise of the blocks of a part of a template, out of all of its blocks, which are tm_wide_prepare's: rows descend, and before and
 * behind those of each step there are 7 of zeros. Each block of zeros has a source of its own: to read the same bytes for all takes some
 * 6 µs on an H100. ALL: the part is all of the template. */
template <int WARPS, bool ALL, int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_stage_blocks(const tm_tall_block<STEPS, ODD> &b, unsigned blocks, const void *fragments,
                                                     const tm_tall_part &of, int part)
{
    enum { WHOLE = STEPS - ODD, HALF = TM_WIDE_BLOCK / 2 };
    const int h = b.rows(), lane = threadIdx.x % 32, rows = min(h, of.rows - of.row);
    /* copies a lane's 16 bytes of a unit in row t of the part; lines: where they are among those of the unit */
    const auto copy = [&](unsigned to, int unit, int t, int lines) {
        const bool is_there = ALL || of.unit + unit < of.units;
        const int u = ALL ? unit : is_there ? of.unit + unit : 0;
        const int row = ALL ? t : t < 0 || !is_there ? min(t, -1) : t < rows ? of.row + t : of.rows + min(t - rows, 6);
        const int block = u / 2 * (of.rows + 7) + of.rows + 6 - row;
        tm_copy16(to, (const uint8_t *)fragments + (unsigned)(block * TM_WIDE_BLOCK + u % 2 * 128 + lines));
    };
#pragma unroll 1
    for (int k = 0, to = 0; k < WHOLE; k++) {
        const int zeros = k ? 0 : 3; // before the first row, where the step before has none
#pragma unroll 4
        for (int i = part; i < zeros + h + 3; i += WARPS)
            copy(blocks + (to + i) * TM_WIDE_BLOCK + 16 * lane, 2 * k + lane / 8 % 2, i - zeros, lane / 16 * HALF + 16 * (lane % 8));
        to += zeros + h + 3;
    }
    if (ODD) { // two rows' at a time
        const unsigned to = blocks + tm_tall_whole_blocks(2 * WHOLE, h) * TM_WIDE_BLOCK + 16 * (lane % 16);
#pragma unroll 4
        for (int i = 2 * part + lane / 16; i < h + 7; i += 2 * WARPS)
            copy(to + i * HALF, 2 * WHOLE, i - 3, lane / 8 % 2 * HALF + 16 * (lane % 8));
    }
}

template <int WARPS, int STEPS, bool ODD>
__device__ __forceinline__ void tm_tall_stage_template(const tm_tall_block<STEPS, ODD> &b, unsigned blocks,
                                                       const void *fragments, const tm_tall_part &of, int part)
{
    if (b.rows() == of.rows && b.UNITS == of.units)
        tm_tall_stage_blocks<WARPS, true>(b, blocks, fragments, of, part);
    else
        tm_tall_stage_blocks<WARPS, false>(b, blocks, fragments, of, part);
}

#endif
